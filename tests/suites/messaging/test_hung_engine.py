"""A hung engine shows in the status of its space, and no other space waits for it.

``make bench-live`` measures how soon that is.
"""

import os
import signal
from collections.abc import Iterator

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.phases import Phase
from tenants.actions import address_spaces
from tenants.models import AddressSpace
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
