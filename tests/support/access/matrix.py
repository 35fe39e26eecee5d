"""The access matrix: asks every URL as every caller, and compares with the decisions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from tests.support.access import callers, decisions, url_map
from tests.support.access.callers import Group
from tests.support.access.decisions import DECISIONS
from tests.support.access.furnished import Furnished

IN = "let in"
LOGIN = "sent to the login"
UNDECIDED = "no such method"
_REFUSED = frozenset({401, 403, 404, 405})


@dataclass(frozen=True)
class Cell:
    """One caller with one method on one route."""

    caller: str
    method: str
    route: str

    def __str__(self) -> str:
        return f"{self.caller}: {self.method} {self.route}"

    @property
    def is_api(self) -> bool:
        return self.route.startswith(url_map.API)


def cells(routes: Iterable[str]) -> Iterator[Cell]:
    """Yield every cell of ``routes``."""
    for route in routes:
        for method in url_map.methods_of(route):
            is_decided = method in DECISIONS.get(route, {})
            # Who may do the most here tries what nobody may. Others could only be refused as well.
            most = "staff" if "staff/" in route else "owner"
            for caller in sorted(_columns(route)) if is_decided else [most]:
                yield Cell(caller, method, route)


def _columns(route: str) -> Group:
    is_api = route.startswith(url_map.API)
    return callers.COLUMNS if is_api else callers.COLUMNS_OF_PAGES


def expected(cell: Cell) -> str:
    """Return what the decisions say: ``IN``, ``UNDECIDED``, or how the caller is refused."""
    group = DECISIONS.get(cell.route, {}).get(cell.method)
    if group is None:
        return UNDECIDED
    return _in_api(cell, group) if cell.is_api else _on_pages(cell, group)


def unexpected(furnished: Furnished, cells: Iterable[Cell]) -> dict[str, str]:
    """Ask every cell; return those that answer otherwise than decided, with both answers."""
    found = {}
    for cell in cells:
        # Each request finds the rows as they were made, whatever the one before has done to them.
        sid = transaction.savepoint()
        answer = _ask(furnished, cell)
        transaction.savepoint_rollback(sid)
        if not _is_as(expected(cell), answer):
            found[str(cell)] = f"expected: {expected(cell)}; answered: {_name(answer)}"
    return found


def _on_pages(cell: Cell, group: Group) -> str:
    # Pages know sessions only: a token opens none of them.
    if group in (callers.PUBLIC, callers.VISITORS):
        return IN if cell.caller in group else "403"
    if cell.caller in callers.TOKENS or cell.caller == "anonymous":
        return LOGIN
    if cell.caller in group:
        return IN
    is_member = cell.caller in callers.MEMBERS and cell.route.startswith("t/")
    return "403" if is_member else "404"


def _in_api(cell: Cell, group: Group) -> str:
    if cell.caller in group:
        return IN
    if cell.caller in ("anonymous", "expired_token"):
        return "401"
    if cell.route.startswith("api/v1/staff/"):
        return "404"  # nobody learns what operators can do
    is_of_tenant = cell.route.startswith("api/v1/tenants/")
    if is_of_tenant and cell.caller not in callers.INSIDERS:
        return "404"
    is_elsewhere = cell.caller == "elsewhere_token" and decisions.is_of_space(cell.route)
    return "404" if is_elsewhere else "403"


def _ask(furnished: Furnished, cell: Cell) -> Any:
    path = url_map.path_of(cell.route, furnished.values)
    body = {
        field: furnished.values.get(str(value).strip("<>"), value)
        for field, value in decisions.BODIES.get(f"{cell.method} {cell.route}", {}).items()
    }
    answer = furnished.callers[cell.caller](cell.method, path, body)
    if answer.streaming:  # its file is closed at its end
        b"".join(answer)
    return answer


def _is_as(wanted: str, answer: Any) -> bool:
    if wanted == IN:
        return _name(answer) == IN
    if wanted == UNDECIDED:
        return answer.status_code in _REFUSED or _name(answer) == LOGIN
    return _name(answer) == wanted


def _name(answer: Any) -> str:
    """Return what an answer says about access; errors of the server are no access."""
    if answer.status_code in (301, 302) and answer["Location"].startswith("/login?next="):
        return LOGIN
    is_refused = answer.status_code in _REFUSED or answer.status_code >= 500
    return str(answer.status_code) if is_refused or answer.status_code == 429 else IN
