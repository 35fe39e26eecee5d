"""The health listener of a router, on both engines, as the probes of a cluster ask it."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import httpx
import pytest
from proton import ConnectionException
from proton.utils import BlockingConnection

from controlplane.core.instance_names import Kind
from controlplane.embedded import ports
from tenants.router_patches import Patch
from tests.support.infra import places
from tests.support.messaging import conformance, routing_rig, strangers
from tests.support.messaging.routing_rig import HOST, Rig
from tests.support.waiting import eventually
from workers.infra.kinds import REGISTRY
from workers.infra.kubernetes import pods, probes
from workers.messaging.routers.config import HEALTH_PATH

pytestmark = [pytest.mark.router, pytest.mark.slow]

PATHS = REGISTRY[Kind.ROUTER].health(pods.container_paths(places.cluster()))
PROBES = probes.of_container(REGISTRY[Kind.ROUTER], PATHS)
AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: amqp\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
FRAME = b"\x82\x88\0\0\0\0"  # of a WebSocket: 8 bytes, masked with zeros
REQUEST = f"GET {HEALTH_PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()


@pytest.fixture(scope="module", params=routing_rig.ENGINES)
def router(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    with conformance.rig(tmp_path_factory.mktemp("router"), request.param) as made:
        made.engine_layout = replace(made.engine_layout, health_port=routing_rig.free_port())
        made.restart()
        yield made


def port_of(router: Rig) -> int:
    port = router.engine_layout.health_port
    assert port is not None
    return port


def ask(router: Rig, path: str = HEALTH_PATH, timeout: float | None = 5) -> int:
    """Return the status of the answer, as the kubelet reads it.

    Raises:
        httpx.HTTPError: there is none within ``timeout`` seconds.
    """
    return httpx.get(f"http://{HOST}:{port_of(router)}{path}", timeout=timeout).status_code


def asked_raw(router: Rig, sent: bytes) -> bytes:
    """Return all that the listener sends to somebody who sends this, until it closes."""
    answer = b""
    with socket.create_connection((HOST, port_of(router)), timeout=60) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        while received := connection.recv(4096):
            answer += received
    return answer


def lines_logged(router: Rig) -> int:
    return len((router.folder / "router.log").read_text().splitlines())


def test_a_serving_router_is_ready_and_alive(router: Rig) -> None:
    assert PATHS is not None
    eventually(lambda: ports.is_open(HOST, port_of(router)), "it listens")

    assert (ask(router, PATHS.ready), ask(router, PATHS.alive)) == (200, 200)
    assert ask(router, "/metrics") == 404
    assert ask(router, "/") == 404


def test_a_probe_leaves_no_line_in_the_log(router: Rig) -> None:
    """A TCP probe of the listener for clients left two or three, every five seconds."""
    before = lines_logged(router)

    assert [ask(router) for _ in range(200)] == [200] * 200

    # A router writes its log late, so the lines of a client that is refused now come after theirs.
    with pytest.raises(ConnectionException):
        router.connect("anna", "wrong")
    eventually(lambda: lines_logged(router) > before, "the refusal is in the log")
    assert lines_logged(router) - before < 200


@pytest.mark.parametrize("sent", [AMQP_HEADER, strangers.SASL_HEADER])
def test_it_speaks_no_amqp(router: Rig, sent: bytes) -> None:
    try:
        answer = asked_raw(router, sent)
    except ConnectionResetError:
        answer = b""

    assert b"AMQP" not in answer
    assert ask(router) == 200


def test_it_carries_no_amqp_over_a_websocket(router: Rig) -> None:
    """A real router agrees to the upgrade, and closes the connection before the first byte."""
    answer = b""
    with socket.create_connection((HOST, port_of(router)), timeout=60) as connection:
        connection.sendall(UPGRADE + FRAME + strangers.SASL_HEADER)
        try:
            while received := connection.recv(4096):
                answer += received
        except ConnectionResetError:
            pass

    assert b"AMQP" not in answer.partition(b"\r\n\r\n")[2]
    assert ask(router) == 200


def test_half_sent_requests_keep_no_probe_out(router: Rig) -> None:
    """A real router serves 32 at once. Network policies let only the node of the pod connect."""
    with ExitStack() as stack:
        for _ in range(30):
            silent = stack.enter_context(socket.create_connection((HOST, port_of(router))))
            silent.sendall(REQUEST[:20])

        assert ask(router) == 200


def test_one_that_hangs_accepts_connections_and_answers_nothing(router: Rig) -> None:
    assert router.process is not None
    os.kill(router.process.pid, signal.SIGSTOP)
    try:
        assert ports.is_open(HOST, router.engine_layout.internal_port)
        with pytest.raises(httpx.ReadTimeout):
            ask(router, timeout=0.5)
    finally:
        os.kill(router.process.pid, signal.SIGCONT)

    assert ask(router, timeout=PROBES.liveness.timeout_seconds) == 200


# A third of the processor time of each other thread of the machine; see test_broker_health.
_LOW_PRIORITY = 5


@pytest.mark.drill
def test_a_busy_router_with_little_processor_time_passes_every_probe(router: Rig) -> None:
    assert router.process is not None
    for thread in os.listdir(f"/proc/{router.process.pid}/task"):
        os.setpriority(os.PRIO_PROCESS, int(thread), _LOW_PRIORITY)

    with loaded(router, pairs=6):
        answers = [
            ask(router, timeout=probe.timeout_seconds)
            for probe in (PROBES.liveness, PROBES.readiness)
            for _ in range(50)
        ]

    assert answers == [200] * 100


@contextmanager
def loaded(router: Rig, pairs: int) -> Iterator[None]:
    """Exchange messages between several senders and receivers, from before the block to its end."""
    ends = threading.Event()
    under_way = threading.Barrier(pairs + 1)
    connections = [(conformance.anna(router), conformance.anna(router)) for _ in range(pairs)]

    def exchange(sending: BlockingConnection, receiving: BlockingConnection) -> None:
        receiver = receiving.create_receiver("calls", credit=1000)
        sender = sending.create_sender("calls")
        routing_rig.deliver(sender, receiver, "first")
        under_way.wait()
        while not ends.is_set():
            routing_rig.post(sender, "x" * 1000)
            routing_rig.settle_down(receiving, seconds=0)

    threads = [threading.Thread(target=exchange, args=pair) for pair in connections]
    for thread in threads:
        thread.start()
    under_way.wait()
    try:
        yield
    finally:
        ends.set()
        for thread in threads:
            thread.join()
        router.close_clients()


def test_probes_cost_no_memory(router: Rig) -> None:
    """Without our patch a request keeps 209 bytes: 10,000 take half a day and keep 2 MB."""
    router.require(Patch.HEALTH_STATE)
    for _ in range(1000):  # what it allocates once
        asked_raw(router, REQUEST)
    before = resident_bytes(router)

    for _ in range(10_000):
        asked_raw(router, REQUEST)

    assert resident_bytes(router) - before < 1_000_000


def resident_bytes(router: Rig) -> int:
    assert router.process is not None
    with open(f"/proc/{router.process.pid}/status") as status:
        (line,) = [line for line in status if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024
