"""Addresses: admission with placement, settings, deletion."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoCaptureOnCommitCallbacks

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Conflict, Denied, Invalid, QuotaExceeded, WaypostError
from controlplane.core.models import AuditEvent, Operation
from controlplane.core.phases import Phase
from plans.models import SpacePlan
from plans.quotas.resources import Resource
from tenants import admission
from tenants.actions import address_spaces, addresses
from tenants.models import Address, AddressSpace, Broker, Placement
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def space(cast: Cast) -> AddressSpace:
    return domain.space(cast.tenant)


@pytest.fixture
def brokered(cast: Cast) -> AddressSpace:
    return domain.space(cast.tenant, "brokered")


def create(space: AddressSpace, name: str = "orders", **changes: Any) -> Address:
    arguments: dict[str, Any] = {
        "address": name,
        "type": "queue",
        "address_plan": f"{space.type}-small-queue",
        **changes,
    }
    return addresses.create(space=space, by=SYSTEM, **arguments)[0]


def redefine(space: AddressSpace, **limits: int) -> None:
    """Give the space's own plan version other limits."""
    plan = SpacePlan.objects.get(pk=space.space_plan_id)
    plan.definition |= limits
    plan.save()
    space.refresh_from_db()


def test_create_writes_address_placement_broker_operation_and_audit(
    cast: Cast, space: AddressSpace
) -> None:
    row, operation = addresses.create(
        space=space,
        address="orders",
        type="queue",
        address_plan="standard-small-queue",
        settings=AddressSettings(message_ttl_ms=5),
        by=cast.by,
    )

    assert (row.phase, row.generation, row.settings.message_ttl_ms) == (Phase.PENDING, 1, 5)
    placed = row.placements.get()
    assert (placed.router_credit, placed.broker_credit, placed.partition) == (10, 10, 0)
    assert placed.broker == space.brokers.get()
    assert (operation.kind, operation.subject_id) == ("address.create", row.pk)
    assert (operation.state, operation.target_generation) == ("Running", 1)
    event = AuditEvent.objects.get(action="address.create")
    assert (event.actor, event.tenant_id) == (cast.by.name, cast.tenant.pk)
    assert event.after["message_ttl_ms"] == 5


def test_create_brings_the_space_forward_and_enqueues(
    space: AddressSpace,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent = []
    AddressSpace.objects.update(next_attempt_at=None)
    monkeypatch.setattr(
        "controlplane.core.enqueue.current_app.send_task",
        lambda task, **options: sent.append((task, options["kwargs"])),
    )

    with django_capture_on_commit_callbacks(execute=True):
        create(space)

    assert sent == [("workers.reconcile_space", {"space_id": space.pk})]
    space.refresh_from_db()
    assert space.next_attempt_at is not None


@pytest.mark.parametrize("kind", ["anycast", "multicast"])
def test_a_direct_address_needs_no_broker(space: AddressSpace, kind: str) -> None:
    row = domain.address(space, "direct", kind)

    assert row.placements.get().broker is None
    assert not space.brokers.exists()


def test_a_subscription_sits_on_the_broker_of_its_topic(space: AddressSpace) -> None:
    redefine(space, broker_credit=3000, aggregate_credit=9000, max_brokers=3)
    Broker.objects.create(space=space, ordinal=0)
    topic = domain.address(space, "news", "topic")
    other = Broker.objects.create(space=space, ordinal=1)
    topic.placements.update(broker=other)

    row = domain.address(space, "news-eu", "subscription", topic="news")

    assert row.topic == topic
    assert row.placements.get().broker == other


def test_a_subscription_needs_a_topic_of_its_own_space(cast: Cast, space: AddressSpace) -> None:
    domain.address(domain.space(cast.tenant), "news", "topic")
    domain.address(space, "orders")

    for name in ("news", "orders", ""):
        with pytest.raises(Invalid, match="no topic") as refusal:
            domain.address(space, "sub", "subscription", topic=name)
        assert set(refusal.value.fields) == {"topic"}


def test_a_subscription_to_a_leaving_topic_is_refused(space: AddressSpace) -> None:
    addresses.delete(address=domain.address(space, "news", "topic"), by=SYSTEM)

    with pytest.raises(Invalid, match="no topic"):
        domain.address(space, "sub", "subscription", topic="news")


def test_create_refuses_a_name_that_is_taken(space: AddressSpace) -> None:
    create(space)

    with pytest.raises(Conflict, match="Choose another") as refusal:
        create(space)

    assert refusal.value.error_code == "address.exists"


def test_a_name_is_free_again_when_its_bearer_is_gone(space: AddressSpace) -> None:
    first = create(space)
    addresses.delete(address=first, by=SYSTEM)
    with pytest.raises(Conflict, match="try again when it is gone"):
        create(space)
    domain.gone(first)

    assert create(space).pk != first.pk


@pytest.mark.parametrize(("first", "second"), [("a.b", "a/b"), ("a/b", "a.b"), ("a.b/c", "a/b.c")])
def test_a_name_that_routers_take_for_another_is_refused(
    space: AddressSpace, first: str, second: str
) -> None:
    held = domain.address(space, first)

    with pytest.raises(Conflict, match="as the same address") as refusal:
        domain.address(space, second)

    assert refusal.value.error_code == "address.exists"
    assert repr(first) in str(refusal.value)
    domain.gone(held)
    assert domain.address(space, second).address == second


def test_brokers_tell_a_dot_from_a_slash(brokered: AddressSpace) -> None:
    domain.address(brokered, "a.b")

    assert domain.address(brokered, "a/b").address == "a/b"


def test_another_space_may_have_the_same_address(cast: Cast, space: AddressSpace) -> None:
    create(space)

    assert create(domain.space(cast.tenant)).address == "orders"


@pytest.mark.parametrize(
    ("changes", "error", "code"),
    [
        ({"address": "a::b"}, Invalid, "address.invalid"),
        ({"type": "heap"}, Invalid, "address.type_not_offered"),
        ({"type": "topic"}, Invalid, "address.plan_mismatch"),
        ({"address_plan": "brokered-small-queue"}, Invalid, "address.plan_mismatch"),
        ({"address_plan": "tiny"}, Invalid, "address_plan.unknown"),
        ({"settings": AddressSettings(max_bytes=0)}, Invalid, "address.invalid"),
    ],
)
def test_create_refuses_and_leaves_nothing(
    space: AddressSpace, changes: dict[str, Any], error: type[WaypostError], code: str
) -> None:
    operations = Operation.objects.count()

    with pytest.raises(error) as refusal:
        create(space, **changes)

    assert refusal.value.error_code == code
    assert not Address.objects.exists()
    assert not Placement.objects.exists()
    assert Operation.objects.count() == operations


def test_an_unknown_plan_lists_what_there_is(space: AddressSpace) -> None:
    with pytest.raises(Invalid, match="standard-small-queue"):
        create(space, address_plan="tiny")


def test_create_refuses_an_address_plan_that_the_tenant_may_not_use() -> None:
    space = domain.space(domain.cast("free").tenant)

    with pytest.raises(Denied, match="it includes: standard-small-queue") as refusal:
        create(space, address_plan="standard-medium-queue")

    assert refusal.value.error_code == "address_plan.not_included"


@pytest.mark.parametrize(
    ("resource", "limits"),
    [
        ("space.addresses", {"max_addresses": 1}),
        ("space.router_credit", {"router_credit": 19}),
        ("space.broker_credit", {"broker_credit": 19}),
        ("space.aggregate_credit", {"aggregate_credit": 39}),
    ],
)
def test_create_refuses_what_the_space_plan_does_not_hold(
    space: AddressSpace, resource: str, limits: dict[str, int]
) -> None:
    create(space)
    redefine(space, **limits)

    with pytest.raises(QuotaExceeded) as refusal:
        create(space, "more")

    assert refusal.value.fields["resource"] == resource
    assert Address.objects.count() == 1


@pytest.mark.parametrize("resource", ["addresses", "brokers"])
def test_create_refuses_what_the_tenant_may_not_have(
    cast: Cast, space: AddressSpace, resource: str
) -> None:
    domain.limit(cast.tenant, resource, 0)

    with pytest.raises(QuotaExceeded) as refusal:
        create(space)

    assert refusal.value.fields["resource"] == resource
    assert not Broker.objects.exists()


def test_what_is_being_deleted_counts_until_it_is_gone(space: AddressSpace) -> None:
    row = create(space)
    addresses.delete(address=row, by=SYSTEM)

    assert admission.used(space.tenant, Resource.ADDRESSES) == 1
    assert admission.credit_use(space).router_credit == 10
    domain.gone(row)
    assert admission.used(space.tenant, Resource.ADDRESSES) == 0
    assert admission.credit_use(space).router_credit == 0
    assert [use.used_credit for use in admission.credit_use(space).brokers] == [0]


@pytest.mark.parametrize("state", Placement.State.values)
def test_placements_count_in_every_state(space: AddressSpace, state: str) -> None:
    create(space)
    create(space, "more")
    Placement.objects.filter(address__address="more").update(state=state)

    assert [use.used_credit for use in admission.credit_use(space).brokers] == [20]


def test_nothing_is_created_in_a_leaving_space(space: AddressSpace) -> None:
    address_spaces.delete(space=space, by=SYSTEM)

    with pytest.raises(Conflict, match="is being deleted") as refusal:
        create(space)

    assert refusal.value.error_code == "address_space.terminating"


def test_the_number_of_queries_does_not_depend_on_how_many_addresses_exist(
    space: AddressSpace,
) -> None:
    domain.address(space, "first")

    def queries(name: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            create(space, name)
        return len(captured)

    few = queries("second")
    for number in range(20):
        create(space, f"more-{number}")

    assert queries("last") == few < 30


def test_update_replaces_settings_and_raises_the_generation(
    cast: Cast, space: AddressSpace
) -> None:
    row = domain.address(space, "orders", message_ttl_ms=5, max_bytes=100)

    changed, operation = addresses.update(
        address=row, settings=AddressSettings(message_ttl_ms=9), by=cast.by
    )

    changed.refresh_from_db()
    assert (changed.settings, changed.generation) == (AddressSettings(message_ttl_ms=9), 2)
    assert (operation.kind, operation.target_generation) == ("address.update", 2)
    event = AuditEvent.objects.get(action="address.update")
    assert (event.before["message_ttl_ms"], event.after["message_ttl_ms"]) == (5, 9)


def test_update_leaves_what_workers_wrote_meanwhile(space: AddressSpace) -> None:
    row = create(space)
    Address.objects.update(phase=Phase.ACTIVE, observed_generation=1)

    addresses.update(address=row, settings=AddressSettings(max_bytes=7), by=SYSTEM)

    row.refresh_from_db()
    assert (row.phase, row.observed_generation) == (Phase.ACTIVE, 1)


def test_update_refuses_a_stale_generation(space: AddressSpace) -> None:
    row = create(space)
    settings = AddressSettings(max_bytes=7)
    addresses.update(address=row, settings=settings, by=SYSTEM, if_generation=1)

    with pytest.raises(Conflict, match="read it again") as refusal:
        addresses.update(address=row, settings=settings, by=SYSTEM, if_generation=1)

    assert (refusal.value.error_code, refusal.value.status) == ("generation.changed", 412)
    assert refusal.value.fields["generation"] == 2


def test_update_keeps_the_topic_of_a_subscription(space: AddressSpace) -> None:
    topic = domain.address(space, "news", "topic")
    row = domain.address(space, "sub", "subscription", topic="news")

    changed, _ = addresses.update(address=row, settings=AddressSettings(topic="other"), by=SYSTEM)

    changed.refresh_from_db()
    assert changed.topic == topic


def test_update_refuses_settings_that_mean_nothing(space: AddressSpace) -> None:
    row = domain.address(space, "direct", "anycast")

    with pytest.raises(Invalid):
        addresses.update(address=row, settings=AddressSettings(max_bytes=7), by=SYSTEM)


def test_update_of_a_leaving_address_or_space_is_refused(space: AddressSpace) -> None:
    row, other = create(space), create(space, "other")
    addresses.delete(address=row, by=SYSTEM)
    with pytest.raises(Conflict) as refusal:
        addresses.update(address=row, settings=AddressSettings(), by=SYSTEM)
    assert refusal.value.error_code == "address.terminating"

    address_spaces.delete(space=space, by=SYSTEM)
    with pytest.raises(Conflict) as refusal:
        addresses.update(address=other, settings=AddressSettings(), by=SYSTEM)
    assert refusal.value.error_code == "address_space.terminating"


def test_dead_letters_go_to_another_queue_of_the_space(brokered: AddressSpace) -> None:
    dead = domain.address(brokered, "dead")
    domain.address(brokered, "news", "topic")

    row = domain.address(brokered, "orders", dead_letter="dead")

    assert row.dead_letter == dead.address
    for target in ("nowhere", "news", "self"):
        with pytest.raises(Invalid, match="another address") as refusal:
            domain.address(brokered, "self", dead_letter=target)
        assert set(refusal.value.fields) == {"dead_letter"}


def test_update_refuses_dead_letters_to_itself(brokered: AddressSpace) -> None:
    row = domain.address(brokered, "orders")

    with pytest.raises(Invalid, match="another address"):
        addresses.update(address=row, settings=AddressSettings(dead_letter="orders"), by=SYSTEM)


def test_dead_letters_of_a_standard_space_are_on_every_broker_that_needs_them(
    space: AddressSpace,
) -> None:
    redefine(space, broker_credit=3000, aggregate_credit=9000, max_brokers=3)
    dead = domain.address(space, "dead", "deadletter")
    plain = domain.address(space, "plain")
    with pytest.raises(Invalid, match="of type deadletter"):
        domain.address(space, "orders", dead_letter="plain")
    other = Broker.objects.create(space=space, ordinal=1)
    plain.placements.update(broker=other)

    for _ in range(2):
        addresses.update(address=plain, settings=AddressSettings(expiry="dead"), by=SYSTEM)

    dead.refresh_from_db()
    placed = list(dead.placements.order_by("partition").values_list("broker__ordinal", "partition"))
    assert (placed, dead.generation) == ([(0, 0), (1, 1)], 2)
    with pytest.raises(Conflict, match="plain"):
        addresses.delete(address=dead, by=SYSTEM)


def test_an_address_goes_where_its_dead_letters_fit_too(space: AddressSpace) -> None:
    redefine(space, broker_credit=3000, aggregate_credit=9000, max_brokers=3)
    full = domain.address(space, "full")
    full.placements.update(broker_credit=988)
    broker = space.brokers.get()
    dead = domain.address(space, "dead", "deadletter")
    dead.placements.update(broker=Broker.objects.create(space=space, ordinal=1))

    orders = domain.address(space, "orders", dead_letter="dead")

    assert orders.placements.get().broker != broker
    full.placements.update(broker_credit=998)
    with pytest.raises(QuotaExceeded):
        addresses.update(address=full, settings=AddressSettings(dead_letter="dead"), by=SYSTEM)


def test_a_fixed_text_stays_and_a_shortest_lifetime_needs_another(brokered: AddressSpace) -> None:
    row = domain.address(brokered, "prices", last_value_key="symbol")

    addresses.update(address=row, settings=AddressSettings(ring_size=5), by=SYSTEM)

    row.refresh_from_db()
    assert (row.settings.last_value_key, row.settings.ring_size) == ("symbol", 5)
    with pytest.raises(Invalid, match="needs message_ttl_ms"):
        domain.address(brokered, "short", message_ttl_min_ms=5)
    with pytest.raises(Invalid, match="together with message_ttl_ms"):
        domain.address(brokered, "both", message_ttl_default_ms=5, message_ttl_ms=6)


def test_delete_asks_for_the_end_once(cast: Cast, space: AddressSpace) -> None:
    row = create(space)

    first = addresses.delete(address=row, by=cast.by)
    again = addresses.delete(address=row, by=cast.by)

    row.refresh_from_db()
    assert first == again
    assert (row.phase, row.generation, row.deleted_at) == (Phase.TERMINATING, 2, None)
    assert row.deletion_requested_at is not None
    assert (first.kind, first.target_generation) == ("address.delete", 2)
    assert AuditEvent.objects.filter(action="address.delete").count() == 1


def test_delete_of_an_address_that_goes_with_its_space_answers_the_space_s_operation(
    space: AddressSpace,
) -> None:
    row = create(space)
    operation = address_spaces.delete(space=space, by=SYSTEM)

    assert addresses.delete(address=row, by=SYSTEM) == operation


def test_delete_refuses_a_topic_that_has_subscriptions(space: AddressSpace) -> None:
    topic = domain.address(space, "news", "topic")
    subscription = domain.address(space, "sub", "subscription", topic="news")

    with pytest.raises(Conflict, match="of: sub") as refusal:
        addresses.delete(address=topic, by=SYSTEM)

    assert refusal.value.error_code == "address.in_use"
    addresses.delete(address=subscription, by=SYSTEM)
    addresses.delete(address=topic, by=SYSTEM)


def test_delete_refuses_a_queue_that_takes_dead_letters(brokered: AddressSpace) -> None:
    dead = domain.address(brokered, "dead")
    domain.address(brokered, "orders", dead_letter="dead")

    with pytest.raises(Conflict, match="of: orders"):
        addresses.delete(address=dead, by=SYSTEM)
