"""A space moves to another plan: what is written, and what a plan cannot hold."""

from typing import Any

import pytest
from django.utils import timezone

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Conflict, Denied, Invalid, WaypostError
from controlplane.core.models import AuditEvent, Operation
from plans.models import SpacePlan
from tenants.actions import address_spaces, space_plans
from tenants.actions.space_plans import PlanTooSmall
from tenants.models import AddressSpace, FormerSpacePlan
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db: None) -> Cast:
    return domain.cast("business")


@pytest.fixture
def space(cast: Cast) -> AddressSpace:
    """A space of the medium size with an address and a user."""
    made = domain.space(cast.tenant, "brokered", "medium")
    domain.address(made, "orders")
    domain.user(made)
    return made


def change(space: AddressSpace, plan: str = "brokered-small", **more: Any) -> Operation:
    operation = space_plans.change(space=space, space_plan=plan, by=SYSTEM, **more)
    space.refresh_from_db()
    return operation


def shrink(**definition: int) -> None:
    """Make the small plan too small."""
    row = SpacePlan.objects.get(key="brokered-small")
    row.definition = {**row.definition, **definition}
    row.save()


def test_it_writes_plan_generation_former_plan_operation_and_audit(space: AddressSpace) -> None:
    AddressSpace.objects.update(next_attempt_at=None, waiting_since=timezone.now())
    before = timezone.now()

    operation = change(space)

    assert space.space_plan.key == "brokered-small"
    assert (space.generation, space.plan_generation) == (2, 2)
    assert space.next_attempt_at is not None
    assert space.waiting_since is None
    former = FormerSpacePlan.objects.get()
    assert (former.space, former.space_plan.key) == (space, "brokered-medium")
    assert before <= former.ended_at <= timezone.now()
    assert (operation.kind, operation.target_generation) == ("address_space.change_plan", 2)
    event = AuditEvent.objects.get(action="address_space.change_plan")
    assert (event.before["plan"], event.after["plan"]) == ("brokered-medium", "brokered-small")


def test_the_plan_that_it_has_changes_nothing_and_ends_by_itself(space: AddressSpace) -> None:
    operation = change(space, "brokered-medium")

    assert (space.generation, operation.target_generation) == (1, 1)
    assert not FormerSpacePlan.objects.exists()
    assert not AuditEvent.objects.filter(action="address_space.change_plan").exists()


def test_a_newer_version_of_its_plan_is_another_plan(space: AddressSpace) -> None:
    newer = SpacePlan.objects.get(key="brokered-medium")
    newer.pk, newer.version = None, 2
    newer.save()

    change(space, "brokered-medium")

    assert (space.space_plan, space.generation) == (newer, 2)


@pytest.mark.parametrize(
    ("plan", "kind", "code"),
    [
        ("brokered-huge", Invalid, "space_plan.unknown"),
        ("standard-medium", Invalid, "address_space.plan_mismatch"),
    ],
)
def test_another_kind_of_plan_is_refused(
    space: AddressSpace, plan: str, kind: type[WaypostError], code: str
) -> None:
    with pytest.raises(kind) as refusal:
        change(space, plan)

    assert refusal.value.error_code == code
    assert AddressSpace.objects.get().generation == 1


def test_a_plan_that_the_tenant_s_own_does_not_include_is_refused() -> None:
    space = domain.space(domain.cast("free").tenant, "brokered", "small")

    with pytest.raises(Denied, match="Move to a larger plan") as refusal:
        change(space, "brokered-medium")

    assert refusal.value.error_code == "space_plan.not_included"


@pytest.mark.parametrize(
    ("definition", "over", "words"),
    [
        ({"max_addresses": 1}, "addresses", "2 addresses"),
        ({"max_users": 0}, "users", "1 users"),
        ({"max_brokers": 0}, "brokers", "1 brokers"),
        ({"broker_credit": 19}, "broker_credit", "20 broker credit"),
        ({"aggregate_credit": 19}, "aggregate_credit", "20 aggregate credit"),
    ],
)
def test_a_plan_too_small_for_what_is_there_is_refused_with_what_is_too_much(
    space: AddressSpace, definition: dict[str, int], over: str, words: str
) -> None:
    domain.address(space, "invoices")
    shrink(**definition)

    with pytest.raises(PlanTooSmall, match=words) as refusal:
        change(space)

    assert refusal.value.error_code == "space_plan.too_small"
    assert list(refusal.value.fields) == [over]
    assert AddressSpace.objects.get().generation == 1
    assert not FormerSpacePlan.objects.exists()


def test_what_fits_exactly_fits(space: AddressSpace) -> None:
    shrink(max_addresses=1, max_users=1, max_brokers=1, broker_credit=10, aggregate_credit=10)

    change(space)

    assert space.generation == 2


def test_router_credit_of_a_standard_space_is_held(cast: Cast) -> None:
    space = domain.space(cast.tenant, "standard", "medium")
    domain.address(space, "events", "anycast")
    row = SpacePlan.objects.get(key="standard-small")
    row.definition = {**row.definition, "router_credit": 9}
    row.save()

    with pytest.raises(PlanTooSmall, match="10 router credit"):
        change(space, "standard-small")


def test_a_space_that_is_being_deleted_keeps_its_plan(space: AddressSpace) -> None:
    address_spaces.delete(space=space, by=SYSTEM)

    with pytest.raises(Conflict) as refusal:
        change(space)

    assert refusal.value.error_code == "address_space.terminating"


def test_a_change_of_what_somebody_else_changed_is_refused(space: AddressSpace) -> None:
    change(space, if_generation=1)

    with pytest.raises(Conflict) as refusal:
        change(space, "brokered-medium", if_generation=1)

    assert refusal.value.error_code == "generation.changed"


def test_a_type_that_cannot_run_here_any_more_is_refused(cast: Cast, settings: Any) -> None:
    space = domain.space(cast.tenant, "standard")
    settings.STANDARD_SPACES_OFFERED = False

    with pytest.raises(Denied, match="router image"):
        change(space, "standard-medium")
