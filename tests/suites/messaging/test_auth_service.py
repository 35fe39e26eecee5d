"""The auth service on the wire, as a router talks to it, and how fast it learns of changes."""

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connection as database
from django.db import transaction
from django.utils import timezone
from proton import symbol

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from plans.catalog.definitions import MAX_ROUTERS
from plans.quotas import enforcement
from tenants.actions import address_spaces, addresses, messaging_users, restrictions, unpaid_stages
from tenants.models import AddressSpace, MessagingUser, UnpaidStage
from tenants.router_patches import Patch
from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.auth_process import AuthProcess
from tests.support.messaging.routing_rig import AuthInThread, known
from tests.support.reconcile import rows
from tests.support.waiting import eventually
from workers.messaging import certificates
from workers.messaging.certificates import KeyPair
from workers.services import amqp_frames as frames
from workers.services.amqp_frames import Code, Outcome
from workers.services.auth.state import State
from workers.services.auth.watcher import Watcher

pytestmark = [pytest.mark.router, pytest.mark.slow]

PLAIN_ANNA = b"\0anna\0secret of anna"


@dataclass
class Service:
    """A running service with the authority that it trusts."""

    folder: Path
    control: KeyPair
    auth: AuthInThread

    def connect(self, realm: str | None = rigs.SPACE, authority: KeyPair | None = None) -> "Wire":
        """Connect as the router of ``realm``; None brings no certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=self.control.certificate_pem)
        if realm is not None:
            signer = authority or self.control
            pair = certificates.issue_client(signer, realm, datetime.now(UTC))
            file = self.folder / "client.pem"
            file.write_text(pair.key_pem + pair.certificate_pem)
            context.load_cert_chain(file)
        raw = socket.create_connection((rigs.HOST, self.auth.port), timeout=60)
        try:
            return Wire(context.wrap_socket(raw, server_hostname=rigs.HOST))
        except (ssl.SSLError, OSError):
            raw.close()
            raise


class Wire:
    """Frames over a blocking socket."""

    def __init__(self, sock: ssl.SSLSocket) -> None:
        self._socket = sock

    def begin(self) -> list[str]:
        """Exchange headers and return the mechanisms that are offered."""
        self._socket.sendall(frames.SASL_HEADER)
        assert self.read(8) == frames.SASL_HEADER
        offered = self.frame(Code.MECHANISMS)[0]
        return [str(mechanism) for mechanism in getattr(offered, "elements", [offered])]

    def init(self, mechanism: str, response: bytes, hostname: str | None = rigs.SPACE) -> None:
        self.send(Code.INIT, symbol(mechanism), response, hostname)

    def send(self, code: Code, *fields: object) -> None:
        self._socket.sendall(frames.encode(code, fields))

    def frame(self, expected: Code) -> list[object]:
        head = self.read(8)
        frame = frames.Frame.decode(head + self.read(int.from_bytes(head[:4], "big") - 8))
        assert frame.code == expected, frame
        return list(frame.fields)

    def read(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            piece = self._socket.recv(count - len(found))
            if not piece:
                raise EOFError
            found += piece
        return found

    def open(self) -> dict[str, Any]:
        """Open the AMQP connection and return what the service says about the login."""
        self._socket.sendall(frames.AMQP_HEADER + frames.encode(Code.OPEN, ["router"]))
        assert self.read(8) == frames.AMQP_HEADER
        fields: Any = self.frame(Code.OPEN)
        return {str(key): value for key, value in dict(fields[9]).items()}

    def raw(self, sent: bytes) -> None:
        self._socket.sendall(sent)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    control = certificates.create_authority("control", datetime.now(UTC))
    auth = AuthInThread(tmp_path, control)
    auth.set_users(
        known("anna", "secret of anna", {"orders": ("recv", "send"), "a/#": ("send",)}),
        addresses=["orders", "a/b", "a/c/d", "ab"],
    )
    yield Service(tmp_path, control, auth)
    auth.stop()


def outcome(wire: Wire) -> int:
    fields: Any = wire.frame(Code.OUTCOME)
    return int(fields[0])


def test_plain_login_tells_who_it_was_and_what_it_may(service: Service) -> None:
    wire = service.connect()

    assert wire.begin() == ["SCRAM-SHA-256", "PLAIN"]
    wire.init("PLAIN", PLAIN_ANNA)
    assert outcome(wire) == Outcome.OK
    told = wire.open()

    wire.close()
    granted = {key: list(value.elements) for key, value in told["address-authz"].items()}
    assert told["authenticated-identity"] == {"sub": "anna", "preferred_username": "anna"}
    granted_of_queues = granted.pop("amqp:/_$temp.*")
    replies = {key for key in granted if key.startswith("amqp:/_topo/0/router-")}
    assert {key: granted[key] for key in granted.keys() - replies} == {
        "orders": ["recv", "send"],
        "a/b": ["send"],
        "a/c/d": ["send"],
    }
    assert [granted[key] for key in replies] == [["send"]] * MAX_ROUTERS
    assert granted_of_queues == ["recv", "send"]


def test_plain_alone_is_offered_where_routers_cannot_relay_scram(service: Service) -> None:
    for patches, offered in (((), ["PLAIN"]), (tuple(Patch), ["SCRAM-SHA-256", "PLAIN"])):
        service.auth.router_patches = patches
        service.auth.set_users(known("anna", "secret of anna", {}), addresses=["orders"])
        wire = service.connect()

        assert wire.begin() == offered
        wire.close()


def test_a_user_whose_grants_fit_no_frame_is_refused(service: Service) -> None:
    many = [f"orders/{number:0100}" for number in range(500)]
    service.auth.set_users(known("anna", "secret of anna", {"#": ("recv",)}), addresses=many)
    wire = service.connect()
    wire.begin()

    wire.init("PLAIN", PLAIN_ANNA)

    assert outcome(wire) == Outcome.SYSTEM_PERMANENT
    wire.close()


@pytest.mark.parametrize(
    ("mechanism", "response"),
    [
        ("PLAIN", b"\0anna\0wrong"),
        ("PLAIN", b"\0nobody\0secret of anna"),
        ("PLAIN", b""),
        ("OAUTHBEARER", b"n,,\1auth=Bearer x\1\1"),
        ("XOAUTH2", b"user=anna\1auth=Bearer x\1\1"),
        ("ANONYMOUS", b""),
        ("EXTERNAL", b""),
    ],
)
def test_what_is_not_a_login_is_refused_by_its_outcome(
    service: Service, mechanism: str, response: bytes
) -> None:
    wire = service.connect()
    wire.begin()

    wire.init(mechanism, response)

    assert outcome(wire) == Outcome.AUTH
    with pytest.raises(EOFError):
        wire.read(1)
    wire.close()


@pytest.mark.parametrize("hostname", ["spc_other", "", None])
def test_a_realm_that_is_not_the_certificates_is_refused(
    service: Service, hostname: str | None
) -> None:
    wire = service.connect()
    wire.begin()

    wire.init("PLAIN", PLAIN_ANNA, hostname)

    assert outcome(wire) == Outcome.AUTH
    wire.close()


def test_the_users_of_one_space_are_nobody_in_another(service: Service) -> None:
    wire = service.connect("spc_other")
    wire.begin()

    wire.init("PLAIN", PLAIN_ANNA, "spc_other")

    assert outcome(wire) == Outcome.AUTH
    wire.close()


@pytest.mark.parametrize("has_certificate", [False, True])
def test_a_stranger_gets_no_answer(service: Service, has_certificate: bool) -> None:
    other = certificates.create_authority("other", datetime.now(UTC))

    # With TLS 1.3 the client only learns at its first read that its certificate was refused.
    with (
        pytest.raises((ssl.SSLError, ConnectionError, EOFError)),
        closing(service.connect(rigs.SPACE if has_certificate else None, other)) as wire,
    ):
        wire.begin()


def test_nobody_gets_in_while_the_users_are_not_known(service: Service) -> None:
    service.auth.state.picture = None
    wire = service.connect()
    wire.begin()

    wire.init("PLAIN", PLAIN_ANNA)

    assert outcome(wire) == Outcome.SYSTEM_TEMPORARY
    wire.close()


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        frames.AMQP_HEADER,
        frames.SASL_HEADER + b"\xff\xff\xff\xff\x02\x01\x00\x00",
        frames.SASL_HEADER + b"\x00\x00\x00\x04\x02\x01\x00\x00",
        frames.SASL_HEADER + b"\x00\x00\x00\x0a\x02\x01\x00\x00zz",
        frames.SASL_HEADER + frames.encode(Code.RESPONSE, [b"x"]),
    ],
)
def test_garbage_ends_the_connection_and_nothing_else(service: Service, garbage: bytes) -> None:
    wire = service.connect()
    wire.raw(garbage)

    with pytest.raises((EOFError, ConnectionError)):  # noqa: PT012 (what was said before the end)
        while True:
            wire.read(1)

    wire.close()
    good = service.connect()
    good.begin()
    good.init("PLAIN", PLAIN_ANNA)
    assert outcome(good) == Outcome.OK
    good.close()


# What it knows


@pytest.fixture
def process(tmp_path: Path, auth_port: int) -> Iterator[AuthProcess]:
    """The service that is not started yet; it must stop by itself, whatever it waits for."""
    auth = AuthProcess(auth_port, tmp_path, tmp_path / "control-ca")
    yield auth
    auth.stop()


def test_it_listens_once_it_knows_the_users(process: AuthProcess, transactional_db: None) -> None:
    with transaction.atomic(), database.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {AddressSpace._meta.db_table}")  # nobody reads it
        process.launch()
        eventually(process.waits, "it waits")
        time.sleep(0.5)
        listened_before = process.listens()

    eventually(process.listens, "it listens")
    assert not listened_before


def test_it_stops_while_it_waits_for_users(process: AuthProcess) -> None:
    process.launch(WAYPOST_DATABASE_URL="postgresql://nobody:x@127.0.0.1:1/nothing")
    eventually(process.waits, "it waits")

    assert process.end() == 0


@pytest.fixture
def watched(
    tmp_path: Path, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[State]:
    # No full read may do what a notification should.
    monkeypatch.setattr("workers.services.auth.watcher.FULL_READ_SECONDS", 3600.0)
    state = State(tmp_path / "users.sealed")
    watcher = Watcher(state)
    watcher.start()
    eventually(lambda: state.picture is not None, "the first picture")
    yield state
    watcher.stop()
    database.close()


def test_changes_arrive_by_notification(watched: State) -> None:
    space = rows.make_space(rows.make_tenant(), kind="standard")

    def users() -> dict[str, object]:
        picture = watched.picture or {}
        return dict(picture[space.id].users) if space.id in picture else {}

    def is_withdrawn() -> bool:
        return bool(watched.picture and watched.picture[space.id].send_withdrawn)

    anna = rows.make_user(space, "anna", ("orders", "send recv"))
    eventually(lambda: "anna" in users())
    known_before = users()["anna"]
    messaging_users.update(
        user=anna, permissions=[{"addresses": ["a"], "operations": ["recv"]}], by=SYSTEM
    )
    eventually(lambda: users()["anna"] != known_before)
    restrictions.withdraw_send(space=space, by=SYSTEM, reason="quota")
    eventually(is_withdrawn)
    unpaid_stages.move(tenant=space.tenant, stage=UnpaidStage.SUSPENDED)
    eventually(lambda: not users())
    unpaid_stages.move(tenant=space.tenant, stage=UnpaidStage.NONE)
    enforcement.evaluate(tenant_id=space.tenant_id, now=timezone.now())
    eventually(lambda: "anna" in users())
    calls = rows.make_address(space, "calls", "anycast")
    eventually(lambda: addresses_of(watched, space) == ("calls",))
    addresses.delete(address=calls, by=SYSTEM)
    eventually(lambda: addresses_of(watched, space) == ())
    messaging_users.revoke(user=MessagingUser.objects.get(pk=anna.pk), by=SYSTEM)
    eventually(lambda: not users())
    address_spaces.delete(space=space, by=SYSTEM)
    eventually(lambda: space.id not in (watched.picture or {}))


def addresses_of(state: State, space: AddressSpace) -> tuple[str, ...] | None:
    """Return what is known by now; None before the space is."""
    found = (state.picture or {}).get(space.id)
    return found.addresses if found else None


def test_addresses_are_known_as_clients_name_them(watched: State) -> None:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_address(space, "news", "topic")

    rows.make_address(space, "desk", "subscription", AddressSettings(topic="news"))

    eventually(
        lambda: addresses_of(watched, space) == ("news::desk", "news"),
        "the subscription",
    )


def test_a_broken_row_keeps_one_user_out_and_not_the_others(watched: State) -> None:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    bad = rows.make_user(space, "bad", ("a", "recv"))
    MessagingUser.objects.filter(pk=bad.pk).update(verifiers={"scram-sha-256": 7})

    rows.make_user(space, "good", ("a", "recv"))

    eventually(
        lambda: is_known(watched, space, "good"),
        "good without bad",
    )
    assert set((watched.picture or {})[space.id].users) == {"good"}


def test_the_last_picture_stays_while_the_database_is_away(watched: State) -> None:
    space = rows.make_space(rows.make_tenant(), kind="standard")
    rows.make_user(space, "anna", ("a", "recv"))
    eventually(lambda: is_known(watched, space, "anna"), "anna is known")
    before = watched.picture

    with database.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    time.sleep(0.3)
    assert watched.picture == before

    rows.make_user(space, "bert", ("a", "recv"))
    eventually(lambda: is_known(watched, space, "bert"), "it listens again")


def is_known(state: State, space: AddressSpace, name: str) -> bool:
    users = (state.picture or {}).get(space.id)
    return users is not None and name in users.users
