"""Spaces: admission, deletion with all they hold, withdrawn sending."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Conflict, Denied, Invalid, QuotaExceeded, WaypostError
from controlplane.core.models import AuditEvent, Operation
from controlplane.core.phases import Phase
from tenants.actions import address_spaces, messaging_users, restrictions
from tenants.models import AddressSpace, Broker
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


def create(cast: Cast, name: str = "orders", **changes: Any) -> AddressSpace:
    arguments: dict[str, Any] = {"type": "standard", "space_plan": "standard-small", **changes}
    return address_spaces.create(tenant=cast.tenant, name=name, by=cast.by, **arguments)[0]


def test_create_writes_space_operation_and_audit(cast: Cast) -> None:
    space, operation = address_spaces.create(
        tenant=cast.tenant, name="orders", type="standard", space_plan="standard-small", by=cast.by
    )

    assert (space.phase, space.generation) == (Phase.PENDING, 1)
    assert space.space_plan.key == "standard-small"
    assert (operation.kind, operation.subject_id) == ("address_space.create", space.pk)
    assert operation.tenant_id == cast.tenant.pk
    event = AuditEvent.objects.get(action="address_space.create")
    assert (event.actor, event.after["plan"]) == (cast.by.name, "standard-small")


def test_a_brokered_space_has_its_broker_from_the_start(cast: Cast) -> None:
    brokered = domain.space(cast.tenant, "brokered")

    assert [broker.name for broker in brokered.brokers.all()] == ["broker-0"]
    assert not domain.space(cast.tenant, "standard").brokers.exists()


def test_create_refuses_a_name_that_is_taken(cast: Cast) -> None:
    create(cast)

    with pytest.raises(Conflict, match="Choose another") as refusal:
        create(cast)

    assert refusal.value.error_code == "address_space.exists"


def test_another_tenant_may_have_the_same_name(cast: Cast) -> None:
    create(cast)

    address_spaces.create(
        tenant=cast.other, name="orders", type="standard", space_plan="standard-small", by=SYSTEM
    )

    assert AddressSpace.objects.filter(name="orders").count() == 2


def test_a_name_is_free_again_when_its_bearer_is_gone(cast: Cast) -> None:
    first = create(cast)
    address_spaces.delete(space=first, by=cast.by)
    with pytest.raises(Conflict, match="try again when it is gone"):
        create(cast)
    domain.gone(first)

    assert create(cast).pk != first.pk


@pytest.mark.parametrize(
    ("changes", "error", "code", "fields"),
    [
        ({"name": "Orders"}, Invalid, "address_space.invalid", {"name"}),
        ({"name": "-a"}, Invalid, "address_space.invalid", {"name"}),
        ({"name": "a" * 64}, Invalid, "address_space.invalid", {"name"}),
        ({"name": "", "type": "x"}, Invalid, "address_space.invalid", {"name", "type"}),
        ({"type": "brokered"}, Invalid, "address_space.plan_mismatch", {"plan"}),
        ({"space_plan": "huge"}, Invalid, "space_plan.unknown", {"plan"}),
    ],
)
def test_create_refuses_and_leaves_nothing(
    cast: Cast, changes: dict[str, str], error: type[WaypostError], code: str, fields: set[str]
) -> None:
    with pytest.raises(error) as refusal:
        create(cast, **changes)

    assert refusal.value.error_code == code
    assert set(refusal.value.fields) == fields
    assert not AddressSpace.objects.exists()
    assert not Operation.objects.exists()


def test_create_refuses_a_space_plan_that_the_tenant_may_not_use() -> None:
    cast = domain.cast("free")

    with pytest.raises(Denied, match="it includes: standard-small, brokered-small") as refusal:
        create(cast, space_plan="standard-medium")

    assert refusal.value.error_code == "space_plan.not_included"


@pytest.mark.parametrize(("resource", "used"), [("spaces", 0), ("brokers", 0)])
def test_create_refuses_what_the_tenant_may_not_have(cast: Cast, resource: str, used: int) -> None:
    domain.limit(cast.tenant, resource, 0)

    with pytest.raises(QuotaExceeded) as refusal:
        create(cast, type="brokered", space_plan="brokered-small")

    assert (refusal.value.fields["resource"], refusal.value.fields["used"]) == (resource, used)
    assert not AddressSpace.objects.exists()


def test_create_counts_the_spaces_of_the_tenant_alone(cast: Cast) -> None:
    domain.space(cast.other)
    domain.limit(cast.tenant, "spaces", 1)

    create(cast)
    with pytest.raises(QuotaExceeded):
        create(cast, "more")


def test_create_without_a_plan_subscription_says_what_to_do(cast: Cast) -> None:
    cast.tenant.plan_subscriptions.all().delete()

    with pytest.raises(Conflict, match="has no plan") as refusal:
        create(cast)

    assert refusal.value.error_code == "plan_subscription.missing"


def test_the_number_of_queries_does_not_depend_on_how_many_spaces_exist() -> None:
    cast = domain.cast("business")

    def queries(name: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            create(cast, name)
        return len(captured)

    few = queries("first")
    for number in range(15):
        create(cast, f"more-{number}")

    assert queries("last") == few < 25


def test_delete_marks_the_space_and_all_it_holds(cast: Cast) -> None:
    space = create(cast)
    rows = [space, domain.address(space, "orders"), domain.user(space)]

    operation = address_spaces.delete(space=space, by=cast.by)

    for row in rows:
        row.refresh_from_db()
        assert (row.phase, row.generation, row.deleted_at) == (Phase.TERMINATING, 2, None)
        assert row.deletion_requested_at is not None
    assert (operation.kind, operation.target_generation) == ("address_space.delete", 2)
    assert Broker.objects.filter(space=space).exists()


def test_delete_leaves_other_spaces_alone(cast: Cast) -> None:
    kept = domain.address(create(cast, "kept"), "orders")

    address_spaces.delete(space=create(cast), by=cast.by)

    kept.refresh_from_db()
    assert kept.deletion_requested_at is None


def test_delete_asked_twice_changes_nothing(cast: Cast) -> None:
    space = create(cast)
    first = address_spaces.delete(space=space, by=cast.by)
    space.refresh_from_db()
    requested_at = space.deletion_requested_at

    assert address_spaces.delete(space=space, by=cast.by) == first

    space.refresh_from_db()
    assert (space.generation, space.deletion_requested_at) == (2, requested_at)
    assert AuditEvent.objects.filter(action="address_space.delete").count() == 1


def test_delete_keeps_when_a_leaving_user_was_asked_to_go(cast: Cast) -> None:
    space = create(cast)
    user = domain.user(space)
    messaging_users.revoke(user=user, by=cast.by)
    user.refresh_from_db()
    requested_at = user.deletion_requested_at

    address_spaces.delete(space=space, by=cast.by)

    user.refresh_from_db()
    assert (user.deletion_requested_at, user.generation) == (requested_at, 2)


def test_sending_is_withdrawn_and_restored_once_each(cast: Cast) -> None:
    space = create(cast)

    assert restrictions.withdraw_send(space=space, by=SYSTEM, reason="over quota") is True
    assert restrictions.withdraw_send(space=space, by=SYSTEM, reason="over quota") is False
    space.refresh_from_db()
    assert (space.send_withdrawn, space.generation) == (True, 2)

    assert (
        restrictions.restrict(
            space=space, wanted=restrictions.Restrictions(), by=SYSTEM, reason="raised"
        )
        is True
    )
    assert (
        restrictions.restrict(
            space=space, wanted=restrictions.Restrictions(), by=SYSTEM, reason="raised"
        )
        is False
    )
    space.refresh_from_db()
    assert (space.send_withdrawn, space.generation) == (False, 3)
    reasons = AuditEvent.objects.filter(action__endswith="_send").order_by("id")
    assert list(reasons.values_list("reason", flat=True)) == ["over quota", "raised"]


def test_sending_in_a_leaving_space_is_left_as_it_is(cast: Cast) -> None:
    space = create(cast)
    address_spaces.delete(space=space, by=cast.by)

    assert restrictions.withdraw_send(space=space, by=SYSTEM, reason="late") is False
