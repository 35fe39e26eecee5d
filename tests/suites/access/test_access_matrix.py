"""The access matrix: every page and every operation of the API as everybody, on rows that exist.

The rows of the matrix come from Django's map of URLs, the expectations from
``tests.support.access.decisions``.
"""

import pytest

from tenants import permissions
from tests.support.access import decisions, matrix, url_map
from tests.support.access.furnished import Furnished

ROUTES = url_map.list_routes()
PAGES = [route for route in ROUTES if not route.startswith(url_map.API)]
OPERATIONS = [route for route in ROUTES if route.startswith(url_map.API)]


def test_every_url_has_a_decision_and_no_decision_is_left_over() -> None:
    assert sorted(set(ROUTES) - set(decisions.DECISIONS)) == []
    assert sorted(set(decisions.DECISIONS) - set(ROUTES)) == []


def test_every_page_opens_to_those_who_may_and_to_nobody_else(tenant: Furnished) -> None:
    cells = list(matrix.cells(PAGES))

    assert len(cells) > 2500
    assert matrix.unexpected(tenant, cells) == {}


def test_every_operation_opens_to_those_who_may_and_to_nobody_else(tenant: Furnished) -> None:
    cells = list(matrix.cells(OPERATIONS))

    assert len(cells) > 2300
    assert matrix.unexpected(tenant, cells) == {}


def test_a_right_too_much_is_found(tenant: Furnished, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a viewer to get the right to manage tokens, these cells would say so."""
    more = permissions.ROLES["viewer"] | {permissions.Permission.MANAGE_TOKENS}
    monkeypatch.setattr(permissions, "ROLES", {**permissions.ROLES, "viewer": more})
    routes = [route for route in ROUTES if "/tokens" in route]

    found = matrix.unexpected(tenant, matrix.cells(routes))

    assert {cell.partition(":")[0] for cell in found} == {"viewer", "viewer_token"}
    assert set(found.values()) == {"expected: 403; answered: let in"}
    assert len(found) == 12
