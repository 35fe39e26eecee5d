"""kill -9 under load, five times each: what was accepted is never lost, and traffic comes back.

The figures are printed (``pytest -s``); docs/performance.md has those of one machine.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tenants.models import AddressSpace
from tests.support.messaging import routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.messaging.lasting_traffic import Traffic
from tests.support.reconcile import patience, rows
from tests.support.sessions import listed
from tests.support.waiting import eventually
from workers.reconcile import space_rows
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.drill,
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("router_engine", routing_rig.ENGINES),
]

ROUNDS = 5
BETWEEN = 200  # messages between two kills


def make_space(ports: Ports, size: str) -> AddressSpace:
    made = rows.make_space(rows.make_tenant(), kind="standard", size=size)
    rows.make_address(made, "orders", "queue")
    rows.make_user(made, "alice", ("#", "send recv"))
    outcome = patience.look(made.id, ports)
    assert isinstance(outcome, Done), outcome
    return made


def kill(ports: Ports, space: AddressSpace, name: str) -> None:
    """As ``kill -9``, once it runs; its supervisor starts it again."""
    namespace = space_rows.load(space, now=ports.clock(), full=False).namespace

    def pid() -> int:
        found = listed(ports.infra, namespace)
        return next(
            int(instance.boot.rsplit("-", 1)[1]) for instance in found if instance.name == name
        )

    eventually(lambda: pid() > 0, f"{name} runs")
    os.kill(pid(), signal.SIGKILL)


def count_losses(
    space: AddressSpace, folder: Path, what: str, strike: Callable[[Traffic], None]
) -> int:
    """Strike five times under load; return how many accepted messages never came."""
    traffic = Traffic(space, folder)
    traffic.start()
    pauses = []
    for _ in range(ROUNDS):
        traffic.carry(BETWEEN)
        strike(traffic)
        pauses.append(traffic.seconds_to_the_next_accepted())
    traffic.finish()
    lost = set(traffic.accepted) - set(traffic.received)
    print(  # noqa: T201
        f"{what}: {len(traffic.accepted)} accepted, {len(lost)} lost, {traffic.duplicates} twice, "
        f"next accepted after {max(pauses):.1f} s at most, longest pause "
        f"{traffic.longest_pause:.1f} s"
    )
    return len(lost)


@pytest.mark.parametrize("instance", ["router-0", "broker-0"])
def test_an_instance_of_a_space_is_killed(
    auth: AuthProcess, real_ports: Ports, router_engine: str, tmp_path: Path, instance: str
) -> None:
    space = make_space(real_ports, "small")

    def strike(_: Traffic) -> None:
        kill(real_ports, space, instance)

    assert count_losses(space, tmp_path, f"{router_engine}, {instance}", strike) == 0


def test_one_router_of_three_is_killed(
    auth: AuthProcess, real_ports: Ports, router_engine: str, tmp_path: Path
) -> None:
    """Of the development router a space has one, whatever its plan."""
    space = make_space(real_ports, "xlarge")

    def strike(_: Traffic) -> None:
        kill(real_ports, space, "router-0")

    assert count_losses(space, tmp_path, f"{router_engine}, one of its routers", strike) == 0


def test_the_auth_service_is_killed(
    auth: AuthProcess, real_ports: Ports, router_engine: str, tmp_path: Path
) -> None:
    space = make_space(real_ports, "small")

    def strike(traffic: Traffic) -> None:
        auth.kill()
        traffic.log_in_again()
        auth.start()

    assert count_losses(space, tmp_path, f"{router_engine}, auth service", strike) == 0
