"""The router driver against a running router."""

import json
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from proton import Delivery, Endpoint, int32, uint, ulong
from proton.utils import LinkDetached

from tenants.router_patches import Patch
from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.routing_rig import Rig, known
from tests.support.waiting import eventually
from workers.messaging import certificates, management
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.management import Refused, Unreachable
from workers.messaging.observed import AddressCounters
from workers.messaging.probe import ProbeFailed
from workers.messaging.routers import client, config, driver, entities
from workers.messaging.routers.desired import (
    DesiredRouter,
    OnBroker,
    PeerAt,
    RoutedAddress,
    RouterAddressKind,
    probe_address,
)

pytestmark = [pytest.mark.router, pytest.mark.slow]

CALLS = RoutedAddress("calls", RouterAddressKind.ANYCAST)
NEWS = RoutedAddress("news", RouterAddressKind.MULTICAST)
METERED = [MeteredAddress("calls", "anycast"), MeteredAddress("news", "multicast")]


@pytest.fixture(scope="module", params=rigs.ENGINES)
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    with rigs.rig(tmp_path_factory.mktemp("router"), request.param) as made:
        made.auth.set_users(
            known("anna", "secret of anna", {"#": ("send", "recv")}),
            known("bert", "secret of bert", {"#": ("send", "recv")}),
            addresses=["calls", "news"],
        )
        yield made


@pytest.fixture
def router(running: Rig) -> Iterator[Rig]:
    """A router freshly started without any address."""
    running.start()
    yield running
    running.close_clients()


def with_addresses(router: Rig, *addresses: RoutedAddress) -> DesiredRouter:
    return replace(router.desired, addresses=addresses)


def exchange(router: Rig, address: str, count: int) -> None:
    """Send and receive messages on connections that end in order."""
    receiving, sending = (router.connect("anna", "secret of anna") for _ in range(2))
    receiver = receiving.create_receiver(address, credit=count)
    sender = sending.create_sender(address)
    posted = [rigs.post(sender, number) for number in range(count)]
    rigs.take(receiver, count)
    assert {rigs.outcome(sender, delivery) for delivery in posted} == {Delivery.ACCEPTED}
    receiving.close()
    sending.close()


def held(router: Rig) -> Sequence[tuple[str, str]]:
    with client.connected(router.target, purpose="test") as asking:
        return sorted(
            (kind, str(row["name"]))
            for kind in entities.ORDER
            for row in asking.query(kind, "name")
        )


def unchanged(found: driver.Converged) -> driver.Converged:
    """Return what a pass answers that had nothing to do, of a router with these patches."""
    return driver.Converged(patches=found.patches)


def test_converge_makes_addresses_usable_and_then_changes_nothing(router: Rig) -> None:
    wanted = with_addresses(router, CALLS, NEWS)

    first = driver.converge(router.target, wanted)
    exchange(router, "calls", 3)
    second = driver.converge(router.target, wanted)

    assert (first.pending, second) == ({}, unchanged(second))
    assert first.created > 0


def test_converge_live_equals_a_start_from_the_file(router: Rig) -> None:
    driver.converge(router.target, with_addresses(router, CALLS, NEWS))
    live = held(router)

    router.start([CALLS, NEWS])

    assert held(router) == live
    again = driver.converge(router.target, router.desired)
    assert again == unchanged(again)


def test_converge_of_one_address_leaves_the_others_alone(router: Rig) -> None:
    driver.converge(router.target, with_addresses(router, CALLS))

    done = driver.converge(router.target, with_addresses(router, CALLS, NEWS), only=["news"])

    assert (done.pending, done.created) == ({}, 2)
    assert (entities.ADDRESS, "wp-address:calls") in held(router)


def test_converge_repairs_what_was_changed_behind_its_back(router: Rig) -> None:
    wanted = with_addresses(router, CALLS)
    driver.converge(router.target, wanted)
    with client.connected(router.target, purpose="test") as asking:
        asking.ask(
            [
                asking.entity_request("DELETE", entities.ADDRESS, "wp-address:calls"),
                asking.entity_request("CREATE", entities.ADDRESS, "wp-x", {"prefix": "x"}),
                asking.entity_request("CREATE", entities.ADDRESS, "theirs", {"prefix": "theirs"}),
            ]
        )

    driver.converge(router.target, wanted)

    names = [name for kind, name in held(router) if kind == entities.ADDRESS]
    assert names == ["theirs", "wp-address:$waypost.probe.anycast", "wp-address:calls"]


def test_converge_says_why_a_queue_does_not_work(router: Rig) -> None:
    queue = RoutedAddress("orders", RouterAddressKind.QUEUE, [OnBroker("broker-0")])

    done = driver.converge(router.target, with_addresses(router, queue))

    assert set(done.pending) == {"orders"}
    assert "inactive" in done.pending["orders"]


def test_a_leaving_address_is_closed_but_still_counted(router: Rig) -> None:
    driver.converge(router.target, with_addresses(router, CALLS))
    exchange(router, "calls", 5)
    user = router.connect("anna", "secret of anna")
    user.create_receiver("calls", credit=1)

    driver.converge(router.target, with_addresses(router), leaving=[CALLS])
    cut = driver.disconnect_clients(router.target, allowing(router, "anna"), leaving=["calls"])
    snapshot = driver.snapshot(router.target, addresses=METERED)

    assert cut == 1
    assert snapshot.addresses == [AddressCounters("calls", 5, 5)]
    driver.converge(router.target, with_addresses(router))
    assert driver.snapshot(router.target, addresses=METERED).addresses == []


def test_a_leaving_address_takes_no_new_link(router: Rig) -> None:
    router.require(Patch.CLOSED_ADDRESS)
    driver.converge(router.target, with_addresses(router, CALLS))

    driver.converge(router.target, with_addresses(router), leaving=[CALLS])

    with pytest.raises(LinkDetached):
        router.connect("anna", "secret of anna").create_receiver("calls")


def test_counters_stay_while_nobody_is_connected(router: Rig) -> None:
    driver.converge(router.target, with_addresses(router, CALLS, NEWS))
    exchange(router, "calls", 4)
    exchange(router, "news", 2)

    snapshot = driver.snapshot(router.target, addresses=METERED)
    exchange(router, "calls", 3)
    later = driver.snapshot(router.target, addresses=METERED)

    assert snapshot.addresses == [AddressCounters("calls", 4, 4), AddressCounters("news", 2, 2)]
    assert later.addresses == [AddressCounters("calls", 7, 7), AddressCounters("news", 2, 2)]


def test_multicast_counts_each_copy_out(router: Rig) -> None:
    driver.converge(router.target, with_addresses(router, NEWS))
    receivers = [
        router.connect("anna", "secret of anna").create_receiver("news", credit=9) for _ in range(3)
    ]
    sender = router.connect("anna", "secret of anna").create_sender("news")
    for number in range(2):
        rigs.post(sender, number)
    for receiver in receivers:
        rigs.take(receiver, 2)

    assert driver.snapshot(router.target, addresses=METERED).addresses == [
        AddressCounters("news", 2, 6)
    ]


def test_released_messages_are_not_counted(router: Rig) -> None:
    driver.converge(router.target, with_addresses(router, CALLS))
    receiver = router.connect("anna", "secret of anna").create_receiver("calls", credit=1)
    sender = router.connect("anna", "secret of anna").create_sender("calls")
    receiver.connection.close()
    rigs.settle_down(sender.connection)

    assert rigs.outcome(sender, rigs.post(sender, "lost")) == Delivery.RELEASED

    assert driver.snapshot(router.target, addresses=METERED).addresses == [
        AddressCounters("calls", 0, 0)
    ]


def test_connections_are_counted_exactly_and_without_ours(router: Rig) -> None:
    for _ in range(3):
        router.connect("anna", "secret of anna").close()
    router.connect("bert", "secret of bert")
    with pytest.raises(Exception, match="Authentication"):
        router.connect("bert", "wrong")
    driver.find_incarnation(router.target)

    snapshot = driver.snapshot(router.target, addresses=[])

    assert snapshot.connections_opened == 4
    assert [connection.user for connection in snapshot.connections] == ["bert"]


def test_connections_beyond_the_plan_are_refused_and_not_counted(router: Rig) -> None:
    before = router.desired
    router.desired = replace(before, max_connections=1)
    router.restart()
    try:
        router.connect("anna", "secret of anna")
        with pytest.raises(Exception, match="resource-limit-exceeded"):
            router.connect("anna", "secret of anna")
        assert driver.snapshot(router.target, addresses=[]).connections_opened == 1
    finally:
        router.desired = before


def test_a_restart_is_another_life(router: Rig) -> None:
    before = driver.find_incarnation(router.target)
    assert driver.find_incarnation(router.target) == before

    wait_for_the_next_second()
    router.restart()

    assert driver.find_incarnation(router.target) != before


def allowing(router: Rig, *users: str, since: datetime | None = None) -> DesiredRouter:
    moment = since or datetime.now(UTC) - timedelta(hours=1)
    return replace(router.desired, allowed=dict.fromkeys(users, moment))


def wait_for_the_next_second() -> None:
    """Routers tell their incarnations apart by the second they started in."""
    begun = int(time.time())
    eventually(lambda: int(time.time()) > begun, "another second")


def test_cut_off_closes_the_connections_of_unknown_users_only(router: Rig) -> None:
    router.connect("anna", "secret of anna")
    router.connect("bert", "secret of bert")

    cut = driver.disconnect_clients(router.target, allowing(router, "anna"))

    seen = driver.snapshot(router.target, addresses=[]).connections
    assert (cut, [connection.user for connection in seen]) == (1, ["anna"])
    assert driver.disconnect_clients(router.target, allowing(router, "anna")) == 0


def test_cut_off_closes_connections_from_before_a_change(router: Rig) -> None:
    router.connect("anna", "secret of anna")
    since = datetime.now(UTC) + timedelta(hours=1)

    assert driver.disconnect_clients(router.target, allowing(router, "anna", since=since)) == 1


def test_a_renewed_certificate_is_shown_to_new_connections_without_a_restart(router: Rig) -> None:
    before, kept = shown(router), router.connect("anna", "secret of anna")
    renewed = certificates.issue_server(router.space_ca, [rigs.HOST], rigs.now())

    (router.folder / "server.key").write_text(renewed.key_pem)
    (router.folder / "server.pem").write_text(renewed.certificate_pem)

    eventually(lambda: shown(router) not in ("", before), "the new certificate")
    assert shown(router) == ssl.PEM_cert_to_DER_cert(renewed.certificate_pem).hex()
    rigs.settle_down(kept)
    assert kept.create_receiver(None, dynamic=True).link.state & Endpoint.REMOTE_ACTIVE


def shown(router: Rig) -> str:
    """Return the certificate that clients are shown; empty while key and file do not match."""
    trust = ssl.create_default_context(cafile=str(router.folder / "space-ca.pem"))
    try:
        with (
            socket.create_connection((rigs.HOST, router.engine_layout.public_port)) as plain,
            trust.wrap_socket(plain, server_hostname=rigs.HOST) as wrapped,
        ):
            return (wrapped.getpeercert(binary_form=True) or b"").hex()
    except OSError:
        return ""


def test_probe_goes_through_and_leaves_no_trace(router: Rig) -> None:
    seconds = driver.probe(router.target, probe_address(RouterAddressKind.ANYCAST))

    snapshot = driver.snapshot(router.target, addresses=METERED)
    assert 0 < seconds < 5
    assert (snapshot.addresses, snapshot.connections_opened) == ([], 0)


def test_probe_fails_where_nothing_is(router: Rig) -> None:
    with pytest.raises(ProbeFailed):
        driver.probe(router.target, "$waypost.probe.nothing", timeout_seconds=1)


def test_a_router_that_is_away_is_unreachable(router: Rig) -> None:
    router.kill()

    with pytest.raises(Unreachable):
        driver.find_incarnation(router.target)


# What the router itself must do with management requests


def test_a_request_with_a_typo_is_swallowed_and_found_by_reading_back(router: Rig) -> None:
    with client.connected(router.target, purpose="test") as asking:
        made = asking.ask(
            [
                asking.entity_request(
                    "CREATE", entities.ADDRESS, "typo", {"prefix": "t", "waypiont": True}
                ),
                asking.entity_request(
                    "CREATE", entities.ADDRESS, "text", {"prefix": "u", "waypoint": "true"}
                ),
                asking.entity_request("CREATE", entities.ADDRESS, "typo", {"prefix": "other"}),
                asking.entity_request("CREATE", entities.ADDRESS, "same", {"prefix": "t"}),
            ]
        )
        rows = {str(r["name"]): r for r in asking.query(entities.ADDRESS, "name", "waypoint")}

    assert [answer.status for answer in made] == [201, 201, 400, 400]
    assert (rows["typo"]["waypoint"], rows["text"]["waypoint"]) == (False, False)


def test_an_update_of_a_core_entity_is_never_answered(router: Rig) -> None:
    driver.converge(router.target, with_addresses(router, CALLS))

    with (
        pytest.raises(Unreachable),
        client.connected(router.target, purpose="test", timeout_seconds=1) as asking,
    ):
        asking.ask(
            [asking.entity_request("UPDATE", entities.ADDRESS, "wp-address:calls", {"priority": 1})]
        )


def test_an_unknown_type_or_column_is_refused(router: Rig) -> None:
    with client.connected(router.target, purpose="test") as asking:
        with pytest.raises(Refused):
            asking.query("router.config.nothing", "name")
        with pytest.raises(Refused, match="Unknown attributes"):
            asking.query("router.node", "id", "color")
        rows = asking.query("router.node", "id")

    assert rows == [{"id": "router-0"}]


def test_numbers_have_the_types_of_the_real_router(
    router: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.converge(router.target, with_addresses(router, CALLS))
    connection = router.connect("anna", "secret of anna")
    connection.create_receiver("calls", credit=1)
    monkeypatch.setattr(client, "_plain", lambda value: value)

    with client.connected(router.target, purpose="test") as asking:
        for (kind, column), expected in NUMBERS.items():
            values = [row[column] for row in asking.query(kind, column)]
            assert {type(value) for value in values} == {expected}, (kind, column)


NUMBERS = {
    ("router.node", "instance"): int32,
    (entities.AUTO_LINK, "phase"): int32,
    (entities.ADDRESS, "ingressPhase"): int32,
    ("router.address", "deliveriesIngress"): ulong,
    ("router.address", "subscriberCount"): uint,
    ("router.link", "unsettledCount"): ulong,
    ("router.link", "capacity"): uint,
    ("connection", "uptimeSeconds"): uint,
    ("vhostStats", "connectionsApproved"): int32,
}


def test_a_standalone_router_does_not_show_itself(router: Rig) -> None:
    file = router.folder / config.CONFIG_FILE
    entries = json.loads(file.read_text())
    file.write_text(json.dumps([standalone(*entry) for entry in entries]))
    router.relaunch()

    with client.connected(router.target, purpose="test") as asking:
        assert asking.query("router.node", "id") == []
    with pytest.raises(Unreachable, match="does not show itself"):
        driver.find_incarnation(router.target)


def standalone(kind: str, attributes: Mapping[str, object]) -> list[object]:
    return [kind, {**attributes, "mode": "standalone"} if kind == "router" else attributes]


def test_a_peer_that_does_not_answer_is_told_with_the_routers_words(router: Rig) -> None:
    """That peers are joined which answer is in ``test_router_mesh``."""
    nowhere = PeerAt("router-2", rigs.HOST, rigs.free_port())
    wanted = replace(router.desired, peers=[nowhere])

    def unjoined(only: Sequence[str] | None = None) -> Mapping[str, str]:
        return driver.converge(router.target, wanted, only=only).unjoined

    # While it tries to connect, the real router shows a success for a moment.
    eventually(lambda: set(unjoined()) == {"router-2"})
    eventually(lambda: set(unjoined(only=[])) == {"router-2"})
    begin = f"{nowhere.host}:{nowhere.port}: "
    eventually(lambda: unjoined().get("router-2", "").startswith(begin))
    eventually(lambda: "refused" in unjoined().get("router-2", ""))


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hanging"])
def test_closing_does_not_wait_for_a_router_that_is_gone(router: Rig, ending: int) -> None:
    connection = management.open_connection(router.target, purpose="test", timeout_seconds=600)
    assert router.process is not None
    os.kill(router.process.pid, ending)

    closing = threading.Thread(target=management.close_quietly, args=[connection], daemon=True)
    closing.start()
    closing.join(20)

    assert not closing.is_alive()
