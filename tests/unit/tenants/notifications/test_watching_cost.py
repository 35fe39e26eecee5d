"""A cycle of ``watch`` reads what it may have to report, and not all spaces, tokens and alarms."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core import phases
from controlplane.core.reasons import Reason
from tenants.models import AddressSpace, ApiToken
from tenants.notifications import watching
from tenants.notifications.models import AddressAlarm, Event
from tests.support import domain, query_plans
from tests.support.notifications import notified

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
QUIET = 400  # rows of each kind that have nothing to report
LARGE = {"tenants_addressspace", "tenants_apitoken", "notifications_addressalarm"}


@pytest.fixture
def fleet(cast: domain.Cast) -> AddressSpace:
    """One space of many is in trouble; nothing is to be said of the others, tokens and alarms."""
    first = domain.space(cast.tenant)
    good = [
        phases.build_condition(kind, "True", Reason.WORKS, "A text.", NOW)
        for kind in (phases.READY, "Certificate")
    ]
    spaces = [
        AddressSpace(
            tenant=cast.tenant,
            name=f"quiet-{number}",
            type=first.type,
            space_plan=first.space_plan,
            conditions=good,
            active_since=NOW,
        )
        for number in range(QUIET)
    ]
    AddressSpace.objects.bulk_create(spaces)
    ApiToken.objects.bulk_create(
        ApiToken(
            tenant=cast.tenant,
            name=f"t-{n}",
            role="viewer",
            token_hash=f"{n}",
            expires_at=NOW + timedelta(days=365),
        )
        for n in range(QUIET)
    )
    orders = domain.address(first, "orders")
    for number in range(QUIET):
        notified.alarm(orders, threshold=100 + number, due_at=None)
    bad = phases.build_condition(phases.READY, "False", Reason.BROKER_DOWN, "A text.", NOW)
    AddressSpace.objects.filter(pk=first.pk).update(conditions=[bad], active_since=NOW)
    return first


def test_a_cycle_reads_no_quiet_row(fleet: AddressSpace) -> None:
    with CaptureQueriesContext(connection) as queries:
        watching.watch(NOW + timedelta(hours=1))
    assert Event.objects.get().kind == "space.trouble"

    selects = [one["sql"] for one in queries if one["sql"].startswith("SELECT")]
    read = query_plans.rows_read(selects, LARGE)
    assert set(read) == LARGE
    assert max(read.values()) <= 2, read
    assert AddressAlarm.objects.count() == QUIET
