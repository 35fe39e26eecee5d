"""Several real routers of one space, joined over mutual TLS, behind one auth service."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from controlplane.core.instance_names import InstanceId, Kind
from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.routing_rig import Rig
from tests.support.waiting import eventually
from workers.messaging.routers import driver
from workers.messaging.routers.desired import BrokerAt, PeerAt, RoutedAddress


@contextmanager
def mesh(folder: Path, count: int, engine: str = "qdrouterd") -> Iterator[list[Rig]]:
    """Yield ``count`` rigs that share authorities and users; none is started yet."""
    with rigs.rig(_folder(folder, 0), engine) as first, ExitStack() as stack:
        first.engine_layout = replace(first.engine_layout, mesh_port=rigs.free_port())
        members = [first, *(_member(first, _folder(folder, n), n) for n in range(1, count))]
        for member in members[1:]:
            stack.callback(member.kill)
            stack.callback(member.close_clients)
        yield members


def start(
    members: Sequence[Rig],
    addresses: Sequence[RoutedAddress],
    brokers: Sequence[BrokerAt] = (),
    *,
    all_lead: bool = True,
) -> None:
    """Start every router; return once each shows the others and holds what it should."""
    for number, member in enumerate(members):
        member.desired = replace(
            member.desired,
            leads=all_lead or number == 0,
            peers=[
                PeerAt(member.desired.name, rigs.HOST, member.engine_layout.mesh_port or 0)
                for member in members[:number]
            ],
        )
        member.start(addresses, brokers)
    eventually(lambda: is_joined(members), "the routers are joined", seconds=30)


def is_joined(members: Sequence[Rig]) -> bool:
    """Return whether every router dials its peers with success and has nothing pending."""
    found = [driver.converge(member.target, member.desired) for member in members]
    return not any(converged.unjoined or converged.pending for converged in found)


def _folder(folder: Path, number: int) -> Path:
    made = folder / InstanceId(Kind.ROUTER, number).name
    made.mkdir()
    return made


def _member(first: Rig, folder: Path, number: int) -> Rig:
    engine_layout = replace(
        first.engine_layout,
        config_dir=str(folder),
        public_port=rigs.free_port(),
        internal_port=rigs.free_port(),
        mesh_port=rigs.free_port(),
    )
    desired = replace(first.desired, name=InstanceId(Kind.ROUTER, number).name)
    return replace(
        first,
        folder=folder,
        engine_layout=engine_layout,
        desired=desired,
        process=None,
        connections=[],
    )
