"""Lists that are ordered by a computed amount have a second page, in both directions."""

from datetime import UTC, datetime

import pytest

from plans.models import BackTestRow
from tests.suites.api.conftest import Cast, problem
from tests.support.api.money_rows import back_tested, overdue

pytestmark = pytest.mark.django_db


@pytest.fixture
def back_test_months(cast: Cast) -> str:
    """The path of the months of a back-test, which has two."""
    test = back_tested(cast.tenant)
    row = BackTestRow.objects.get(back_test=test)
    row.pk, row.draft_net_minor = None, 4000
    row.month_starts_at = datetime(2026, 9, 1, tzinfo=UTC)
    row.month_ends_at = datetime(2026, 10, 1, tzinfo=UTC)
    row.save(force_insert=True)
    return f"/api/v1/staff/back-tests/{test.pk}/months"


@pytest.fixture
def overdue_invoices(cast: Cast) -> str:
    """The path of the overdue invoices, of which there are two."""
    overdue(cast.tenant, 1)
    overdue(cast.tenant, 2)
    return "/api/v1/staff/overdue"


@pytest.mark.parametrize(
    ("listed", "order"),
    [
        ("back_test_months", "difference_minor"),
        ("back_test_months", "present_net_minor"),
        ("overdue_invoices", "outstanding_minor"),
        ("overdue_invoices", "due_at"),
    ],
)
@pytest.mark.parametrize("direction", ["", "-"])
def test_second_page_has_the_second_row(
    cast: Cast, request: pytest.FixtureRequest, listed: str, order: str, direction: str
) -> None:
    path, staff = request.getfixturevalue(listed), cast.call("staff")
    whole = staff.get(path, {"sort": direction + order}).json()["items"]
    first = staff.get(path, {"sort": direction + order, "limit": "1"}).json()
    second = staff.get(first["next"]).json()
    assert len(whole) == 2
    assert [*first["items"], *second["items"]] == whole
    assert second["next"] is None


def test_cursor_with_a_value_that_is_no_number_is_refused(
    cast: Cast, back_test_months: str
) -> None:
    staff = cast.call("staff")
    forged = "WyItZGlmZmVyZW5jZV9taW5vciIsIngiLCJ5Il0"  # ["-difference_minor","x","y"]
    problem(staff.get(back_test_months, {"cursor": forged}), 400, "cursor.invalid")
