"""Connections of clients are listed and closed, and a killed engine shows, on real engines.

The times are printed (``pytest -s``); docs/performance.md has those of one machine.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from proton import ProtonException
from proton.utils import BlockingSender

from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from controlplane.core.phases import READY, Phase, find_condition
from tenants import queries
from tenants.actions import address_spaces, connections
from tenants.models import AddressSpace, ClientConnection, InstanceConnections
from tenants.queries import ConnectionFilter
from tests.support.messaging import amqp
from tests.support.messaging.auth_process import AuthProcess
from tests.support.reconcile import patience, rows
from tests.support.sessions import listed
from tests.support.waiting import eventually
from workers import disconnecting
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
SERVING = {"brokered": "broker-0", "standard": "router-0"}


@pytest.fixture(params=["brokered", "standard"])
def space(
    request: pytest.FixtureRequest, real_ports: Ports, auth: AuthProcess
) -> Iterator[AddressSpace]:
    made = rows.make_space(rows.make_tenant(), kind=request.param)
    rows.make_address(made, "orders")
    rows.make_user(made, "alice", ("#", "send recv"))
    rows.make_user(made, "bob", ("#", "send recv"))
    settle(made, real_ports)
    yield made
    address_spaces.delete(space=made, by=SYSTEM)
    settle(made, real_ports)
    assert not ClientConnection.objects.exists()
    assert not InstanceConnections.objects.exists()


def settle(space: AddressSpace, ports: Ports) -> None:
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


def sample(space: AddressSpace, ports: Ports) -> list[ClientConnection]:
    """One sampling cycle, as the periodic task runs it; return what is listed then."""
    product = readers.product(ports.infra, ports.identities_dir, ports.clock)
    silence.record(sampling.sample([space], product), ports.clock())
    return list(queries.list_connections(space, ConnectionFilter()))


def close(space: AddressSpace, ports: Ports, **which: object) -> Operation:
    operation = connections.close(space=space, by=SYSTEM, **which)  # type: ignore[arg-type]
    disconnecting.run(operation.subject_id, ports)
    operation.refresh_from_db()
    return operation


def is_open(sender: BlockingSender) -> bool:
    try:
        sender.send(amqp.message("still here"))
    except (ProtonException, OSError):
        return False
    return True


def test_connections_are_listed_and_closed(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    with (
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as first,
        amqp.connected(space, tmp_path, "alice", rows.PASSWORD) as second,
        amqp.connected(space, tmp_path, "bob", rows.PASSWORD) as other,
    ):
        # A broker knows the user of a connection from its first session on.
        senders = [client.create_sender("orders") for client in (first, second, other)]
        senders[0].send(amqp.message("one"))
        found = sample(space, real_ports)
        mine = [row for row in found if row.sent == 1]
        summary = queries.list_instance_connections(space).get(instance=SERVING[space.type])
        senders[0].close()
        senders[0] = first.create_sender("orders")
        for body in ("two", "three"):
            senders[0].send(amqp.message(body))
        (grown,) = (row for row in sample(space, real_ports) if row.name == mine[0].name)

        closed = close(space, real_ports, ids=[mine[0].name, f"{SERVING[space.type]}.no-such"])
        was_closed = not is_open(senders[0])
        stayed = is_open(senders[1]) and is_open(senders[2])
        again = close(space, real_ports, ids=[mine[0].name])  # it has ended: nothing is closed
        of_alice = close(space, real_ports, user="alice")
        rest = (is_open(senders[1]), is_open(senders[2]))
        left = sample(space, real_ports)

    # Nothing of Waypost's own: neither the sampler, nor probes, nor routers at brokers.
    assert [row.messaging_user for row in found] == ["alice", "alice", "bob"]
    assert summary.total == summary.listed == 3
    assert (mine[0].links, mine[0].sent, mine[0].protocol) == (1, 1, "AMQP")
    assert all((mine[0].container, mine[0].remote_host, mine[0].opened_at))
    # A router counts the messages of open links, and a broker those of the whole connection.
    assert grown.sent == (3 if space.type == "brokered" else 2)
    assert (grown.sent_per_second or 0) > 0
    assert grown.received_per_second == 0
    assert {row.product for row in found} == {amqp.PRODUCT}
    assert {row.tls.partition(".")[0] for row in found} == {"TLSv1"}
    assert [closed.state, again.state, of_alice.state] == ["Succeeded"] * 3
    assert was_closed
    assert stayed
    assert rest == (False, True)
    assert [row.messaging_user for row in left] == ["bob"]


@pytest.mark.drill
def test_killed_engine_shows_and_its_recovery_too(space: AddressSpace, real_ports: Ports) -> None:
    namespace = space_rows.load(space, now=real_ports.clock(), full=False).namespace
    engines = listed(real_ports.infra, namespace)
    pids = [int(one.boot.rsplit("-", 1)[1]) for one in engines if one.name == "broker-0"]

    os.kill(pids[0], signal.SIGKILL)
    killed_at = time.monotonic()
    sample(space, real_ports)
    space.refresh_from_db()
    due = space.silent_since is not None and space.id in loop.list_due(real_ports)
    loop.reconcile(space.id, real_ports, budget_seconds=0)
    down = AddressSpace.objects.get(pk=space.pk)
    shown = time.monotonic() - killed_at
    address = down.addresses.get()

    def recovered() -> bool:
        loop.reconcile(space.id, real_ports)
        sample(space, real_ports)
        space.refresh_from_db()
        return space.phase == Phase.ACTIVE and space.silent_since is None

    eventually(recovered, "the space is Active again", seconds=120)
    back = time.monotonic() - killed_at
    print(f"{space.type}: down shown after {shown:.1f} s, Active after {back:.1f} s")  # noqa: T201

    assert due
    assert down.phase != Phase.ACTIVE
    assert address.phase != Phase.ACTIVE
    for row in (down, address):
        ready = find_condition(row.conditions, READY)
        assert ready is not None
        assert ready["status"] == "False"
