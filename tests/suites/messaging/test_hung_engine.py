"""A hung or killed engine shows in the status of its space, and no other space waits for it.

``make bench-live`` measures how soon that is.
"""

import os
import signal
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from controlplane.core.audit import SYSTEM
from controlplane.core.phases import Phase
from tenants.actions import address_spaces, memberships
from tenants.models import AddressSpace, Role, User
from tests.support.messaging.auth_process import AuthProcess
from tests.support.reconcile import patience, rows
from tests.support.sessions import listed
from tests.support.waiting import eventually
from workers.metering import readers, sampling, silence
from workers.reconcile import loop, space_rows
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.drill,
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def spaces(real_ports: Ports, auth: AuthProcess) -> Iterator[list[AddressSpace]]:
    """A brokered and a standard space, both Active."""
    tenant = rows.make_tenant()
    made = [rows.make_space(tenant, kind, kind) for kind in ("brokered", "standard")]
    for space in made:
        rows.make_address(space, "orders")
        settle(space, real_ports)
    yield made
    for space in made:
        address_spaces.delete(space=space, by=SYSTEM)
        settle(space, real_ports)


def settle(space: AddressSpace, ports: Ports) -> None:
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def pid_of(space: AddressSpace, ports: Ports, name: str) -> int:
    namespace = space_rows.load(space, now=ports.clock(), full=False).namespace
    (one,) = [one for one in listed(ports.infra, namespace) if one.name == name]
    return int(one.boot.rsplit("-", 1)[1])


def cycle(spaces: list[AddressSpace], ports: Ports) -> dict[str, sampling.Sampled]:
    """One sampling cycle and the passes that it makes due, as the periodic task runs them."""
    product = readers.product(ports.infra, ports.identities_dir, ports.clock)
    sampled = sampling.sample(spaces, product)
    for space_id in silence.record(sampled, ports.clock()):
        loop.reconcile(space_id, ports, budget_seconds=0)
    for space in spaces:
        space.refresh_from_db()
    return {one.space_id: one for one in sampled}


@pytest.mark.parametrize(("kind", "instance"), [("brokered", "broker-0"), ("standard", "router-0")])
def test_engine_that_does_not_answer_shows_and_so_does_its_return(
    spaces: list[AddressSpace],
    real_ports: Ports,
    kind: str,
    instance: str,
) -> None:
    (space,) = [one for one in spaces if one.type == kind]
    (other,) = [one for one in spaces if one.type != kind]
    pid = pid_of(space, real_ports, instance)
    assert space.phase == Phase.ACTIVE

    os.kill(pid, signal.SIGSTOP)
    sampled = cycle(spaces, real_ports)
    seen = (space.phase, space.silent_since)
    os.kill(pid, signal.SIGCONT)

    def recovered() -> bool:
        loop.reconcile(space.id, real_ports)
        cycle([space], real_ports)
        return space.phase == Phase.ACTIVE and space.silent_since is None

    eventually(recovered, "the space is Active again", seconds=120)

    assert seen[0] != Phase.ACTIVE
    assert seen[1] is not None
    assert sampled[space.id].silent == {instance}
    assert sampled[other.id].is_applied
    assert not sampled[other.id].silent
    assert other.phase == Phase.ACTIVE
    assert pid_of(space, real_ports, instance) == pid  # nobody restarted it


def page_of(space: AddressSpace) -> str:
    """Return the portal's page of the space, as a member sees it."""
    email = "reader@acme.test"
    member = User.objects.filter(email=email).first()
    if member is None:
        member = User.objects.create_user(email, email)
        memberships.add(tenant=space.tenant, email=email, role=Role.VIEWER, by=SYSTEM)
    client = Client()
    client.force_login(member)
    url = reverse("console:space", args=[space.tenant.slug, space.name])
    return client.get(url).content.decode()


def test_page_never_says_active_while_a_broker_is_killed(
    spaces: list[AddressSpace], real_ports: Ports
) -> None:
    (space,) = [one for one in spaces if one.type == "brokered"]
    before = page_of(space)

    os.kill(pid_of(space, real_ports, "broker-0"), signal.SIGKILL)
    cycle([space], real_ports)
    down = page_of(space)

    def recovered() -> bool:
        loop.reconcile(space.id, real_ports)
        cycle([space], real_ports)
        return space.phase == Phase.ACTIVE

    eventually(recovered, "the space is Active again", seconds=120)

    for page in (before, page_of(space)):
        assert page.count(">Active<") == 2  # the space and its address
        assert "Last test message:" in page
    assert ">Active<" not in down
    assert "Ready for messages" not in down
    assert "Last test message that went through:" in down
