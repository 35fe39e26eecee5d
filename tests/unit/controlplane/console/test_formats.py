"""Words for figures, moments, operations and plans."""

from datetime import UTC, datetime, timedelta

import pytest

from controlplane.console import formats, plan_descriptions
from controlplane.core.models import AuditEvent
from controlplane.core.phases import Phase
from plans.catalog import parsing, publishing
from plans.catalog.definitions import PlanDefinition, SpacePlanDefinition
from plans.models import Invoice

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CATALOG = parsing.parse(publishing.default_yaml())
PLANS = {plan.key: plan for plan in CATALOG.plans}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "just now"), (59, "just now"), (60, "1 minute ago"), (7200, "2 hours ago"),
     (90_000, "1 day ago")],
)  # fmt: skip
def test_ago_says_the_largest_whole_unit(seconds: int, words: str) -> None:
    assert formats.ago(NOW - timedelta(seconds=seconds), NOW) == words


@pytest.mark.parametrize(
    ("base", "meter", "words"),
    [(1250, "messages_in", "1,250 messages"), (5_400_000, "connection_ms", "1.5 connection-hours"),
     (3_600_000 * 2**30, "stored_byte_ms", "1 GiB-hours"), (7, "unheard_of", "7")],
)  # fmt: skip
def test_quantities_are_shown_in_their_unit(base: int, meter: str, words: str) -> None:
    assert formats.quantity(base, meter) == words


@pytest.mark.parametrize(
    ("state", "message", "looks"),
    [("done", "", "done"), ("running", "", "now"), ("waiting", "broker-0 is starting", "now"),
     ("waiting", "", "todo"), ("failed", "no", "failed")],
)  # fmt: skip
def test_a_step_of_an_operation_looks_like_its_state(state: str, message: str, looks: str) -> None:
    assert formats.step_class({"name": "x", "state": state, "message": message}) == looks


def test_every_phase_and_every_state_of_an_invoice_has_its_looks() -> None:
    assert all(formats.phase_class(phase) for phase in Phase.values)
    assert all(
        formats.invoice_class(state)
        for state in Invoice.State.values
        if state not in {"open", "voided"}
    )


def test_operations_read_as_sentences() -> None:
    assert formats.operation_title("address_space.create", "shop") == "Create address space shop"
    assert formats.operation_title("messaging_user.revoke", "bob") == "Revoke messaging user bob"


def test_a_change_is_told_by_before_and_after() -> None:
    event = AuditEvent(
        before={"role": "viewer", "zone": "UTC", "note": ""},
        after={"role": "admin", "zone": "UTC", "note": "new", "size": 3},
    )

    words = formats.change_words(event)

    assert words == "role: viewer → admin, note: nothing → new, size: 3"


def test_only_conditions_that_say_what_is_in_the_way_are_problems() -> None:
    fine = {"type": "A", "status": "True", "message": "all well"}
    silent = {"type": "B", "status": "False", "message": ""}
    trouble = {"type": "C", "status": "False", "message": "no disk"}

    assert formats.problems([fine, silent, trouble]) == [trouble]


def test_no_limit_is_not_zero() -> None:
    assert (formats.limit_words(None), formats.limit_words(0)) == ("no limit", "0")


def test_a_plan_tells_its_quotas_what_is_included_and_its_prices() -> None:
    assert plan_descriptions.lines(PLANS["team"]) == [
        "5 spaces",
        "200 addresses",
        "20 members",
        "500,000,000 messages a month",
        "5,000,000 messages included",
        "10,000 connection hours included",
        "from 0.6 EUR per million messages",
        "0.0004 EUR per connection-hour",
        "0.0009 EUR per GiB-hour",
    ]


def test_every_plan_of_the_default_catalog_has_words_without_slugs() -> None:
    plans: list[PlanDefinition | SpacePlanDefinition] = [
        *CATALOG.plans,
        *CATALOG.space_plans,
    ]
    for plan in plans:
        assert plan_descriptions.lines(plan)
        assert not [line for line in plan_descriptions.lines(plan) if "_" in line]


def test_every_address_type_says_what_it_promises() -> None:
    assert all(plan_descriptions.type_words(plan.address_type) for plan in CATALOG.address_plans)


def test_an_hourly_price_is_told_by_the_month_too() -> None:
    price = CATALOG.space_plans[0].hour_price

    words = plan_descriptions.hour_price(price, "EUR")

    assert words.startswith(f"{price} EUR an hour, about {price * 730:.2f} EUR a month")
