"""Tenants read who acted, but nothing about operators."""

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from tenants import shown_actors
from tenants.actions import memberships
from tests.support.portal import rows

pytestmark = pytest.mark.django_db


def test_operators_and_deleted_accounts_stay_private_and_members_do_not() -> None:
    world = rows.world()
    memberships.add(tenant=world.other, email=world.staff.email, role="viewer", by=SYSTEM)
    actors = ["user:staff@operator.example", "user:gone@x.example", "user:dev@acme.example",
              "token:wp_ab", "worker", "system"]  # fmt: skip

    names = shown_actors.names(world.tenant, actors)

    assert [names[actor] for actor in actors] == [
        shown_actors.OPERATOR,
        shown_actors.FORMER,
        "dev@acme.example",
        "API token wp_ab",
        shown_actors.AUTOMATIC,
        shown_actors.AUTOMATIC,
    ]
    # An operator who is a member acts as one.
    theirs = shown_actors.names(world.other, actors[:1])
    assert theirs == {actors[0]: "staff@operator.example"}


def test_events_are_found_by_the_actor_that_tenants_see() -> None:
    """By ``operator`` and ``deleted-account``, and never by an email that stays private."""
    world = rows.world()
    actors = ["user:staff@operator.example", "user:gone@x.example", "user:dev@acme.example",
              "token:wp_ab", "worker"]  # fmt: skip
    for tenant in (world.tenant, world.other):
        AuditEvent.objects.bulk_create(
            AuditEvent(tenant_id=tenant.pk, actor=actor, action=f"x.{number}")
            for number, actor in enumerate([*actors, *actors])
        )
    events = AuditEvent.objects.filter(tenant_id=world.tenant.pk, action__startswith="x.")

    def found_by(shown: str) -> set[tuple[str, str]]:
        rows = shown_actors.acted_by(world.tenant, events, shown)
        return set(rows.values_list("actor", "tenant_id"))

    found = {
        shown: found_by(shown)
        for shown in ("operator", "deleted-account", *actors, "user:nobody@x.example")
    }

    mine = {
        "operator": actors[0],
        "deleted-account": actors[1],
        **{actor: actor for actor in actors[2:]},
    }
    assert found == {
        shown: {(mine[shown], world.tenant.pk)} if shown in mine else set() for shown in found
    }
    listed = shown_actors.acted_by(world.tenant, events, "operator")
    assert {event.shown_actor for event in listed} == {"operator"}  # type: ignore[attr-defined]
    assert len(listed) == 2
