"""Pages of lists, which do not count the rows: a page reads its keys, then the rows of these."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
PAGE_SIZE = 50  # rows
# A number beyond this one selects the last page; PostgreSQL refuses offsets without a limit.
_HIGHEST = 10_000_000


@dataclass(frozen=True)
class ListPage(Generic[Row]):
    """One page of a list. ``number`` begins at 1; ``has_next``: rows follow this page.

    The template ``parts/pager.html`` shows its links.
    """

    object_list: list[Row]
    number: int
    has_next: bool

    def __iter__(self) -> Iterator[Row]:
        return iter(self.object_list)

    def __len__(self) -> int:
        return len(self.object_list)

    @property
    def has_previous(self) -> bool:
        return self.number > 1

    @property
    def has_other_pages(self) -> bool:
        return self.has_previous or self.has_next

    @property
    def previous_page_number(self) -> int:
        return self.number - 1

    @property
    def next_page_number(self) -> int:
        return self.number + 1


def select(rows: QuerySet[Row], asked: str | None, size: int = PAGE_SIZE) -> ListPage[Row]:
    """Return the page of ``rows`` with the number ``asked``; a page has at most ``size`` rows.

    A missing or invalid number selects the first page. A number past the end selects the last page;
    only then are the rows counted.
    """
    asked = asked or ""
    # ``isdigit`` alone accepts digits of other scripts; the length bounds the time of ``int``.
    is_number = asked.isascii() and asked.isdigit()
    number = min(max(int(asked[:20]), 1), _HIGHEST) if is_number else 1
    page = _at(rows, number, size)
    if page.object_list or number == 1:
        return page
    return _at(rows, max(1, -(-rows.count() // size)), size)


def _at(rows: QuerySet[Row], number: int, size: int) -> ListPage[Row]:
    first = (number - 1) * size
    # Only keys are sorted, because whole rows with their joins take much longer. One key more than
    # the page has, to know whether another page follows.
    keys = list(rows.values_list("pk", flat=True)[first : first + size + 1])
    found = list(rows.filter(pk__in=keys[:size])) if keys else []
    return ListPage(found, number, len(keys) > size)
