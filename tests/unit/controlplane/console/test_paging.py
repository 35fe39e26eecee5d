"""Pages of lists: nothing is counted but for a number beyond the end."""

import pytest
from django.db.models.functions import Concat
from pytest_django import DjangoAssertNumQueries

from controlplane.console import paging
from tenants.models import Tenant

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _tenants() -> None:
    """Two pages and one row."""
    Tenant.objects.bulk_create(Tenant(name=f"{n:03}", slug=f"t-{n}") for n in range(101))


@pytest.mark.parametrize(
    ("asked", "number", "names", "following", "queries"),
    [
        (None, 1, ("000", "049"), True, 2),
        ("2", 2, ("050", "099"), True, 2),
        ("3", 3, ("100", "100"), False, 2),
        ("x", 1, ("000", "049"), True, 2),
        ("-1", 1, ("000", "049"), True, 2),
        ("0", 1, ("000", "049"), True, 2),
        ("٣", 1, ("000", "049"), True, 2),
        ("4", 3, ("100", "100"), False, 4),
        ("9" * 400, 3, ("100", "100"), False, 4),
    ],
)
def test_a_page_is_selected_by_its_number(
    asked: str | None,
    number: int,
    names: tuple[str, str],
    following: bool,
    queries: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(queries):
        page = paging.select(Tenant.objects.order_by("name"), asked)

    assert page.number == number
    assert (page.object_list[0].name, page.object_list[-1].name) == names
    assert (page.has_previous, page.has_next) == (number > 1, following)
    assert page.has_other_pages


def test_an_empty_list_has_one_page() -> None:
    page = paging.select(Tenant.objects.none(), "7")

    assert (page.number, len(page), page.has_other_pages) == (1, 0, False)


def test_a_list_may_have_shorter_pages() -> None:
    rows = Tenant.objects.order_by("name")

    page, last = paging.select(rows, "5", 25), paging.select(rows, "99", 25)

    assert [page.object_list[0].name, page.object_list[-1].name, len(page)] == ["100", "100", 1]
    assert (last.number, len(last), last.has_next) == (5, 1, False)
    assert paging.select(rows, "4", 25).has_next


def test_rows_keep_the_order_and_the_values_of_the_list() -> None:
    rows = Tenant.objects.annotate(twice=Concat("name", "name")).order_by("-twice")

    page = paging.select(rows, "2")

    assert [row.name for row in page] == [f"{n:03}" for n in range(50, 0, -1)]
    assert page.object_list[0].twice == "050050"  # type: ignore[attr-defined]
