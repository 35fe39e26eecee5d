"""The broker's image, made from the installed Artemis: it starts as the cluster starts it."""

import ctypes
import json
import platform
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from proton.reactor import Selector
from proton.utils import LinkDetached

from tests.support.images import builder, inside
from tests.support.images.builder import Builder
from tests.support.images.inside import ANY_USER, Container
from tests.support.infra import places
from tests.support.messaging import amqp, public_broker, routing_rig
from tests.support.messaging.public_broker import PublicBroker, user
from tests.support.messaging.routing_rig import HOST
from tests.support.waiting import eventually
from workers.infra.kubernetes import pods
from workers.infra.kubernetes.objects import json_of
from workers.messaging.brokers import render
from workers.messaging.brokers.desired import BrokerAddressKind, BrokerSizes, DesiredAddress

OWN_USER = "1001:1001"
USERS = pytest.mark.parametrize("own_user", [OWN_USER, ANY_USER], ids=["own", "any"])
ARTEMIS = "opt/activemq-artemis"
ADDRESSES = (DesiredAddress("orders", BrokerAddressKind.QUEUE),)
PEOPLE = (user("alice", ("orders", "send recv")),)
RUNAWAY = "p LIKE '" + "%a" * 14 + "%b'"
# Numbers of the system call io_setup, by processor (Linux, unistd.h).
IO_SETUP = {"x86_64": 206, "aarch64": 0}


@dataclass(frozen=True)
class Described:
    """A broker as the cluster's adapter describes it, with ports and folders of this machine."""

    broker: PublicBroker
    container: Container
    health_port: int

    @property
    def log(self) -> Path:
        return self.broker.folder / "broker.log"

    def is_ready(self) -> bool:
        """Ask as the cluster's probe does."""
        try:
            return bool(httpx.get(f"http://{HOST}:{self.health_port}/ready").is_success)
        except httpx.HTTPError:
            return False


@pytest.fixture
def described(tmp_path: Path, broker: Path) -> Described:
    """A brokered space's broker with the journal ASYNCIO; its journal is on a disk."""
    rigged = public_broker.described(tmp_path, ADDRESSES, PEOPLE)
    sizes = BrokerSizes(journal="asyncio")
    rigged.desired = replace(rigged.desired, sizes=sizes)
    rigged.engine_layout = replace(
        rigged.engine_layout, config_dir=pods.CONFIG_DIR, data_dir=pods.DATA_DIR
    )
    files, data = tmp_path / "files", tmp_path / "data"
    for folder in (files, data):
        folder.mkdir()
    for name, text in render.files(rigged.desired, rigged.engine_layout).items():
        (files / name).write_text(text)
    for folder in (tmp_path, tmp_path.parent):
        folder.chmod(0o755)
    template: Any = json_of(pods.template(places.cluster(), places.broker()))
    (of_pod,) = template["spec"]["containers"]
    health_port = routing_rig.free_port()
    command = [
        word.replace("health=0.0.0.0:5675", f"health={HOST}:{health_port}")
        for word in of_pod["command"]
    ]
    container = Container(
        broker,
        command,
        {variable["name"]: variable["value"] for variable in of_pod["env"]},
        writable=[pods.SCRATCH_DIR],
        shown={pods.CONFIG_DIR: files},
        kept={pods.DATA_DIR: data},
    )
    return Described(PublicBroker(rigged, tmp_path), container, health_port)


@pytest.fixture
def running(described: Described, request: pytest.FixtureRequest) -> Iterator[Described]:
    """The broker once it is ready, as the user that the test asks for."""
    container = replace(described.container, user=request.getfixturevalue("own_user"))
    with inside.started(container, described.log) as process:
        eventually(
            lambda: described.is_ready() or process.poll() is not None, "it is ready", seconds=120
        )
        assert process.poll() is None, described.log.read_text()[-3000:]
        yield described


def has_asynchronous_files() -> bool:
    """Return whether this machine's kernel lets a process use asynchronous input and output."""
    context = ctypes.c_ulong(0)
    number = IO_SETUP[platform.machine()]
    return bool(ctypes.CDLL(None).syscall(number, 1, ctypes.byref(context)) == 0)


def test_it_runs_as_a_user_that_is_not_root(workshop: Builder, broker: Path) -> None:
    assert workshop.inspect(builder.BROKER, ".OCIv1.Config.User") == OWN_USER


def test_it_lists_what_it_holds(broker: Path) -> None:
    bill = json.loads((broker / "usr/share/sbom/broker.cdx.json").read_text())
    found = [component["purl"] for component in bill["components"]]

    for wanted in (
        "pkg:generic/artemis-server-2.",
        "pkg:generic/waypost-broker.jar",
        "pkg:deb/debian/libaio1@",
        "pkg:deb/debian/openjdk-17-jre-headless@",
    ):
        assert any(purl.startswith(wanted) for purl in found), wanted
    assert not any(purl.startswith("pkg:deb/debian/python3") for purl in found)


def test_it_holds_nothing_that_builds_and_no_console(broker: Path) -> None:
    programs = ("usr/bin/gcc", "usr/bin/javac", "usr/bin/python3", "usr/bin/git")

    assert [program for program in programs if (broker / program).exists()] == []
    assert not (broker / ARTEMIS / "web").exists()
    assert (broker / ARTEMIS / "lib" / "waypost-broker.jar").is_file()


@USERS
def test_a_message_goes_through_and_the_plugin_is_at_work(
    running: Described, own_user: str
) -> None:
    broker = running.broker
    with broker.connected() as connection:
        amqp.send(connection, "orders", "kept")
        assert amqp.receive(connection, "orders", 1) == ["kept"]
        with pytest.raises(LinkDetached):
            connection.create_receiver("orders", options=Selector(RUNAWAY))

    log = running.log.read_text()
    assert "Read-only" not in log
    assert "ERROR" not in log


@pytest.mark.parametrize("own_user", [OWN_USER])
def test_the_journal_in_force_is_the_asynchronous_one(running: Described, own_user: str) -> None:
    if not has_asynchronous_files():
        pytest.skip("the kernel of this machine allows no asynchronous input and output")

    log = running.log.read_text()

    assert "AMQ221012" in log  # Using AIO Journal
    assert "AMQ222018" not in log  # AIO was not located, it will fall back


@pytest.mark.parametrize("own_user", [OWN_USER])
def test_it_keeps_its_messages_over_a_restart(described: Described, own_user: str) -> None:
    """Ends within the time that the cluster gives it, and starts again from its volume."""
    container, log = replace(described.container, user=own_user), described.log
    with inside.started(container, log) as first:
        eventually(described.is_ready, "it is ready", seconds=120)
        with described.broker.connected() as connection:
            amqp.send(connection, "orders", "kept")
    with inside.started(container, log):
        eventually(described.is_ready, "it is ready again", seconds=120)
        with described.broker.connected() as connection:
            found = amqp.receive(connection, "orders", 1)

    assert found == ["kept"]
    assert first.returncode == 143  # SIGTERM, which ends Java in order
