"""A brokered space from rows to fakes: until idle, again without writes, and to its end."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from controlplane.core.reasons import Reason
from tenants.actions import address_spaces, addresses, messaging_users, unpaid_stages
from tenants.models import Address, AddressSpace, SpaceSecret, UnpaidStage
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.infra import names
from workers.infra.base import InfraError
from workers.messaging.brokers import permissions
from workers.messaging.management import Refused
from workers.messaging.probe import ProbeFailed
from workers.reconcile import loop
from workers.reconcile.outcome import Done, Failed, Wait

pytestmark = pytest.mark.django_db


@pytest.fixture
def space() -> AddressSpace:
    made = rows.make_space(rows.make_tenant())
    rows.make_address(made, "orders/new")
    rows.make_address(made, "news", "topic")
    rows.make_user(made, "alice", ("orders/#", "send recv"))
    return made


def ready(row: Address | AddressSpace) -> dict[str, str]:
    return next(condition for condition in row.conditions if condition["type"] == "Ready")


def states(kind: str) -> set[str]:
    return set(Operation.objects.filter(kind=kind).values_list("state", flat=True))


def test_settle_makes_everything_active_and_ends_its_operations(
    world: World, space: AddressSpace
) -> None:
    outcome = world.settle(space)

    assert isinstance(outcome, Done)
    assert space.phase == "Active"
    assert space.observed_generation == space.generation
    assert set(space.addresses.values_list("phase", flat=True)) == {"Active"}
    assert set(space.users.values_list("phase", flat=True)) == {"Active"}
    assert set(world.broker(space).addresses) == {"orders/new", "news"}
    assert set(Operation.objects.values_list("state", flat=True)) == {"Succeeded"}
    assert space.endpoints.get().port > 0
    assert all(space.addresses.values_list("probed_at", flat=True))


def test_second_pass_writes_nothing(world: World, space: AddressSpace) -> None:
    world.settle(space)
    before = (world.writes, _row_versions(space))

    with CaptureQueriesContext(connection) as queries:
        world.pass_full(space)

    assert (world.writes, _row_versions(space)) == before
    written = [query["sql"].split('"')[1] for query in queries if _is_write(query["sql"])]
    assert set(written) == {"tenants_addressspace", "tenants_address", "core_operation"}
    assert written.count("tenants_address") == 1  # when they were probed


def test_waiting_shows_progress_and_is_no_failure(world: World, space: AddressSpace) -> None:
    world.brokers.slow_starts = 1000

    outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert isinstance(outcome, Wait)
    space.refresh_from_db()
    assert space.phase == "Configuring"
    assert space.attempts == 0
    assert ready(space)["reason"] == Reason.BROKER_STARTING
    operation = Operation.objects.get(kind="address_space.create")
    assert operation.steps[-1] == {
        "name": "brokers",
        "state": "waiting",
        "message": "BrokerStarting: broker-0 is not ready: it does not answer yet.",
    }
    assert operation.state == "Running"


def test_a_new_address_costs_one_write_and_no_restart(world: World, space: AddressSpace) -> None:
    world.settle(space)
    brokers_before, infra_before = world.brokers.writes, world.infra.writes
    rows.make_address(space, "late")

    world.settle(space)

    assert world.brokers.writes == brokers_before + 1
    assert world.infra.writes == infra_before, "the start-up file waits"
    world.settle_files(space)
    assert world.brokers.writes == brokers_before + 1
    assert world.infra.writes == infra_before + 1
    assert next(iter(world.infra.instances.values())).starts == 1
    assert Address.objects.get(address="late").phase == "Active"


def test_drift_is_repaired_by_the_full_pass(world: World, space: AddressSpace) -> None:
    world.settle(space)
    broker = world.broker(space)
    del broker.addresses["news"]
    broker.addresses["orphan"] = object()
    broker.addresses["orphan-with-messages"] = object()
    broker.stored["orphan-with-messages"] = 1

    world.pass_full(space)

    assert set(broker.addresses) == {"orders/new", "news", "orphan-with-messages"}
    # Nobody meters it, so nobody may use it.
    assert broker.roles["orphan-with-messages"] == permissions.internal_roles()


def test_a_deletion_in_a_whole_pass_takes_rights_that_a_request_granted(
    world: World, space: AddressSpace
) -> None:
    """The broker keeps what it was requested, although the file no longer names the address."""
    world.settle(space)
    broker = world.broker(space)
    address = Address.objects.get(address="orders/new")
    granted = broker.roles["orders/new"]
    addresses.delete(address=address, by=SYSTEM)
    world.metering.not_yet = 1
    world.now += loop.FULL_PASS_EVERY * 2

    loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert granted != permissions.internal_roles()
    assert broker.roles["orders/new"] == permissions.internal_roles()


def test_deleting_an_address_samples_before_it_removes(world: World, space: AddressSpace) -> None:
    world.settle(space)
    broker = world.broker(space)
    broker.links = {("alice", "recv", "orders/new")}
    addresses.delete(address=Address.objects.get(address="orders/new"), by=SYSTEM)
    world.metering.not_yet = 1

    loop.reconcile(space.id, world.ports, budget_seconds=0)
    while_sampling = (set(broker.addresses), set(broker.links))
    world.settle(space)

    assert while_sampling == ({"orders/new", "news"}, set())
    assert world.metering.samples == [(space.id, ("orders/new",))]
    assert set(broker.addresses) == {"news"}
    gone = Address.objects.get(address="orders/new")
    assert gone.deleted_at is not None
    assert not gone.placements.exists()
    assert states("address.delete") == {"Succeeded"}


def test_revoking_a_user_cuts_its_links_and_no_others(world: World, space: AddressSpace) -> None:
    bob = rows.make_user(space, "bob", ("#", "send recv"))
    world.settle(space)
    broker = world.broker(space)
    broker.links = {("alice", "recv", "orders/new"), ("bob", "recv", "orders/new")}
    messaging_users.revoke(user=bob, by=SYSTEM)

    world.settle(space)

    assert broker.links == {("alice", "recv", "orders/new")}
    bob.refresh_from_db()
    assert bob.deleted_at is not None
    assert states("messaging_user.revoke") == {"Succeeded"}


def test_withdrawn_send_takes_the_role_and_keeps_receivers(
    world: World, space: AddressSpace
) -> None:
    world.settle(space)
    broker = world.broker(space)
    broker.links = {("alice", "recv", "orders/new"), ("alice", "send", "orders/new")}
    address_spaces.withdraw_send(space=space, by=SYSTEM, reason="quota")

    world.settle(space)

    withdrawn_roles: Any = broker.roles["orders/new"]
    withdrawn = dict(withdrawn_roles)
    assert permissions.role("alice") not in withdrawn["send"]
    assert permissions.role("alice") in withdrawn["consume"]
    assert len(broker.links) == 2


def test_a_space_that_refuses_connections_has_no_logins_until_it_admits_them(
    world: World, space: AddressSpace
) -> None:
    world.settle(space)
    broker = world.broker(space)
    broker.links = {("alice", "recv", "orders/new")}
    unpaid_stages.move(tenant=space.tenant, stage=UnpaidStage.SUSPENDED)

    world.settle(space)

    assert broker.links == set()
    refused: Any = broker.roles["orders/new"]
    assert permissions.role("alice") not in dict(refused)["consume"]
    assert space.users.filter(deleted_at__isnull=True).exists()
    unpaid_stages.move(tenant=space.tenant, stage=UnpaidStage.NONE)
    world.settle(space)
    admitted: Any = broker.roles["orders/new"]
    assert permissions.role("alice") in dict(admitted)["consume"]


def test_deleting_the_space_ends_everything_after_the_last_sample(
    world: World, space: AddressSpace
) -> None:
    world.settle(space)
    address_spaces.delete(space=space, by=SYSTEM)

    world.settle(space)

    assert world.metering.samples == [(space.id, None)]
    assert (world.infra.instances, world.infra.namespaces) == ({}, set())
    assert space.deleted_at is not None
    assert not space.endpoints.exists()
    assert not SpaceSecret.objects.filter(space=space).exists()
    assert not space.addresses.filter(deleted_at__isnull=True).exists()
    assert states("address_space.delete") == {"Succeeded"}
    assert loop.list_due(world.ports) == []


def test_deleting_waits_for_an_unreachable_broker_but_not_for_ever(
    world: World, space: AddressSpace
) -> None:
    world.settle(space)
    address_spaces.delete(space=space, by=SYSTEM)
    world.brokers.slow_starts = 10**6

    loop.reconcile(space.id, world.ports, budget_seconds=0)
    instances_while_away = dict(world.infra.instances)
    world.now += timedelta(minutes=11)
    world.settle(space)

    assert instances_while_away
    assert space.deleted_at is not None


@pytest.mark.parametrize("kind", ["brokered", "standard"])
def test_deleting_waits_for_who_holds_files_but_not_for_ever(world: World, kind: str) -> None:
    """Another applier took a field of an object that is about to go."""

    space = rows.make_space(rows.make_tenant(), kind=kind)
    world.settle(space)
    address_spaces.delete(space=space, by=SYSTEM)
    world.infra.fail_at(
        "ensure_instance", InfraError("Theirs.", reason=Reason.FIELD_CONFLICT, retry=False)
    )

    outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)
    while_held = dict(world.infra.instances)
    world.now += timedelta(minutes=11)
    world.settle(space)

    assert isinstance(outcome, Failed)
    assert outcome.reason == Reason.FIELD_CONFLICT
    assert while_held
    assert space.deleted_at is not None


@pytest.mark.parametrize("kind", ["brokered", "standard"])
def test_deleting_waits_as_long_as_it_takes_for_a_cluster_that_is_busy(
    world: World, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One answer of a busy cluster late in a deletion must not leave clients on and uncounted."""

    def refuse(_spec: object, *, may_restart: bool = True) -> None:
        raise InfraError("Busy.", reason=Reason.CLUSTER_BUSY, retry=True)

    space = rows.make_space(rows.make_tenant(), kind=kind)
    world.settle(space)
    address_spaces.delete(space=space, by=SYSTEM)
    world.now += timedelta(minutes=11)
    with monkeypatch.context() as patched:
        patched.setattr(world.infra, "ensure_instance", refuse)
        outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)
    while_busy, samples = dict(world.infra.instances), list(world.metering.samples)
    world.settle(space)

    assert isinstance(outcome, Wait)
    assert (bool(while_busy), samples) == (True, [])
    assert space.deleted_at is not None


def test_an_address_no_broker_can_carry_fails_alone(world: World, space: AddressSpace) -> None:
    bad = rows.make_address(space, "harmless")
    Address.objects.filter(pk=bad.pk).update(address="a${java.home}b")

    world.settle(space)

    bad.refresh_from_db()
    assert bad.phase == "Failed"
    assert ready(bad)["reason"] == Reason.ADDRESS_NOT_POSSIBLE
    assert space.phase == "Active"
    assert Address.objects.get(address="news").phase == "Active"


def test_a_failing_probe_keeps_addresses_from_ready(world: World, space: AddressSpace) -> None:
    world.brokers.fail_at("probe", ProbeFailed("no credit"))

    loop.reconcile(space.id, world.ports, budget_seconds=0)

    address = Address.objects.get(address="news")
    assert address.phase == "Configuring"
    assert ready(address)["reason"] == Reason.PROBE_FAILED
    assert "no credit" in ready(address)["message"]


def test_what_a_broker_refuses_is_told_and_unauthorized_clients_are_disconnected_all_the_same(
    world: World, space: AddressSpace
) -> None:
    world.settle(space)
    held = world.broker(space)
    held.links.add(("nobody", "recv", "news"))
    world.brokers.fail_at("converge", Refused("AMQ229230: Failed to bind acceptor public"))
    world.now += loop.FULL_PASS_EVERY * 2

    outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert isinstance(outcome, Wait)
    assert outcome.text == "SettingsPending: broker-0: AMQ229230: Failed to bind acceptor public"
    assert ("nobody", "recv", "news") not in held.links


def test_a_deletion_says_what_a_broker_refuses(world: World, space: AddressSpace) -> None:
    world.settle(space)
    address_spaces.delete(space=space, by=SYSTEM)
    world.brokers.fail_at("converge", Refused("AMQ229031: Unable to validate user"))

    outcome = loop.reconcile(space.id, world.ports, budget_seconds=0)

    assert outcome == Wait(1, Reason.BROKER_REFUSES, "AMQ229031: Unable to validate user")


def test_a_closed_listener_of_clients_is_opened_before_the_space_is_ready(
    world: World, space: AddressSpace
) -> None:
    loop.reconcile(space.id, world.ports)
    namespace = names.namespace(space.tenant_id, space.id, space.name)
    port = world.infra.ports[namespace, "broker-0"]["amqps"]
    world.brokers.closed, world.brokers.taken = {port}, {port}
    world.now += loop.FULL_PASS_EVERY * 2

    loop.reconcile(space.id, world.ports, budget_seconds=0)
    space.refresh_from_db()
    told = ready(space)
    world.brokers.taken = set()
    world.settle(space)

    assert told["reason"] == Reason.PROBE_FAILED
    assert "does not listen for clients" in told["message"]
    assert world.brokers.closed == set()
    assert ready(space)["status"] == "True"


def _is_write(sql: str) -> bool:
    return sql.startswith(("UPDATE", "INSERT", "DELETE"))


def _row_versions(space: AddressSpace) -> list[object]:
    return [
        *space.addresses.order_by("pk").values_list("phase", "conditions", "observed_generation"),
        *space.users.order_by("pk").values_list("phase", "conditions", "updated_at"),
        *space.secrets.order_by("pk").values_list("name", "updated_at"),
        *space.endpoints.values_list("updated_at"),
    ]
