"""A revoked user's busy connections end soon, and those of others go on."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from proton import ConnectionException, ProtonException

from controlplane.core.audit import SYSTEM
from tenants.actions import address_spaces, messaging_users
from tenants.models import AddressSpace, MessagingUser
from tests.support.messaging import amqp
from tests.support.messaging.auth_process import AuthProcess
from tests.support.reconcile import patience, rows
from tests.support.waiting import eventually
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [
    pytest.mark.router,
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),  # the auth service reads the rows too
]

_CONNECTIONS = 8
_PROMISED_SECONDS = 5


class Busy:
    """A client that sends and receives as fast as it can until its connection ends."""

    def __init__(self, at: tuple[str, int], certificate: str, folder: Path, user: str) -> None:
        folder.mkdir()
        self.turns = 0
        self.ended_at: float | None = None
        self._ends = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=[at, certificate, folder, user], daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self._ends.set()
        self._thread.join(30)

    def _run(self, at: tuple[str, int], certificate: str, folder: Path, user: str) -> None:
        with (
            suppress(ProtonException, OSError),
            amqp.connected_to(at, certificate, folder, user, rows.PASSWORD, timeout=10) as client,
        ):
            sender = client.create_sender("orders", name="out")
            receiver = client.create_receiver("orders", name="in", credit=10)
            while not self._ends.is_set():
                sender.send(amqp.message("x" * 1000))
                receiver.receive(timeout=10)
                receiver.accept()
                self.turns += 1
        self.ended_at = time.monotonic()


@pytest.fixture(params=["brokered", "standard"])
def space(
    real_ports: Ports, auth: AuthProcess, request: pytest.FixtureRequest
) -> Iterator[AddressSpace]:
    made = rows.make_space(rows.make_tenant(), kind=request.param)
    rows.make_address(made, "orders")
    for name in ("alice", "bob"):
        rows.make_user(made, name, ("orders", "send recv"))
    _settle(made, real_ports)
    yield made
    address_spaces.delete(space=made, by=SYSTEM)
    _settle(made, real_ports)


def _settle(space: AddressSpace, ports: Ports) -> None:
    outcome = patience.look(space.id, ports)
    assert isinstance(outcome, Done), outcome
    space.refresh_from_db()


@pytest.mark.drill
def test_a_revoked_user_is_cut_off_under_load(
    space: AddressSpace, real_ports: Ports, tmp_path: Path
) -> None:
    endpoint = space.endpoints.get(name="amqps")
    at, certificate = (endpoint.host, endpoint.port), endpoint.certificate_pem
    bobs = [Busy(at, certificate, tmp_path / f"b{n}", "bob") for n in range(_CONNECTIONS)]
    alices = [Busy(at, certificate, tmp_path / f"a{n}", "alice") for n in range(2)]
    try:
        eventually(lambda: all(client.turns > 5 for client in (*bobs, *alices)), "all are busy")
        messaging_users.revoke(user=MessagingUser.objects.get(space=space, name="bob"), by=SYSTEM)
        revoked_at = time.monotonic()

        _settle(space, real_ports)

        eventually(lambda: all(client.ended_at for client in bobs), "bob's connections end")
        took = max(client.ended_at or 0 for client in bobs) - revoked_at
        assert took <= _PROMISED_SECONDS
        so_far = [(client, client.turns) for client in alices]
        eventually(
            lambda: all(client.turns > turns for client, turns in so_far),
            "alice goes on",
        )
        with (
            pytest.raises(ConnectionException, match="unauthorized-access"),
            amqp.connected(space, tmp_path, "bob", rows.PASSWORD),
        ):
            pass
    finally:
        for client in (*bobs, *alices):
            client.stop()
