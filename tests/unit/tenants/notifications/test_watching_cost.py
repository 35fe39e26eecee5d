"""A cycle of ``watch`` reads what it may have to report, and not all spaces, tokens and alarms."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core import phases
from controlplane.core.reasons import Reason
from tenants.models import AddressSpace, ApiToken
from tenants.notifications import watching
from tenants.notifications.models import AddressAlarm, Event
from tests.support import domain
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
    with connection.cursor() as cursor:
        for table in LARGE:
            cursor.execute(f"ANALYZE {table}")
    return first


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def test_a_cycle_reads_no_quiet_row(fleet: AddressSpace) -> None:
    with CaptureQueriesContext(connection) as queries:
        watching.watch(NOW + timedelta(hours=1))
    assert Event.objects.get().kind == "space.trouble"

    selects = [one["sql"] for one in queries if one["sql"].startswith("SELECT")]
    read: dict[str, float] = {}
    with connection.cursor() as cursor:
        # So few rows fit in some pages, which PostgreSQL may read as a whole; a fleet's do not.
        # Where no index serves the query, it reads the whole table nevertheless.
        cursor.execute("SET LOCAL enable_seqscan = off")
        for sql in selects:
            cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + sql)
            (found,) = cursor.fetchone()
            plan = json.loads(found) if isinstance(found, str) else found
            for node in nodes(plan[0]["Plan"]):
                table = node.get("Relation Name")
                if table in LARGE:
                    rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
                    read[table] = max(read.get(table, 0), rows * node["Actual Loops"])
    assert set(read) == LARGE
    assert max(read.values()) <= 2, read
    assert AddressAlarm.objects.count() == QUIET
