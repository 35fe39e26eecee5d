"""Attributes of queues: in the file only where a setting has a value, and set back by a request."""

import json

from controlplane.core.address_types import AddressSettings
from workers.messaging.brokers import queue_settings
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress

UNSET = {"maxConsumers": "-1", "exclusive": "false", "groupRebalance": "false", "ringSize": "-1"}


def queue(settings: AddressSettings) -> DesiredAddress:
    return DesiredAddress("orders", BrokerAddressKind.QUEUE, settings)


def test_a_queue_without_settings_has_no_attributes() -> None:
    assert queue_settings.attributes(AddressSettings(max_bytes=5)) == {}
    assert queue_settings.list_different([queue(AddressSettings())], {"orders": UNSET}) == []


def test_a_removed_value_is_set_back() -> None:
    wanted = queue(AddressSettings(exclusive="no", last_value_key="1"))
    present = {"orders": {**UNSET, "ringSize": "5"}}

    assert queue_settings.list_different([wanted], present) == [(wanted, "orders")]
    request = queue_settings.as_request(wanted, "orders", "updateQueue")
    asked = json.loads(str(request.arguments[0]))
    assert (asked["ring-size"], asked["exclusive"]) == (-1, False)
    assert "last-value-key" not in asked


def test_a_last_value_key_that_looks_like_a_number_stays_text() -> None:
    wanted = queue(AddressSettings(last_value_key="1"))

    request = queue_settings.as_request(wanted, "orders", "createQueue")

    assert json.loads(str(request.arguments[0]))["last-value-key"] == "1"
