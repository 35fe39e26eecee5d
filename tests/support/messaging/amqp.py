"""A plain AMQP client for tests: what a tenant's program would do, over TLS."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from proton import Message, SSLDomain
from proton.utils import BlockingConnection, BlockingReceiver

from tenants.models import AddressSpace
from workers.messaging import management, tls

# What a client library says about itself when it connects, as rhea and Qpid JMS do.
PROPERTIES = {"product": "till", "version": "1.2"}
PRODUCT = "till 1.2"


@contextmanager
def connected(
    space: AddressSpace,
    folder: Path,
    user: str,
    password: str,
    timeout: float = 60,
    endpoint_name: str = "amqps",
) -> Iterator[BlockingConnection]:
    """Yield a connection to the space's endpoint, verified against its certificate."""
    endpoint = space.endpoints.get(name=endpoint_name)
    at = (endpoint.host, endpoint.port)
    with connected_to(
        at, endpoint.certificate_pem, folder, user, password, timeout=timeout
    ) as connection:
        yield connection


@contextmanager
def connected_to(
    at: tuple[str, int],
    certificate_pem: str,
    folder: Path,
    user: str,
    password: str,
    *,
    timeout: float,
    container: str = "",
) -> Iterator[BlockingConnection]:
    """Yield a connection to a host and port; ``container`` is its id, or a new one."""
    reactor = tls.Container()
    reactor.container_id = container or reactor.container_id
    authority = folder / f"{at[1]}.pem"
    authority.write_text(certificate_pem)
    domain = SSLDomain(SSLDomain.MODE_CLIENT)
    domain.set_trusted_ca_db(str(authority))
    domain.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
    connection = BlockingConnection(
        f"amqps://{at[0]}:{at[1]}",
        timeout=timeout,
        container=reactor,
        user=user,
        password=password,
        ssl_domain=domain,
        allowed_mechs="PLAIN",
        reconnect=False,
        properties=PROPERTIES,
    )
    try:
        yield connection
    finally:
        management.close_quietly(connection)  # the peer may be gone, and is not waited for


def message(body: str) -> Message:
    return Message(body=body, durable=True)


def send(connection: BlockingConnection, address: str, *bodies: str) -> None:
    sender = connection.create_sender(address)
    for body in bodies:
        sender.send(message(body))
    sender.close()


def receive(connection: BlockingConnection, address: str, count: int) -> list[str]:
    receiver = connection.create_receiver(address, credit=count)
    bodies = []
    for _ in range(count):
        bodies.append(receive_body(receiver, timeout=10))
        receiver.accept()
    receiver.close()
    return [str(body) for body in bodies]


def receive_body(receiver: BlockingReceiver, timeout: float = 60) -> Any:
    """Receive one message and return its body, as bytes if it is binary.

    proton's view of a binary body reads the message's own memory, and shows whatever that memory
    holds next once the message is gone.
    """
    received = receiver.receive(timeout=timeout)
    body: Any = received.body
    return bytes(body) if isinstance(body, memoryview) else body
