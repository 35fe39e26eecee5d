"""Limits of clients in ``broker.xml``: properties of the plugin, credits, size of dead letters."""

from xml.etree import ElementTree

import pytest

from controlplane.core.address_types import AddressSettings
from workers.messaging.brokers import address_settings, broker_xml, render
from workers.messaging.brokers.desired import (
    BrokerAddressKind,
    ClientLimits,
    DesiredAddress,
    DesiredBroker,
    EngineLayout,
)
from workers.messaging.certificates import KeyPair

LAYOUT = EngineLayout("/etc", "/data", "127.0.0.1", 1, 2)
NONE = ClientLimits()


def broker(limits: ClientLimits) -> DesiredBroker:
    return DesiredBroker(
        public=True,
        addresses=(),
        users=(),
        send_withdrawn=False,
        server=KeyPair("", ""),
        authority_pem="",
        client_limits=limits,
    )


def properties(limits: ClientLimits) -> dict[str, str]:
    root = ElementTree.fromstring(broker_xml.render(broker(limits), LAYOUT))
    found = root.iter("{urn:activemq:core}property")
    return {element.attrib["key"]: element.attrib["value"] for element in found}


def test_the_plugin_gets_the_limits_that_there_are() -> None:
    limits = ClientLimits(message_bytes=1024, user_rate=50)

    added = properties(limits).items() - properties(NONE).items()

    assert added == {("message-bytes", "1024"), ("user-rate", "50")}


@pytest.mark.parametrize(
    ("limits", "credits"),
    [
        (NONE, "amqpCredits=1000;amqpLowCredits=300"),
        (ClientLimits(connection_rate=50, user_rate=90), "amqpCredits=50;amqpLowCredits=15"),
        (ClientLimits(user_rate=1), "amqpCredits=10;amqpLowCredits=3"),
        (ClientLimits(user_rate=9000), "amqpCredits=1000;amqpLowCredits=300"),
    ],
)
def test_a_client_has_credit_for_one_second_at_most(limits: ClientLimits, credits: str) -> None:
    acceptors = [
        line
        for line in broker_xml.render(broker(limits), LAYOUT).splitlines()
        if "<acceptor name" in line
    ]

    assert "amqpCredits=1000;amqpLowCredits=300" in acceptors[0]  # for routers
    assert credits in acceptors[1]


def test_another_limit_restarts_the_broker_and_none_does_not() -> None:
    files = [
        render.files(broker(limits), LAYOUT)["bootstrap.xml"]
        for limits in (NONE, ClientLimits(), ClientLimits(sessions=5))
    ]

    assert files[0] == files[1] != files[2]


def test_an_address_for_dead_letters_tells_the_plugin_its_size() -> None:
    dead = DesiredAddress(
        "dead", BrokerAddressKind.QUEUE, AddressSettings(max_bytes=7), read_only=True
    )

    found = address_settings.settings_of(dead)

    assert found["auto-delete-queues-message-count"] == "7"
    assert found["auto-delete-queues"] == "false"
