"""Client programs to copy: they parse as what they are, whatever the names in them."""

import ast
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.console import snippets
from controlplane.console.snippets import Target
from tests.support.source_tree import ROOT

names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=30)


def target(**changes: Any) -> Target:
    values: dict[str, Any] = {
        "space": "orders", "host": "127.0.0.1", "port": 5671, "user": "checkout",
        "address": "orders/new", "address_type": "queue", **changes,
    }  # fmt: skip
    return Target(**values)


def program(key: str, at: Target) -> str:
    return next(snippet.text for snippet in snippets.build_all(at) if snippet.key == key)


def literals(text: str) -> set[object]:
    return {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}


@given(names, names)
def test_python_holds_every_name_as_one_string(user: str, address: str) -> None:
    found = literals(program("python", target(user=user, address=address)))

    assert {user, address, "orders-ca.pem", "amqps://127.0.0.1:5671"} <= found


def node() -> str | None:
    bundled = Path(sysconfig.get_path("scripts")) / "node"
    return str(bundled) if bundled.exists() else shutil.which("node")


@pytest.mark.slow
@pytest.mark.parametrize("address", ["orders", '"); process.exit(); ("', "ünï\u2028"])
def test_node_accepts_the_program(address: str, tmp_path: Path) -> None:
    file = tmp_path / "client.js"
    file.write_text(program("node", target(address=address)))

    checked = subprocess.run([node() or "node", "--check", file], capture_output=True, check=False)

    assert checked.returncode == 0, checked.stderr.decode()


@pytest.mark.parametrize(
    ("address_type", "made"),
    [("queue", "createQueue"), ("anycast", "createQueue"), ("topic", "createTopic"),
     ("multicast", "createTopic")],
)  # fmt: skip
def test_java_makes_the_kind_of_destination_that_fits(address_type: str, made: str) -> None:
    text = program("java", target(address_type=address_type))

    assert f'context.{made}("orders/new")' in text
    assert text.count("{") == text.count("}")


def test_java_names_the_version_of_the_client_that_is_tested() -> None:
    tested = ElementTree.parse(ROOT / "tests/support/foreign/jms/artifacts.xml")
    (client,) = tested.findall(".//dependency[@name='qpid-jms-client']")
    docs = (ROOT / "docs/develop/java.md").read_text()
    pom = ElementTree.parse(ROOT / "docs/examples/java/pom.xml")

    named = f"org.apache.qpid:qpid-jms-client:{client.get('rev')}"
    assert pom.findtext(".//{*}dependency/{*}version") == client.get("rev")
    assert named in program("java", target())
    assert named in docs


@pytest.mark.parametrize("key", ["python", "java", "node"])
def test_where_clients_know_who_signed_no_program_asks_for_a_file(key: str) -> None:
    text = program(key, target(needs_file=False))

    assert "orders-ca" not in text
    assert "keytool" not in text
    assert "readFileSync" not in text


def test_python_then_trusts_what_the_machine_trusts() -> None:
    text = program("python", target(needs_file=False))

    assert "ssl.get_default_verify_paths" in ast.unparse(ast.parse(text))
    assert "VERIFY_PEER_NAME" in text


@pytest.mark.parametrize(
    ("key", "durable"), [("python", "durable=True"), ("node", "durable: true")]
)
def test_programs_send_durable_messages(key: str, durable: str) -> None:
    """The libraries of these do not by default; Qpid JMS does."""
    assert durable in program(key, target())


def test_no_program_holds_a_password() -> None:
    for snippet in snippets.build_all(target()):
        assert "WAYPOST_MESSAGING_PASSWORD" in snippet.text
