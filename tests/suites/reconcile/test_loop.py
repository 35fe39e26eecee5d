"""Claims, leases, what is due when, and failures that are nobody's expectation."""

from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from structlog.testing import capture_logs

from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from controlplane.core.reasons import Reason
from tenants.actions import address_spaces, restrictions
from tenants.models import AddressSpace
from tests.support.reconcile import rows
from tests.support.reconcile.world import World
from workers.infra.base import InfraError
from workers.messaging.observed import ManagementTarget
from workers.reconcile import loop
from workers.reconcile.outcome import Done, Failed, Wait

pytestmark = pytest.mark.django_db


@pytest.fixture
def space() -> AddressSpace:
    return rows.make_space(rows.make_tenant())


def test_an_empty_space_becomes_active(world: World, space: AddressSpace) -> None:
    outcome = world.settle(space)

    assert isinstance(outcome, Done)
    assert space.phase == "Active"


def test_a_claimed_space_is_left_alone_until_the_lease_ends(
    world: World, space: AddressSpace
) -> None:
    AddressSpace.objects.filter(pk=space.pk).update(
        claimed_by="another", claimed_until=world.now + timedelta(seconds=10)
    )

    while_held = loop.reconcile(space.id, world.ports)
    due_while_held = list(loop.list_due(world.ports))
    world.now += timedelta(seconds=11)
    after = loop.reconcile(space.id, world.ports)

    assert (while_held, due_while_held, world.writes > 0) == (None, [], True)
    assert isinstance(after, Done)


def test_a_worker_that_lost_its_lease_records_nothing(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ensure_namespace(_namespace: object, _budget: object) -> None:
        AddressSpace.objects.filter(pk=space.pk).update(claimed_by="another")

    monkeypatch.setattr(world.infra, "ensure_namespace", ensure_namespace)

    outcome = loop.reconcile(space.id, world.ports)

    space.refresh_from_db()
    assert outcome is None
    assert (space.phase, space.claimed_by) == ("Pending", "another")


def test_an_unexpected_error_backs_off_and_recovers(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(_namespace: object, _budget: object) -> None:
        raise RuntimeError("unexpected")

    with monkeypatch.context() as patched:
        patched.setattr(world.infra, "ensure_namespace", explode)
        for _ in range(3):
            assert loop.reconcile(space.id, world.ports) is None
    space.refresh_from_db()
    attempts, next_attempt_at = space.attempts, space.next_attempt_at
    failed_at = world.now
    due_at_once = list(loop.list_due(world.ports))
    world.now += timedelta(seconds=9)
    world.settle(space)

    assert attempts == 3
    assert next_attempt_at is not None
    assert next_attempt_at >= failed_at + timedelta(seconds=4)
    assert due_at_once == []
    assert (space.phase, space.attempts) == ("Active", 0)


@pytest.mark.parametrize("is_leaving", [False, True])
def test_an_error_that_stays_is_told_and_forgotten_when_it_is_gone(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch, is_leaving: bool
) -> None:
    def explode(*_anything: object) -> None:
        raise RuntimeError("unexpected")

    world.settle(space)
    if is_leaving:
        address_spaces.delete(space=space, by=SYSTEM)
    seen = []
    with monkeypatch.context() as patched:
        patched.setattr(world.infra, "list_instances", explode)
        patched.setattr(world.infra, "ensure_namespace", explode)
        for _ in range(3):
            loop.reconcile(space.id, world.ports)
            space.refresh_from_db()
            (ready,) = (condition for condition in space.conditions if condition["type"] == "Ready")
            seen.append((ready["status"], ready["reason"]))
    phase = space.phase
    world.now += timedelta(minutes=1)
    world.settle(space)

    assert seen == [("True", "Works"), ("True", "Works"), ("False", "PassFailed")]
    assert phase == ("Terminating" if is_leaving else "Failed")
    assert (space.deleted_at is not None) == is_leaving
    assert is_leaving or space.phase == "Active"


def test_one_crash_after_a_failure_in_words_takes_nothing_back(
    world: World, space: AddressSpace
) -> None:
    conflict = InfraError("Theirs.", reason=Reason.FIELD_CONFLICT, retry=False)
    world.infra.fail_at("ensure_namespace", conflict, times=3)
    world.infra.fail_at("ensure_namespace", RuntimeError(), times=1)

    for _ in range(4):
        loop.reconcile(space.id, world.ports)
    space.refresh_from_db()

    (ready,) = (condition for condition in space.conditions if condition["type"] == "Ready")
    assert (ready["reason"], ready["detail"]) == ("FieldConflict", "Theirs.")
    assert not world.infra.has_faults()


def test_a_crash_that_cannot_even_be_told_has_its_later_look(
    world: World, space: AddressSpace
) -> None:
    """As where a row was restored in a form that nobody reads."""
    AddressSpace.objects.filter(pk=space.pk).update(
        attempts=9, conditions=[{"kind": "odd"}], next_attempt_at=world.now
    )

    world.infra.fail_at("ensure_namespace", RuntimeError("unexpected"))
    with pytest.raises(KeyError):
        loop.reconcile(space.id, world.ports)
    space.refresh_from_db()

    assert space.next_attempt_at is not None
    assert space.next_attempt_at > world.now


def test_what_is_asked_for_during_a_crashing_pass_does_not_wait_for_the_backoff(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    AddressSpace.objects.filter(pk=space.pk).update(attempts=9)

    def explode(_namespace: object, _budget: object) -> None:
        address_spaces.enqueue_reconcile(space)
        raise RuntimeError("unexpected")

    monkeypatch.setattr(world.infra, "ensure_namespace", explode)
    loop.reconcile(space.id, world.ports)
    world.now = timezone.now()

    space.refresh_from_db()
    assert space.attempts == 10
    assert list(loop.list_due(world.ports)) == [space.id]


def test_what_cannot_work_fails_with_words_and_recovers_by_itself(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_spec: object, **_options: bool) -> None:
        raise InfraError(
            "Java is missing: run `make setup`.", reason=Reason.BROKER_MISSING, retry=False
        )

    with monkeypatch.context() as patched:
        patched.setattr(world.infra, "ensure_instance", refuse)
        outcome = loop.reconcile(space.id, world.ports)
    space.refresh_from_db()
    failed_phase = space.phase
    operation = Operation.objects.get(kind="address_space.create")
    world.now += timedelta(seconds=31)
    world.settle(space)

    assert outcome == Failed(Reason.BROKER_MISSING, "Java is missing: run `make setup`.")
    assert failed_phase == "Failed"
    assert (operation.state, operation.error_message) == (
        "Failed",
        "Java is missing: run `make setup`.",
    )
    assert space.phase == "Active"


def test_what_waits_says_for_what_in_the_words_of_the_place(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(_namespace: object, _budget: object) -> None:
        raise InfraError("The cluster is busy.", reason=Reason.CLUSTER_BUSY, retry=True)

    with monkeypatch.context() as patched:
        patched.setattr(world.infra, "ensure_namespace", wait)
        outcome = loop.reconcile(space.id, world.ports)
    space.refresh_from_db()

    ready = next(condition for condition in space.conditions if condition["type"] == "Ready")
    assert isinstance(outcome, Wait)
    assert (ready["status"], ready["reason"]) == ("False", "ClusterBusy")
    assert ready["detail"] == "The cluster is busy."
    assert "Your operator sees why" in ready["message"]


def test_a_space_that_nothing_leads_to_from_outside_says_so_and_all_else_goes_on(
    world: World, space: AddressSpace
) -> None:
    address = rows.make_address(space, "orders")
    world.infra.endpoint_trouble = "The cluster refuses the Route to the space."
    first = loop.reconcile(space.id, world.ports)
    space.refresh_from_db()
    address.refresh_from_db()
    operations = set(Operation.objects.values_list("state", flat=True))
    asked_again_in = (space.next_attempt_at or world.now) - world.now

    assert isinstance(first, Done)
    assert conditions(space) == {"Reachable": "False", "Ready": "True"}
    assert space.conditions[0]["detail"] == "The cluster refuses the Route to the space."
    assert space.active_since is not None  # from then on it is metered
    assert (space.phase, address.phase, operations) == ("Active", "Active", {"Succeeded"})
    assert asked_again_in == timedelta(seconds=5)

    world.now += timedelta(minutes=4)
    loop.reconcile(space.id, world.ports)
    space.refresh_from_db()
    assert space.next_attempt_at == world.now + timedelta(seconds=24)

    world.infra.endpoint_trouble = ""
    world.now += timedelta(seconds=24)
    world.settle(space)
    assert conditions(space) == {"Ready": "True"}
    assert space.next_attempt_at > world.now + timedelta(minutes=3)


def conditions(space: AddressSpace) -> dict[str, str]:
    """Return what is said of each condition, in the order of their names."""
    return {condition["type"]: condition["status"] for condition in space.conditions}


def test_a_space_whose_address_went_away_says_so_and_all_else_goes_on(
    world: World, space: AddressSpace
) -> None:
    """Its service deleted by hand, say. Only a new space waits for an address."""
    world.infra.has_address = False
    at_first = loop.reconcile(space.id, world.ports, budget_seconds=0)
    world.infra.has_address = True
    world.settle(space)
    before = space.endpoints.get()
    certificates = dict(space.secrets.values_list("name", "public"))
    address = rows.make_address(space, "orders")
    world.infra.has_address = False

    world.settle(space)
    world.settle_files(space)
    address.refresh_from_db()
    gone = {condition["type"]: condition.get("detail") for condition in space.conditions}
    world.infra.has_address = True
    world.now += loop.FULL_PASS_EVERY * 2
    world.settle(space)

    assert isinstance(at_first, Wait)
    assert at_first.text == "EndpointPending: No load balancer yet."
    assert (space.phase, address.phase) == ("Active", "Active")
    assert gone["Reachable"] == "No load balancer yet."
    assert "Reachable" not in {condition["type"] for condition in space.conditions}
    assert space.endpoints.get().host == before.host
    assert dict(space.secrets.values_list("name", "public")) == certificates


def test_a_settled_space_is_due_again_only_for_the_full_pass(
    world: World, space: AddressSpace
) -> None:
    world.settle(space)

    due_now = list(loop.list_due(world.ports))
    world.now += loop.FULL_PASS_EVERY
    due_later = list(loop.list_due(world.ports))

    assert (due_now, due_later) == ([], [space.id])


def test_the_next_look_at_a_settled_space_is_a_full_pass(world: World, space: AddressSpace) -> None:
    world.settle(space)
    space.refresh_from_db()
    assert space.next_attempt_at
    world.now = space.next_attempt_at

    loop.reconcile(space.id, world.ports)

    space.refresh_from_db()
    assert space.last_full_pass_at == world.now


def test_a_change_is_due_even_when_its_message_was_lost(world: World, space: AddressSpace) -> None:
    world.settle(space)
    restrictions.withdraw_send(space=space, by=SYSTEM, reason="quota")
    AddressSpace.objects.filter(pk=space.pk).update(
        next_attempt_at=world.now + timedelta(minutes=4)
    )

    assert list(loop.list_due(world.ports)) == [space.id]


def test_a_change_during_the_pass_is_seen_in_the_same_call(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.settle(space)
    changed: list[object] = []
    original = world.brokers.probe

    def change_once(target: ManagementTarget, address: str) -> float:
        if not changed:
            changed.append(rows.make_address(space, "late"))
        return original(target, address)

    monkeypatch.setattr(world.brokers, "probe", change_once)
    rows.make_address(space, "early")
    loop.reconcile(space.id, world.ports)

    assert set(space.addresses.values_list("address", "phase")) == {
        ("early", "Active"),
        ("late", "Active"),
    }


def test_a_pass_costs_the_same_queries_for_any_number_of_addresses(
    world: World, space: AddressSpace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        rows.make_address(space, f"queue-{number}")
    world.settle(space)
    world.now += loop.FULL_PASS_EVERY * 2

    with django_assert_max_num_queries(40):
        loop.reconcile(space.id, world.ports)


def test_a_database_that_goes_away_in_a_pass_is_not_told_as_a_bug(
    world: World, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = OperationalError("server closed the connection unexpectedly")
    away.__cause__ = psycopg.OperationalError()

    def ensure_namespace(_namespace: object, _budget: object) -> None:
        raise away

    monkeypatch.setattr(world.infra, "ensure_namespace", ensure_namespace)

    with capture_logs() as events, pytest.raises(OperationalError):
        loop.reconcile(space.id, world.ports)

    assert events == []
