"""What each action of a quota does to spaces, and that every meter can have a quota."""

from dataclasses import asdict, replace
from datetime import timedelta

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from plans.catalog.definitions import SpacePlanDefinition
from plans.models import Invoice, Plan, QuotaAlert, QuotaOverride
from plans.quotas import standings
from plans.quotas.resources import METERED, SPEND, AtQuota, quantity_words, words
from plans.quotas.standings import Standing, Use
from plans.rating.periods import month_of
from plans.usage.meters import BY_SLUG, REGISTRY, Kind
from tenants.actions import restrictions, spend_caps
from tenants.actions.restrictions import Restrictions
from tenants.models import AddressSpace, Tenant
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans import usage_tails
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
NOW = STARTS_AT + timedelta(days=5)
BY_ACTION = {
    "notify": Restrictions(),
    "throttle": Restrictions(throttle_percent=10),
    "withdraw_send": Restrictions(send_withdrawn=True),
    "refuse_connections": Restrictions(connections_refused=True),
}


def tenant(action: str = "withdraw_send") -> Tenant:
    plan = rows.plan("free")
    Plan.objects.filter(pk=plan.pk).update(definition={**plan.definition, "at_quota": action})
    plan.refresh_from_db()
    owner = rows.tenant(to=plan)
    rows.space(owner)
    return owner


def restricted(owner: Tenant) -> Restrictions:
    return Restrictions.of(AddressSpace.objects.get(tenant=owner, name="shop"))


@pytest.mark.parametrize("action", list(AtQuota))
def test_each_action_restricts_and_is_lifted_with_the_next_month(action: str) -> None:
    owner = tenant(action)
    usage_tails.evaluate(owner.id, {"messages_in": 999}, NOW)
    below = restricted(owner)
    for _ in range(2):
        usage_tails.evaluate(owner.id, {"messages_in": 1000}, NOW)
    full = restricted(owner)
    n_audited = AuditEvent.objects.filter(subject_type="address_space", actor="system").count()

    usage_tails.evaluate(owner.id, {}, ENDS_AT)

    assert (below, full, restricted(owner)) == (Restrictions(), BY_ACTION[action], Restrictions())
    assert n_audited == (action != "notify")
    assert [a.action for a in QuotaAlert.objects.order_by("level_percent")] == [
        "notify",
        "notify",
        action,
    ]


def test_a_raise_lifts_by_itself() -> None:
    owner = tenant("refuse_connections")
    usage_tails.evaluate(owner.id, {"messages_in": 1000}, NOW)
    QuotaOverride.objects.create(
        tenant=owner, resource="messages_per_month", amount=5000, reason="fair", set_by="x"
    )

    usage_tails.evaluate(owner.id, {"messages_in": 1000}, NOW)

    assert restricted(owner) == Restrictions()


@pytest.mark.parametrize("meter", [meter.slug for meter in REGISTRY])
def test_every_meter_can_have_a_quota(meter: str) -> None:
    owner = tenant()
    resource = f"{meter}_per_month"
    QuotaOverride.objects.create(
        tenant=owner, resource=resource, amount=3, reason="test", set_by="x"
    )
    rows.address(AddressSpace.objects.get(tenant=owner))
    parts = BY_SLUG[meter].parts or (meter,)
    is_lifetime = BY_SLUG[meter].kind is Kind.LIFETIME  # the space is active for five days
    counted = {} if is_lifetime else dict.fromkeys(parts, 2) | {parts[0]: 4}

    usage_tails.evaluate(owner.id, counted, NOW)

    full = QuotaAlert.objects.filter(level_percent=100, lifted_at__isnull=True)
    assert resource in set(full.values_list("resource", flat=True))
    assert restricted(owner).send_withdrawn


def test_a_meter_without_a_resource_cannot_be() -> None:
    assert set(METERED.values()) == set(BY_SLUG)
    assert all(words(resource) for resource in METERED)


def test_landed_and_tail_of_a_peak_are_no_sum() -> None:
    owner = tenant()
    space = AddressSpace.objects.get(tenant=owner)
    rows.used(rows.cell(space, "peak_connections", 7))
    usage_tails.store(owner.id, {"peak_connections": 9}, NOW)

    assert standings.month_use(owner, NOW).by_meter["peak_connections"] == Use(7, 2)

    usage_tails.store(owner.id, {"peak_connections": 5}, NOW)
    assert standings.month_use(owner, NOW).by_meter["peak_connections"] == Use(7, 0)


def test_the_strictest_of_several_limits_all_count_together() -> None:
    owner = tenant("throttle")
    spend_caps.set_cap(tenant=owner, amount_minor=1, action="refuse_connections", by=STAFF)

    usage_tails.evaluate(owner.id, {"messages_in": 1000}, NOW)

    assert restricted(owner) == Restrictions(throttle_percent=10, connections_refused=True)


def test_a_spend_cap_counts_what_is_not_landed_and_ends_when_it_is_removed() -> None:
    owner = rows.tenant(to=rows.plan("bulk"))  # one euro a message, before tax
    rows.space(owner, active_since=None)
    spend_caps.set_cap(tenant=owner, amount_minor=1190, action="withdraw_send", by=STAFF)
    space = AddressSpace.objects.get(tenant=owner)
    rows.used(rows.cell(space, "messages_in", 6))

    found = usage_tails.evaluate(owner.id, {"messages_in": 10}, NOW)

    cap = next(quota for quota in found if quota.resource == SPEND)
    assert (cap.use.landed, cap.use.tail, cap.limit) == (714, 476, 1190)
    assert restricted(owner).send_withdrawn
    event = Event.objects.get(kind="quota.threshold")
    assert event.fields["used_words"] == "11.90 EUR"
    spend_caps.clear_cap(tenant=owner, by=STAFF)
    usage_tails.evaluate(owner.id, {"messages_in": 10}, NOW)
    assert restricted(owner) == Restrictions()
    assert not QuotaAlert.objects.filter(lifted_at__isnull=True).exists()


@pytest.mark.parametrize("state", ["closing", "held"])
def test_a_reached_cap_stays_while_a_part_of_the_month_has_no_price(state: str) -> None:
    owner = rows.tenant(to=rows.plan("bulk"))
    rows.space(owner, active_since=None)
    spend_caps.set_cap(tenant=owner, amount_minor=1190, action="withdraw_send", by=STAFF)
    usage_tails.evaluate(owner.id, {"messages_in": 10}, NOW)
    month = month_of(NOW, "UTC")
    part = Invoice.objects.create(tenant=owner, starts_at=month.starts_at, ends_at=NOW, state=state)

    usage_tails.evaluate(owner.id, {"messages_in": 0}, NOW)
    waiting = restricted(owner).send_withdrawn
    Invoice.objects.filter(pk=part.pk).update(state="draft", net_minor=600, total_minor=600)
    usage_tails.evaluate(owner.id, {"messages_in": 0}, NOW)

    assert (waiting, restricted(owner).send_withdrawn) == (True, False)


def test_a_restriction_is_set_once_and_others_stay() -> None:
    owner = tenant()
    space = AddressSpace.objects.get(tenant=owner)
    wanted = Restrictions(throttle_percent=10)

    first = restrictions.restrict(space=space, wanted=wanted, by=SYSTEM, reason="full")
    again = restrictions.restrict(space=space, wanted=wanted, by=SYSTEM, reason="full")
    restrictions.withdraw_send(space=space, by=SYSTEM, reason="suspended")

    space.refresh_from_db()
    assert (first, again) == (True, False)
    assert Restrictions.of(space) == replace(wanted, send_withdrawn=True)
    # A throttle is a change of the plan's limits, so that instances may restart for it.
    assert (space.generation, space.plan_generation, space.logins_generation) == (3, 2, 3)


def test_a_throttle_lowers_limits_that_there_are() -> None:
    plan = SpacePlanDefinition(
        key="s", title="s", space_type="brokered", router_credit=0, broker_credit=1,
        aggregate_credit=1, max_brokers=1, max_addresses=1, max_users=1, max_connections=200,
        routers=0, broker_memory_mb=1, hour_price=0, max_user_connections=5,  # type: ignore[arg-type]
        max_connection_rate=2000,
    )  # fmt: skip
    lowered = plan.throttled(10)

    changed = {k: v for k, v in asdict(lowered).items() if v != asdict(plan)[k]}
    assert changed == {
        "max_connections": 20,
        "max_user_connections": 1,
        "max_connection_rate": 200,
    }
    assert plan.throttled(None) is plan


@pytest.mark.parametrize(
    ("used", "limit", "action", "restriction"),
    [
        (99, 100, "throttle", "notify"),
        (100, 100, "throttle", "throttle"),
        (10**9, None, "refuse_connections", "notify"),
        (0, 0, "withdraw_send", "withdraw_send"),
    ],
)
def test_a_standing_decides_by_both_parts(
    used: int, limit: int | None, action: str, restriction: str
) -> None:
    month = month_of(NOW, "UTC")
    for landed in {0, used // 2, used}:
        found = Standing("messages_per_month", month, Use(landed, used - landed), limit, action)
        assert found.restriction == restriction


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("messages_per_month", 1234, "1,234"),
        ("connection_ms_per_month", 5_400_000, "1.5"),
        ("connection_ms_per_month", 7_200_000, "2"),
        ("spaces", 3, "3"),
    ],
)
def test_amounts_are_shown_in_units_of_people(resource: str, amount: int, text: str) -> None:
    assert quantity_words(resource, amount) == text
