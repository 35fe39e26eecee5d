"""Passes over one resource: idempotent, killed anywhere, and only of what the resource created."""

from dataclasses import replace
from typing import Any

import pytest

from controlplane.core.errors import Conflict
from tests.support.custom_resources.fakes import Clock, FakeApi, FakeSecrets, Killed, resource
from workers.custom_resources import passes
from workers.custom_resources.credentials import SecretTaken
from workers.custom_resources.kinds import (
    ADDRESS,
    ADDRESS_SPACE,
    KINDS,
    MESSAGING_USER,
    ResourceKind,
)
from workers.custom_resources.passes import ObjectExists, ObjectGoing, TenantChanged
from workers.custom_resources.resource import Note, Resource
from workers.infra.secret_port import StoredSecret

GRANTS = [{"addresses": ["a"], "operations": ["send"]}]
SPECS: dict[str, dict[str, Any]] = {
    "AddressSpace": {"type": "brokered", "plan": "small"},
    "Address": {"space": "orders", "address": "jobs/now", "type": "queue", "plan": "small"},
    "MessagingUser": {"space": "orders", "permissions": GRANTS},
}
SPACE_PATH = "/address-spaces/orders"


def made(kind: ResourceKind, **more: Any) -> Resource:
    return resource(kind, **{**SPECS[kind.kind], **more})


def world(kind: ResourceKind, clock: Clock | None = None) -> tuple[FakeApi, FakeSecrets]:
    clock = clock or Clock()
    return FakeApi(kind.subject, clock), FakeSecrets(clock)


def with_note(found: Resource, note: Note) -> Resource:
    return replace(found, note=note)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize("kill_after", [1, 2, 3])
@pytest.mark.parametrize("forgets", [True, False])
def test_a_pass_killed_anywhere_creates_one_object_and_owns_it(
    kind: ResourceKind, kill_after: int, forgets: bool
) -> None:
    """The first pass is killed after its n-th effect; the next ones know nothing of it."""
    api, store = world(kind, Clock(kill_after=kill_after))
    wanted = made(kind)

    for _ in range(4):
        try:
            result = passes.apply(wanted, api, store)
        except Killed:
            continue
        if not forgets:
            wanted = with_note(wanted, result.note)

    assert api.created == 1
    assert result.note.created
    assert result.shown is not None
    assert result.note.id == result.shown["id"]
    if kind is MESSAGING_USER:
        assert api.passwords[-1] == store.stored["shop", "orders"].values["password"]


@pytest.mark.parametrize("kind", [ADDRESS_SPACE, MESSAGING_USER], ids=lambda kind: kind.kind)
def test_a_second_pass_changes_nothing(kind: ResourceKind) -> None:
    api, store = world(kind)
    wanted = made(kind)

    first = passes.apply(wanted, api, store)
    again = passes.apply(with_note(wanted, first.note), api, store)

    assert again == first
    assert api.changes == []
    assert store.written == (kind is MESSAGING_USER)


def test_what_differs_is_put_back() -> None:
    api, store = world(ADDRESS_SPACE)
    wanted = with_note(made(ADDRESS_SPACE), passes.apply(made(ADDRESS_SPACE), api, store).note)

    api.objects[SPACE_PATH]["plan"] = "large"
    passes.apply(wanted, api, store)
    del api.objects[SPACE_PATH]
    result = passes.apply(wanted, api, store)

    assert api.changes == [{"plan": "small"}]
    assert result.note == Note("acme", "id-2", created=True)


def test_labels_are_put_back_and_absent_ones_left_alone() -> None:
    api, store = world(ADDRESS_SPACE)
    first = passes.apply(made(ADDRESS_SPACE), api, store)
    labeled = replace(made(ADDRESS_SPACE), note=first.note)
    labeled = replace(labeled, spec={**labeled.spec, "labels": {"cost-center": "7"}})

    api.objects[SPACE_PATH]["labels"] = {"team": "shop"}
    passes.apply(with_note(made(ADDRESS_SPACE), first.note), api, store)
    assert api.changes == []
    passes.apply(labeled, api, store)

    assert api.changes == [{"labels": {"cost-center": "7"}}]


def test_a_new_password_in_the_secret_becomes_the_users() -> None:
    api, store = world(MESSAGING_USER)
    first = passes.apply(made(MESSAGING_USER), api, store)
    mine = store.stored["shop", "orders"]
    store.stored["shop", "orders"] = StoredSecret(
        {**mine.values, "password": "another-one"}, "v9", mine.owners
    )

    again = passes.apply(with_note(made(MESSAGING_USER), first.note), api, store)
    passes.apply(with_note(made(MESSAGING_USER), again.note), api, store)

    assert api.passwords == [mine.values["password"], "another-one"]


def test_the_endpoint_joins_the_secret_without_a_new_password() -> None:
    api, store = world(MESSAGING_USER)
    first = passes.apply(made(MESSAGING_USER), api, store)
    endpoint = {"host": "mq", "port": 5671, "certificate_pem": "PEM"}
    api.objects[SPACE_PATH] = {"endpoints": [endpoint], "generation": 1}

    again = passes.apply(with_note(made(MESSAGING_USER), first.note), api, store)

    values = store.stored["shop", "orders"].values
    assert (values["host"], values["port"], values["ca.crt"]) == ("mq", "5671", "PEM")
    assert len(api.passwords) == 1
    assert again.note.password_version == "v2"


def test_a_secret_of_somebody_else_is_left_alone() -> None:
    """Such as the one with the tenant's token, whose name anybody may write into a resource."""
    api, store = world(MESSAGING_USER)
    theirs = StoredSecret({"token": "secret"}, "v1")
    store.stored["shop", "waypost-token"] = theirs

    with pytest.raises(SecretTaken):
        passes.apply(made(MESSAGING_USER, secretName="waypost-token"), api, store)

    assert store.stored == {("shop", "waypost-token"): theirs}
    assert api.created == 0


def test_an_object_of_somebody_else_needs_the_word_adopt() -> None:
    api, store = world(ADDRESS_SPACE)
    api.place(SPACE_PATH, {"type": "brokered", "plan": "large"})

    with pytest.raises(ObjectExists):
        passes.apply(made(ADDRESS_SPACE), api, store)
    assert api.changes == []
    adopted = passes.apply(made(ADDRESS_SPACE, adopt=True), api, store)

    assert adopted.note == Note("acme", "id-1", created=False)
    assert api.changes == [{"plan": "small"}]


def test_an_adopted_space_of_another_type_is_refused() -> None:
    api, store = world(ADDRESS_SPACE)
    api.place(SPACE_PATH, {"type": "standard", "plan": "large"})

    with pytest.raises(Conflict) as refused:
        passes.apply(made(ADDRESS_SPACE, adopt=True), api, store)

    assert refused.value.error_code == "address_space.fixed_at_creation"
    assert api.changes == []


def test_an_object_that_goes_is_waited_for() -> None:
    api, store = world(ADDRESS)
    note = passes.apply(made(ADDRESS), api, store).note
    api.objects[f"{SPACE_PATH}/addresses/jobs%2Fnow"]["deletion_requested_at"] = "now"

    with pytest.raises(ObjectGoing):
        passes.apply(with_note(made(ADDRESS), note), api, store)


def test_another_tenant_s_token_reaches_nothing() -> None:
    api, store = world(ADDRESS_SPACE)
    wanted = with_note(made(ADDRESS_SPACE), Note("other", "id-1", created=True))

    for act in (passes.apply, passes.remove):
        with pytest.raises(TenantChanged):
            act(wanted, api, store)

    assert (api.created, api.removed) == (0, [])


@pytest.mark.parametrize(
    ("policy", "path"),
    [("Delete", "?volumes=delete"), ("DeleteKeepingMessages", "?volumes=keep")],
)
def test_a_space_is_deleted_as_its_policy_says(policy: str, path: str) -> None:
    api, store = world(ADDRESS_SPACE)
    wanted = made(ADDRESS_SPACE, deletionPolicy=policy)
    wanted = with_note(wanted, passes.apply(wanted, api, store).note)

    done = [passes.remove(wanted, api, store) for _ in range(2)]
    del api.objects[SPACE_PATH]

    assert done == [False, False]
    assert api.removed == [f"{SPACE_PATH}{path}"]
    assert passes.remove(wanted, api, store)


@pytest.mark.parametrize(
    "note", [Note("acme", "id-1"), Note("acme", "id-0", created=True), Note("acme")]
)
def test_a_deletion_leaves_what_the_resource_did_not_create(note: Note) -> None:
    """Adopted; another one of the same name; never noted."""
    api, store = world(ADDRESS_SPACE)
    api.place(SPACE_PATH, {"type": "brokered", "plan": "small"})

    assert passes.remove(with_note(made(ADDRESS_SPACE), note), api, store)
    assert api.removed == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_deletion_after_a_killed_creation_finds_the_object(kind: ResourceKind) -> None:
    effects = 2 if kind is MESSAGING_USER else 1  # its Secret comes first
    api, store = world(kind, Clock(kill_after=effects))
    with pytest.raises(Killed):
        passes.apply(made(kind), api, store)

    assert not passes.remove(made(kind), api, store)
    assert len(api.removed) == 1
