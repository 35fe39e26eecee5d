"""Words for figures, moments, operations and plans."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from controlplane.console import formats, plan_descriptions
from controlplane.core.phases import READY, Phase, Status, build_condition
from controlplane.core.reasons import Reason
from plans.catalog import parsing, publishing
from plans.catalog.definitions import PlanDefinition, SpacePlanDefinition
from plans.models import Invoice
from tenants.models import AddressSpace

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CATALOG = parsing.parse(publishing.default_yaml())
PLANS = {plan.key: plan for plan in CATALOG.plans}
FROM_ADDRESS = "connections from each network address"
RATES = "messages a second from each connection, messages a second from each user"


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
     (3_600_000 * 2**30, "stored_byte_ms", "1 GiB-hour"), (7, "unheard_of", "7")],
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
    assert formats.operation_title("messages.send", "orders") == "Send a test message to orders"
    assert formats.operation_title("messages.move", "orders") == "Move messages of orders"
    assert formats.operation_title("messaging_user.revoke", "bob") == "Revoke messaging user bob"


def test_the_reason_of_a_condition_reads_as_words() -> None:
    assert formats.reason_words("BrokerDown") == "Broker down"


@pytest.mark.parametrize(
    ("status", "reason", "was_active", "in_trouble"),
    [
        ("False", Reason.BROKER_DOWN, True, True),
        ("False", Reason.PROBE_FAILED, True, True),
        ("False", Reason.BROKER_DOWN, False, False),
        ("False", Reason.BROKER_STARTING, True, False),
        ("False", Reason.ROLLING_OUT, True, False),
        ("True", Reason.WORKS, True, False),
    ],
)
def test_only_a_space_that_worked_and_does_not_is_in_trouble(
    status: Status, reason: Reason, was_active: bool, in_trouble: bool
) -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)
    space = AddressSpace(
        phase=Phase.CONFIGURING,
        active_since=now if was_active else None,
        conditions=[build_condition(READY, status, reason, "", now)],
    )

    assert formats.is_in_trouble(space) == in_trouble


def test_staff_read_a_problem_without_the_name_for_programs() -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)
    down = build_condition(READY, "False", Reason.BROKER_DOWN, "broker-0 does not run.", now)
    space = AddressSpace(phase=Phase.CONFIGURING, active_since=now, conditions=[down])

    assert formats.problem_words(space) == "Broker down: broker-0 does not run."


def test_a_step_says_what_it_waits_for_without_the_reason() -> None:
    words = formats.step_words("RouterStarting: router-0 does not answer yet")

    assert words == "router-0 does not answer yet."
    assert formats.step_words("broker-0: no disk is left.") == "broker-0: no disk is left."


def test_one_of_a_kind_has_no_plural() -> None:
    assert formats.quantity(1, "messages_in") == "1 message"
    assert formats.quantity(2, "messages_in") == "2 messages"


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
        "0.90 EUR per million messages, 0.60 beyond 100 million",
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
        assert len(plan_descriptions.lines(plan)) <= 12  # more is no choice that people can compare


@pytest.mark.parametrize(
    ("key", "missing"),
    [("standard-medium", f"{FROM_ADDRESS}, {RATES}"), ("brokered-medium", FROM_ADDRESS)],
)
def test_a_space_plan_says_which_limits_it_does_not_have(key: str, missing: str) -> None:
    (plan,) = (plan for plan in CATALOG.space_plans if plan.key == key)

    assert plan_descriptions.client_limits(plan)[-1] == f"no limit for {missing}"
    limited = replace(plan, max_connection_rate=5, max_user_rate=6, max_source_connections=1_000)
    assert (
        plan_descriptions.client_limits(limited)[-1] == "up to 6 messages a second from each user"
    )


def test_every_address_type_says_what_it_promises() -> None:
    assert all(plan_descriptions.type_words(plan.address_type) for plan in CATALOG.address_plans)


def test_an_hourly_price_is_told_by_the_month_too() -> None:
    price = CATALOG.space_plans[0].hour_price

    words = plan_descriptions.hour_price(price, "EUR")

    assert words.startswith(f"{price} EUR an hour, about {price * 730:.2f} EUR a month")
