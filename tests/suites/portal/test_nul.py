"""PostgreSQL accepts no NUL in text: every page refuses it in path, query and form."""

import pytest

from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
TENANT = "/t/acme-shipping"
# (who, path, form of a POST; None: a GET)
REQUESTS = [
    ("owner", f"{TENANT}/usage/?space=%00", None),
    ("owner", f"{TENANT}/usage/cells.csv?space=a%00b", None),
    ("owner", f"{TENANT}/?page=%00", None),
    ("owner", f"{TENANT}/invoices/a%00b/", None),
    ("owner", f"{TENANT}/audit/?kind=%00&q=x", None),
    ("owner", f"{TENANT}/spaces/orders/users/a%00b/password", None),
    ("owner", f"{TENANT}/search?q=a%00b", None),
    ("owner", f"{TENANT}/notifications/defaults", {"budget": "1\x00"}),
    ("staff", "/staff/invoices/?state=%00", None),
    ("staff", "/staff/invoices/a%00b/", None),
    ("staff", "/staff/tenants/?q=%00", None),
    ("staff", "/staff/invoices/a%00b/approve", {"reason": "x"}),
    ("", "/login?next=%00", None),
    ("", "/login", {"login": "a\x00@b.test", "password": "x"}),
    ("", "/invitations/a%00b", None),
    ("", "/docs/a%00b", None),
    ("", f"{TENANT}/usage/?space=%00", None),
]


@pytest.mark.parametrize(("who", "path", "form"), REQUESTS)
def test_nul_is_answered_with_the_page_of_an_error(
    world: World, as_: As, who: str, path: str, form: dict[str, str] | None
) -> None:
    rows.space(world.tenant, "orders")
    client = as_(getattr(world, who) if who else None)

    answer = client.get(path) if form is None else client.post(path, form)

    page = answer.content.decode()
    assert answer.status_code == 400, page
    assert 'data-code="request.malformed"' in page
    assert "without the NUL character" in page
