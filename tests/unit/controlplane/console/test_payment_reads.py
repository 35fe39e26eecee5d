"""What the staff page of payments reads of the events of providers."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.console import payment_reads
from plans.models import PaymentEvent
from tests.support import query_plans

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
QUIET = 400  # events of each state that nobody must look at
State = PaymentEvent.State


def _events(count: int, state: State, message: str = "") -> list[str]:
    """Store events, the newest first; return their ids."""
    made = PaymentEvent.objects.bulk_create(
        PaymentEvent(
            provider="webhook",
            event_id=f"{state}-{message}-{number}",
            kind="paid",
            occurred_at=NOW,
            received_at=NOW - timedelta(minutes=number),
            state=state,
            message=message,
        )
        for number in range(count)
    )
    return [row.pk for row in made]


def test_events_that_nobody_must_look_at_are_not_read() -> None:
    for state in (State.APPLIED, State.IGNORED, State.WAITING):
        _events(QUIET, state)
    refused = _events(2, State.REFUSED, "The invoice is not known.")
    failing = _events(1, State.WAITING, "Its effect failed.")

    with CaptureQueriesContext(connection) as queries:
        shown = payment_reads.events_to_look_at()

    assert {row.pk for row in shown} == {*refused, *failing}
    (query,) = queries
    assert query_plans.rows_read([query["sql"]], {"plans_paymentevent"}) == {
        "plans_paymentevent": 3
    }


def test_of_many_only_the_twenty_newest_are_read() -> None:
    refused = _events(QUIET, State.REFUSED, "The invoice is not known.")

    with CaptureQueriesContext(connection) as queries:
        shown = payment_reads.events_to_look_at()

    assert [row.pk for row in shown] == refused[:20]
    (query,) = queries
    read = query_plans.rows_read([query["sql"]], {"plans_paymentevent"})
    assert read == {"plans_paymentevent": 20}
