"""Two hundred clients log in at once: each is let in, and what was connected stays."""

from collections.abc import Iterator
from typing import Any

import pytest
from proton import handlers

from tests.support.messaging import broker_rig
from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.routing_rig import Rig, known
from tests.support.waiting import eventually
from workers.messaging import tls
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress
from workers.messaging.routers import client
from workers.messaging.routers.desired import OnBroker, RoutedAddress, RouterAddressKind

pytestmark = [pytest.mark.router, pytest.mark.broker, pytest.mark.slow, pytest.mark.drill]

CLIENTS = 200
ORDERS = RoutedAddress("orders", RouterAddressKind.QUEUE, [OnBroker("broker-0")])


@pytest.fixture(scope="module", params=rigs.ENGINES)
def router(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    with rigs.rig(tmp_path_factory.mktemp("storm"), request.param) as made:
        made.auth.set_users(known("anna", "secret", {"#": ("send", "recv")}), addresses=["orders"])
        held = [DesiredAddress("orders", BrokerAddressKind.QUEUE)]
        with broker_rig.brokers(made, 1, held) as running:
            made.start([ORDERS], [broker.at for broker in running])
            yield made


class Storm(handlers.MessagingHandler):
    """Opens every connection before it waits for any; counts who got in, and closes them all."""

    def __init__(self, router: Rig, mechanism: str) -> None:
        super().__init__()
        self.opened = 0
        self.errors: list[str] = []
        self._router, self._mechanism = router, mechanism
        self._connections: list[Any] = []

    def on_start(self, event: Any) -> None:
        """Dial with every client."""
        domain = self._router.domain()
        for _ in range(CLIENTS):
            self._connections.append(
                event.container.connect(
                    f"amqps://{rigs.HOST}:{self._router.engine_layout.public_port}",
                    ssl_domain=domain,
                    user="anna",
                    password="secret",
                    allowed_mechs=self._mechanism,
                    reconnect=False,
                )
            )

    def on_connection_opened(self, event: Any) -> None:
        """Count; the last one ends the storm."""
        self.opened += 1
        self._end_with_the_last()

    def on_transport_error(self, event: Any) -> None:
        """Keep why a client was not let in."""
        self.errors.append(str(event.transport.condition))
        self._end_with_the_last()

    def on_connection_closed(self, event: Any) -> None:
        """End the socket, so that nothing waits for the router to do it."""
        event.transport.close_tail()

    def _end_with_the_last(self) -> None:
        if self.opened + len(self.errors) == CLIENTS:
            for connection in self._connections:
                connection.close()


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "PLAIN"])
def test_two_hundred_clients_log_in_at_once(router: Rig, mechanism: str) -> None:
    eventually(lambda: len(broker_connections(router)) == 2, "the broker is dialed")
    before = broker_connections(router)
    storm = Storm(router, mechanism)

    tls.Container(storm).run()

    assert (storm.opened, storm.errors) == (CLIENTS, [])
    assert broker_connections(router) == before


def broker_connections(router: Rig) -> set[str]:
    """Return the identities of the router's own connections to its brokers."""
    with client.connected(router.target, purpose="test") as asking:
        rows = asking.query("connection", "identity", "role")
    return {str(row["identity"]) for row in rows if row["role"] == "route-container"}
