"""A broker's files: what tenants wrote cannot change their structure, and roles are exact."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from controlplane.core.address_types import AddressSettings
from workers.messaging.brokers import address_settings, broker_xml, desired, permissions, render
from workers.messaging.brokers.desired import (
    BrokerAddressKind,
    DesiredAddress,
    DesiredBroker,
    DesiredUser,
    EngineLayout,
    Permission,
)
from workers.messaging.certificates import KeyPair
from workers.messaging.observed import MANAGEMENT_ADDRESS

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PLACE = EngineLayout("/s/etc", "/s/data", "127.0.0.1", 21001, 21002)
CORE = "{urn:activemq:core}"
PROPERTIES = {
    "waypost.boot",
    "waypost.guard",
    "waypost.replies",
    "waypost.unguarded-connections",
}
HOSTILE = [
    'a"><permission type="manage" roles="user-eve"/>',
    "a</security-settings>",
    "a&b<c>'d",
    "]]>",
    "é/\U0001f600",
    "a=b,c;d",
    "a\\u0041\\n",
    "%2f%d%s",
    "a$b",
    "x" * 255,
]
# What admission lets through at most: tenants.models.Address, constraint address_legal.
legal_address = st.from_regex(r"[^\s#*+$:][^\s#*+]{0,40}", fullmatch=True).filter(
    desired.is_possible
)


def broker(
    *addresses: DesiredAddress, users: tuple[DesiredUser, ...] = (), **more: object
) -> DesiredBroker:
    fields: dict[str, Any] = {"public": True, "send_withdrawn": False, **more}
    return DesiredBroker(
        addresses=addresses,
        users=users,
        server=KeyPair("key", "certificate"),
        authority_pem="authority",
        **fields,
    )


def user(name: str, *permissions_: tuple[str, str]) -> DesiredUser:
    granted = [Permission([pattern], operations.split()) for pattern, operations in permissions_]
    return DesiredUser(name, {"artemis": "ENC(1024:AA:BB)"}, granted, NOW)


def parsed(wanted: DesiredBroker) -> ElementTree.Element:
    root = ElementTree.fromstring(broker_xml.render(wanted, PLACE))
    core = root.find(f"{CORE}core")
    assert core is not None
    return core


def security(core: ElementTree.Element) -> dict[str, dict[str, list[str]]]:
    return {
        setting.get("match", ""): {
            element.get("type", ""): element.get("roles", "").split(",") for element in setting
        }
        for setting in core.iter(f"{CORE}security-setting")
    }


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_names(name: str) -> None:
    core = parsed(broker(DesiredAddress(name, BrokerAddressKind.QUEUE)))

    addresses = {element.get("name") for element in core.iter(f"{CORE}address")}
    assert name in addresses
    assert set(security(core)) == {
        "#",
        name,
        MANAGEMENT_ADDRESS,
        desired.NOTIFICATIONS_ADDRESS,
        desired.RESTORED_QUEUE,
        *(twin.address for twin in desired.probe_twins()),
    }


def test_properties_of_the_broker_s_process_cannot_be_named() -> None:
    text = broker_xml.render(
        broker(DesiredAddress("a${java.home}b", BrokerAddressKind.QUEUE)), PLACE
    )

    assert set(re.findall(r"\$\{([^:]*)", text)) == PROPERTIES


@settings(max_examples=60, deadline=None)
@given(legal_address)
@example("BOOT-PLACE")  # what the template writes where the broker puts its properties
@example("UNGUARDED-PLACE")
@example("REPLIES-PLACE")
@example('roles="waypost-internal,REPLIES-PLACE"')
@example('class-name="GUARD-PLACE"')
def test_any_legal_address_comes_back_from_the_file(name: str) -> None:
    wanted = broker(DesiredAddress(name, BrokerAddressKind.TOPIC, subscriptions=(f"{name}-sub",)))

    text = broker_xml.render(wanted, PLACE)

    # No other property is ever left to the broker to replace.
    assert set(re.findall(r"\$\{([^:]*)", text)) == PROPERTIES
    root = ElementTree.fromstring(text)
    assert name in {element.get("name") for element in root.iter(f"{CORE}address")}
    assert f"{name}-sub" in {queue.get("name") for queue in root.iter(f"{CORE}queue")}


@pytest.mark.parametrize(
    "name", ["a${java.home}b", "$sys", "activemq.management", "a::b", "a\x01b", "a\ufffeb"]
)
def test_what_no_broker_can_carry_is_known(name: str) -> None:
    assert not desired.is_possible(name)


def test_roles_are_exact_and_internal_ones_are_kept() -> None:
    alice, bob = user("alice", ("orders/#", "send recv")), user("bob", ("#", "recv"))
    new, private = (
        DesiredAddress(name, BrokerAddressKind.QUEUE) for name in ("orders/new", "private")
    )

    roles = security(parsed(broker(new, private, users=(alice, bob))))

    assert roles["orders/new"]["send"] == [desired.INTERNAL_ROLE, "user-alice"]
    assert roles["orders/new"]["consume"] == [desired.INTERNAL_ROLE, "user-alice", "user-bob"]
    assert roles["private"]["send"] == [desired.INTERNAL_ROLE]
    assert roles["private"]["consume"] == [desired.INTERNAL_ROLE, "user-bob"]
    assert roles["private"]["manage"] == [desired.INTERNAL_ROLE]
    # Who is not among the clients of a broker with the plugin has nothing elsewhere.
    replies = f"${{waypost.replies:{desired.INTERNAL_ROLE}}}"
    assert {kind for kind, holders in roles["#"].items() if replies in holders} == {
        "createNonDurableQueue",
        "deleteNonDurableQueue",
        "createDurableQueue",
        "deleteDurableQueue",
        "consume",
        "send",
    }
    assert {holder for holders in roles["#"].values() for holder in holders} == {
        desired.INTERNAL_ROLE,
        replies,
    }


def test_each_pattern_that_may_cover_a_filter_is_a_role_of_its_readers() -> None:
    """A broker's plugin compares them; nobody's name or pattern adds a line to the file."""
    alice = user("alice", ("news/#", "send recv"), ("a = b\n#", "recv"), ("é/*", "recv"))
    bob = user("bob", ("news/#", "recv"), ("news/eu", "recv"), ("other/#", "send"))

    text = render.files(broker(users=(alice, bob)), PLACE)["roles.properties"]

    assert [line for line in text.splitlines() if line.startswith("waypost-reads-")] == [
        "waypost-reads-news/\\u0023 = alice,bob",
        "waypost-reads-\\u00e9/\\u002a = alice",
    ]


def test_no_answers_are_sent_while_sending_is_withdrawn() -> None:
    alice = user("alice", ("#", "send recv"))

    core = parsed(replace(broker(users=(alice,)), send_withdrawn=True))

    assert security(core)["#"]["send"] == [desired.INTERNAL_ROLE]


def test_a_user_named_like_a_placeholder_has_a_role_of_its_own() -> None:
    named = user("REPLIES-PLACE", ("#", "send"))

    roles = security(parsed(broker(DesiredAddress("q", BrokerAddressKind.QUEUE), users=(named,))))

    assert roles["q"]["send"] == [desired.INTERNAL_ROLE, "user-REPLIES-PLACE"]


def test_only_topics_let_receivers_make_queues() -> None:
    bob = user("bob", ("#", "recv"))
    queue, topic = (
        DesiredAddress("q", BrokerAddressKind.QUEUE),
        DesiredAddress("t", BrokerAddressKind.TOPIC),
    )

    roles = security(parsed(broker(queue, topic, users=(bob,))))

    assert "user-bob" in roles["t"]["createDurableQueue"]
    assert "user-bob" not in roles["q"]["createDurableQueue"]


@pytest.mark.parametrize("read_only", [True, False])
def test_send_is_withdrawn_from_users_and_from_dead_letters(read_only: bool) -> None:
    alice = user("alice", ("#", "send recv"))
    address = DesiredAddress("a", BrokerAddressKind.QUEUE, read_only=read_only)

    roles = permissions.roles_of(
        broker(address, users=(alice,), send_withdrawn=not read_only), address
    )

    assert roles["send"] == [desired.INTERNAL_ROLE]
    assert "user-alice" in roles["consume"]


def test_standard_brokers_have_no_public_listener_and_no_users() -> None:
    wanted = broker(
        DesiredAddress("a", BrokerAddressKind.QUEUE),
        public=False,
        users=(user("eve", ("#", "send")),),
    )

    core = parsed(wanted)

    assert [acceptor.get("name") for acceptor in core.iter(f"{CORE}acceptor")] == ["internal"]
    assert render.files(wanted, PLACE)["users.properties"] == ""
    assert desired.ROUTER_ROLE in security(core)["#"]["send"]


def test_limits_become_settings_that_refuse_and_never_drop() -> None:
    limits = AddressSettings(
        message_ttl_ms=1000,
        max_delivery_attempts=3,
        redelivery_delay_ms=50,
        max_bytes=1_000_000,
        dead_letter="dead",
        expiry="dead",
    )

    made = address_settings.render(limits, BrokerAddressKind.QUEUE)

    assert made["address-full-policy"] == "PAGE"
    assert (made["page-limit-bytes"], made["page-full-policy"]) == ("1000000", "FAIL")
    assert int(made["page-size-bytes"]) < int(made["max-size-bytes"]) <= 1_000_000
    assert (made["max-delivery-attempts"], made["redelivery-delay"]) == ("3", "50")
    assert (made["dead-letter-address"], made["expiry-address"]) == ("dead", "dead")
    assert made["max-expiry-delay"] == "1000"


def test_zero_is_a_limit_and_absence_is_none() -> None:
    unlimited = address_settings.render(AddressSettings(), BrokerAddressKind.QUEUE)
    immediate = address_settings.render(AddressSettings(message_ttl_ms=0), BrokerAddressKind.QUEUE)

    assert "max-expiry-delay" not in unlimited
    assert "page-limit-bytes" not in unlimited
    assert unlimited["max-delivery-attempts"] == "-1"
    assert immediate["max-expiry-delay"] == "0"


@given(st.dictionaries(st.text(min_size=1, max_size=20), st.text(max_size=20), max_size=4))
def test_properties_cannot_be_broken_out_of(entries: dict[str, str]) -> None:
    lines = render.properties(entries).splitlines()

    assert len(lines) == len(entries)
    for line, (key, value) in zip(lines, sorted(entries.items()), strict=True):
        left, _, right = line.partition(" = ")
        assert (_unescaped(left), _unescaped(right)) == (key, value)


def test_a_change_of_tenants_things_needs_no_restart() -> None:
    before = render.files(broker(), PLACE)
    after = render.files(
        broker(DesiredAddress("a", BrokerAddressKind.QUEUE), users=(user("u", ("#", "recv")),)),
        PLACE,
    )

    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"broker.xml", "users.properties", "roles.properties"}
    assert changed <= render.LIVE_FILES


def test_secrets_are_marked_as_such() -> None:
    files = render.files(broker(public_certificate=KeyPair("shown key", "shown")), PLACE)

    assert {"server.key", "public.key", "users.properties"} == render.SECRET_FILES
    assert set(files) >= render.LIVE_FILES


def test_what_clients_are_shown_is_in_files_of_its_own_and_changes_live() -> None:
    def rendered(**more: Any) -> dict[str, str]:
        return dict(render.files(broker(**more), PLACE))

    def listeners(text: str) -> dict[str | None, str]:
        core = ElementTree.fromstring(text).find(f"{CORE}core")
        assert core is not None
        found = {
            acceptor.get("name"): acceptor.text or "" for acceptor in core.iter(f"{CORE}acceptor")
        }
        return {
            name: text.partition("keyStorePath=")[2].split(";")[0] for name, text in found.items()
        }

    own = rendered()
    first, second = (rendered(public_certificate=KeyPair("key", shown)) for shown in ("one", "two"))

    assert listeners(own["broker.xml"])["public"] == "/s/etc/server.pemcfg"
    assert "public.pem" not in own
    assert listeners(first["broker.xml"]) == {
        "internal": "/s/etc/server.pemcfg",
        "public": "/s/etc/public.pemcfg",
    }
    assert first["public.pemcfg"] == "source.key=/s/etc/public.key\nsource.cert=/s/etc/public.pem\n"
    assert first["bootstrap.xml"] != own["bootstrap.xml"]  # other files to listen with: a restart
    assert {name for name in first if first[name] != second[name]} == {"public.pem"}


def test_a_broker_that_was_started_without_the_plugin_reads_what_it_read_before() -> None:
    text = broker_xml.render(broker(max_connections=7), PLACE)

    as_before = re.sub(r"\$\{[^:}]*:([^}]*)\}", r"\1", text)
    assert ";connectionsAllowed=7</acceptor>" in as_before
    assert '.NotificationActiveMQServerPlugin">' in as_before
    assert '<property key="SEND_CONNECTION_NOTIFICATIONS" value="true" />' in as_before


def _unescaped(text: str) -> str:
    """Read a properties token as Java does (only the escapes we write)."""
    units, position = b"", 0
    while position < len(text):
        if text[position : position + 2] == "\\u":
            units += bytes.fromhex(text[position + 2 : position + 6])
            position += 6
        else:
            units += text[position].encode("utf-16-be")
            position += 1
    return units.decode("utf-16-be", "surrogatepass")


def test_a_throttle_changes_only_what_a_running_broker_reads() -> None:
    whole = render.files(broker(), PLACE)
    throttled = render.files(broker(throttle_percent=10), PLACE)

    changed = {name for name in whole if whole[name] != throttled[name]}
    assert changed == {"broker.xml"}
    assert changed <= render.LIVE_FILES
    match = f'match="{desired.THROTTLE_MATCH}"'.replace("$", "&#36;")
    assert (match in throttled["broker.xml"], match in whole["broker.xml"]) == (True, False)
