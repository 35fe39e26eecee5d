"""Messaging users: names, passwords, permissions, revocation."""

from typing import Any

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Conflict, Invalid, QuotaExceeded
from controlplane.core.models import AuditEvent
from controlplane.core.phases import Phase
from tenants import user_rules, verifiers
from tenants.actions import address_spaces, messaging_users
from tenants.models import AddressSpace, MessagingUser
from tests.support import domain
from tests.support.domain import EVERYTHING, PASSWORD, Cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_verifiers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifiers, "SCRAM_ITERATIONS", 1)
    monkeypatch.setattr(verifiers, "ARTEMIS_ITERATIONS", 1)


@pytest.fixture
def space(cast: Cast) -> AddressSpace:
    return domain.space(cast.tenant)


def create(space: AddressSpace, **changes: Any) -> MessagingUser:
    arguments: dict[str, Any] = {
        "name": "app",
        "password": PASSWORD,
        "permissions": EVERYTHING,
        **changes,
    }
    return messaging_users.create(space=space, by=SYSTEM, **arguments)[0]


def refused(field: str, **changes: Any) -> str:
    """Return why the rules refuse ``field``; nothing is read for that."""
    with pytest.raises(Invalid) as refusal:
        create(AddressSpace(), **changes)
    assert refusal.value.error_code == "messaging_user.invalid"
    assert set(refusal.value.fields) == {field}
    return str(refusal.value.fields[field][0])


def test_create_keeps_verifiers_and_never_the_password(cast: Cast, space: AddressSpace) -> None:
    user, operation = messaging_users.create(
        space=space, name="app", password=PASSWORD, permissions=EVERYTHING, by=cast.by
    )

    assert set(user.verifiers) == {"scram-sha-256", "artemis"}
    assert PASSWORD not in str(user.verifiers)
    assert (operation.kind, operation.subject_name) == ("messaging_user.create", "app")
    event = AuditEvent.objects.get(action="messaging_user.create")
    assert event.after == {"permissions": EVERYTHING}
    assert PASSWORD not in str(vars(event))


@pytest.mark.parametrize("name", ["a", "a.b_c-d", "0", "a" * 63])
def test_create_accepts_names(space: AddressSpace, name: str) -> None:
    assert create(space, name=name).name == name


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", "a b", "a" * 64, "a\n", "é"])
def test_create_refuses_illegal_names(name: str) -> None:
    assert "1 to 63" in refused("name", name=name)


@pytest.mark.parametrize("name", ["wp-app", "waypost", "waypost-control"])
def test_create_refuses_reserved_names(name: str) -> None:
    assert "reserved" in refused("name", name=name)


@pytest.mark.parametrize(
    "password", ["", "1234567", "x" * 201, "pässword", "line\nfeed", "nul\0nul1"]
)
def test_create_refuses_passwords(password: str) -> None:
    assert "8 to 200" in refused("password", password=password)


@pytest.mark.parametrize("password", ["12345678", "with a space", "x" * 200, "~!@#$%^&*()"])
def test_create_accepts_passwords(space: AddressSpace, password: str) -> None:
    user = create(space, password=password)

    assert user.verifiers.keys() == {"scram-sha-256", "artemis"}


@pytest.mark.parametrize(
    "pattern", ["#", "*", "orders", "orders/#", "*/new", "a/*/b/#", "a:b", "news::eu"]
)
def test_permissions_accept_patterns(pattern: str) -> None:
    wanted = [{"addresses": [pattern], "operations": ["recv"]}]

    assert user_rules.check_permissions(wanted) == wanted


@pytest.mark.parametrize(
    "pattern",
    ["", "a b", "ord*", "#/a", "a/#/b", "or#", "$management", "a+b", ":a", "a\0b", "x" * 256],
)
def test_permissions_refuse_patterns(pattern: str) -> None:
    wanted = [{"addresses": ["ok", pattern], "operations": ["recv"]}]

    assert "'#' at the end" in refused("permissions[0].addresses", permissions=wanted)


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ("send", "permissions[0]"),
        ({}, "permissions[0]"),
        ({"addresses": ["a"], "operations": ["send"], "more": 1}, "permissions[0]"),
        ({"addresses": ["a"], "operations": ["write"]}, "permissions[0].operations"),
        ({"addresses": ["a"], "operations": []}, "permissions[0].operations"),
        ({"addresses": ["a"], "operations": "send"}, "permissions[0].operations"),
        ({"addresses": [], "operations": ["send"]}, "permissions[0].addresses"),
        ({"addresses": [1], "operations": ["send"]}, "permissions[0].addresses"),
        ({"addresses": ["a"] * 101, "operations": ["send"]}, "permissions[0].addresses"),
    ],
)
def test_permissions_name_the_entry_that_is_wrong(entry: object, field: str) -> None:
    refused(field, permissions=[entry])


def test_permissions_are_bounded() -> None:
    assert "At most 100" in refused("permissions", permissions=EVERYTHING * 101)


def test_permissions_are_stored_in_one_form() -> None:
    wanted = [{"addresses": ["a"], "operations": ["recv", "send", "recv"]}]

    assert user_rules.check_permissions(wanted) == [
        {"addresses": ["a"], "operations": ["send", "recv"]}
    ]


def test_create_refuses_a_name_that_is_taken_until_its_bearer_is_gone(space: AddressSpace) -> None:
    first = create(space)
    with pytest.raises(Conflict, match="Choose another") as refusal:
        create(space)
    assert refusal.value.error_code == "messaging_user.exists"

    messaging_users.revoke(user=first, by=SYSTEM)
    with pytest.raises(Conflict, match="try again when it is gone"):
        create(space)
    domain.gone(first)
    assert create(space).pk != first.pk


def test_create_refuses_what_space_plan_and_tenant_do_not_allow(
    cast: Cast, space: AddressSpace
) -> None:
    plan = space.space_plan
    plan.definition |= {"max_users": 1}
    plan.save()
    create(space)
    with pytest.raises(QuotaExceeded) as refusal:
        create(space, name="more")
    assert refusal.value.fields["resource"] == "space.users"

    domain.limit(cast.tenant, "users", 1)
    with pytest.raises(QuotaExceeded) as refusal:
        create(space, name="more")
    assert refusal.value.fields["resource"] == "users"
    assert MessagingUser.objects.count() == 1


def test_update_changes_what_is_given_alone(cast: Cast, space: AddressSpace) -> None:
    user = create(space)
    before = user.verifiers
    narrower = [{"addresses": ["orders"], "operations": ["recv"]}]

    changed, operation = messaging_users.update(user=user, permissions=narrower, by=cast.by)

    changed.refresh_from_db()
    assert (changed.permissions, changed.verifiers, changed.generation) == (narrower, before, 2)
    assert (operation.kind, operation.target_generation) == ("messaging_user.update", 2)
    event = AuditEvent.objects.get(action="messaging_user.update")
    assert (event.before, event.after) == ({"permissions": EVERYTHING}, {"permissions": narrower})


def test_update_of_the_password_makes_other_verifiers(space: AddressSpace) -> None:
    user = create(space)

    changed, _ = messaging_users.update(user=user, password="another one", by=SYSTEM)

    changed.refresh_from_db()
    assert changed.verifiers != user.verifiers
    assert changed.permissions == EVERYTHING
    event = AuditEvent.objects.get(action="messaging_user.update")
    assert event.after["password"] == "***"
    assert "another one" not in str(vars(event))


def test_update_refuses_a_stale_generation_and_bad_values(space: AddressSpace) -> None:
    user = create(space)

    with pytest.raises(Conflict) as refusal:
        messaging_users.update(user=user, permissions=[], by=SYSTEM, if_generation=2)
    assert refusal.value.error_code == "generation.changed"
    with pytest.raises(Invalid):
        messaging_users.update(user=user, password="short", by=SYSTEM)
    user.refresh_from_db()
    assert user.generation == 1


def test_revoke_asks_for_the_end_once(cast: Cast, space: AddressSpace) -> None:
    user = create(space)

    first = messaging_users.revoke(user=user, by=cast.by)

    assert messaging_users.revoke(user=user, by=cast.by) == first
    user.refresh_from_db()
    assert (user.phase, user.generation, user.deleted_at) == (Phase.TERMINATING, 2, None)
    assert user.deletion_requested_at is not None
    assert AuditEvent.objects.filter(action="messaging_user.revoke").count() == 1


def test_a_revoked_user_and_one_of_a_leaving_space_cannot_change(space: AddressSpace) -> None:
    user, other = create(space), create(space, name="other")
    messaging_users.revoke(user=user, by=SYSTEM)
    with pytest.raises(Conflict) as refusal:
        messaging_users.update(user=user, permissions=[], by=SYSTEM)
    assert refusal.value.error_code == "messaging_user.terminating"

    operation = address_spaces.delete(space=space, by=SYSTEM)
    with pytest.raises(Conflict) as refusal:
        messaging_users.update(user=other, permissions=[], by=SYSTEM)
    assert refusal.value.error_code == "address_space.terminating"
    assert messaging_users.revoke(user=other, by=SYSTEM) == operation
