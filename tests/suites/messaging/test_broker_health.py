"""The health listener of the broker plugin, on a real broker, as the probes of a cluster ask it."""

import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from proton import Message
from proton.utils import SendException

from controlplane.core.instance_names import Kind
from controlplane.embedded import ports
from tests.support.infra import places
from tests.support.messaging import public_broker
from tests.support.messaging.public_broker import PublicBroker, user
from tests.support.messaging.routing_rig import HOST, free_port
from tests.support.messaging.strangers import has_ended
from tests.support.waiting import eventually
from workers.infra.kinds import REGISTRY
from workers.infra.kubernetes import pods, probes
from workers.infra.local.files import InstanceFiles
from workers.messaging import management
from workers.messaging.brokers.broker_xml import PUBLIC
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress

pytestmark = [pytest.mark.broker, pytest.mark.slow]

ADDRESSES = (DesiredAddress("work", BrokerAddressKind.QUEUE),)
USERS = (user("alice", ("work", "send recv")),)
HEALTH = REGISTRY[Kind.BROKER].health(pods.container_paths(places.cluster()))
assert HEALTH is not None
PROBES = probes.of_container(REGISTRY[Kind.BROKER], HEALTH)
ALIVE, READY = HEALTH.alive, HEALTH.ready


def options(port: int) -> Mapping[str, str]:
    """Return the environment in which a broker opens its health listener at a port."""
    return {"JDK_JAVA_OPTIONS": f"-Dwaypost.health={HOST}:{port}"}


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[PublicBroker]:
    folder = tmp_path_factory.mktemp("probed")
    with public_broker.running(folder, ADDRESSES, USERS, environment=options(port)) as made:
        yield made


def ask(port: int, path: str, timeout: float | None = 5) -> int:
    """Return the status of the answer, as the kubelet reads it.

    Raises:
        httpx.HTTPError: there is none within ``timeout`` seconds.
    """
    return httpx.get(f"http://{HOST}:{port}{path}", timeout=timeout).status_code


def test_a_serving_broker_is_alive_and_ready(broker: PublicBroker, port: int) -> None:
    eventually(lambda: ask(port, READY) == 200, "it is ready")

    assert ask(port, ALIVE) == 200
    assert ask(port, "/") == 404
    assert httpx.post(f"http://{HOST}:{port}{READY}", content=b"x" * 100_000).status_code == 200


def test_one_whose_listener_is_closed_is_alive_and_not_ready(
    broker: PublicBroker, port: int
) -> None:
    acceptor = f"acceptor.{PUBLIC}"
    with management.connected(broker.rigged.target, purpose="test") as client:
        client.call(acceptor, "stop")
        closed = ask(port, READY), ask(port, ALIVE)
        client.call(acceptor, "start")

    assert closed == (503, 200)
    assert ask(port, READY) == 200


def test_one_that_waits_for_its_journal_is_not_ready(broker: PublicBroker, tmp_path: Path) -> None:
    """Another process has the lock of the journal, so this one does not become active."""
    first, port = broker.rigged, free_port()
    files = InstanceFiles(tmp_path / "broker-0")
    layout = replace(
        first.engine_layout,
        config_dir=str(files.config),
        public_port=free_port(),
        internal_port=free_port(),
    )
    second = replace(
        first, engine_layout=layout, files=files, process=None, environment=options(port)
    )
    log = files.log / "output.log"
    try:
        second.launch()
        eventually(lambda: "AMQ221034" in log.read_text(), "it waits for the lock", seconds=60)
        eventually(lambda: ports.is_open(HOST, port), "it listens", seconds=60)

        assert (ask(port, READY), ask(port, ALIVE)) == (503, 200)
    finally:
        second.kill()


def test_one_that_hangs_accepts_connections_and_answers_nothing(
    broker: PublicBroker, port: int
) -> None:
    """So a probe that only connects would pass for as long as the kernel has room."""
    assert broker.rigged.process is not None
    os.kill(broker.rigged.process.pid, signal.SIGSTOP)
    try:
        assert ports.is_open(HOST, broker.rigged.engine_layout.internal_port)
        with pytest.raises(httpx.ReadTimeout):
            ask(port, ALIVE, timeout=0.5)
    finally:
        os.kill(broker.rigged.process.pid, signal.SIGCONT)

    assert ask(port, ALIVE, timeout=PROBES.liveness.timeout_seconds) == 200


def test_half_sent_requests_keep_no_probe_out_and_end(broker: PublicBroker, port: int) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection((HOST, port))) for _ in range(50)]
        for one in silent:
            one.sendall(b"GET /ready HTTP/1.1\r\nHost: ")

        assert ask(port, READY) == 200
        eventually(lambda: all(map(has_ended, silent)), "the broker closes them")

    assert "Exception" not in broker.log


# A third of the processor time of each other thread of the machine. With the lowest priority (19) a
# broker gets less than the CPU request of a pod guarantees, and it depends on what else runs.
_LOW_PRIORITY = 5


@pytest.mark.drill
def test_a_busy_broker_with_little_processor_time_passes_every_probe(
    broker: PublicBroker, port: int
) -> None:
    process = broker.rigged.process
    assert process is not None
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.setpriority(os.PRIO_PROCESS, int(thread), _LOW_PRIORITY)
    with loaded(broker, senders=8) as accepted:
        eventually(lambda: accepted.is_set(), "it is under load")
        answers = [
            ask(port, path, timeout=probe.timeout_seconds)
            for path, probe in [(ALIVE, PROBES.liveness), (READY, PROBES.readiness)]
            for _ in range(50)
        ]

    assert answers == [200] * 100


@contextmanager
def loaded(broker: PublicBroker, senders: int) -> Iterator[threading.Event]:
    """Send large durable messages from several clients; yield an event that the first one sets."""
    accepted, ends = threading.Event(), threading.Event()

    def send() -> None:
        with broker.connected(timeout=60) as connection:
            sender = connection.create_sender("work")
            while not ends.is_set():
                with suppress(SendException):  # the address is full
                    sender.send(Message(b"x" * 50_000, durable=True))
                accepted.set()

    threads = [threading.Thread(target=send) for _ in range(senders)]
    for thread in threads:
        thread.start()
    try:
        yield accepted
    finally:
        ends.set()
        for thread in threads:
            thread.join()
