"""The attributes of a broker's queues, such as the number of consumers; set them by requests.

They are not address settings: Artemis keeps them for each queue. ``broker_xml`` writes them into
the file only where a setting has a value, so that the file of other queues stays as it is. A value
that was removed must be set back by a request, because a reload leaves the attribute alone.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from controlplane.core import address_types
from controlplane.core.address_types import AddressSettings, Setting
from workers.messaging.brokers.desired import DesiredAddress
from workers.messaging.management import Request

_OF_QUEUES = tuple(setting for setting in address_types.SETTINGS if setting.queue)
_WORDS = {"yes": "true", "no": "false"}


def attributes(limits: AddressSettings) -> Mapping[str, str]:
    """Return the attributes that differ from the broker's defaults: name in the file -> text."""
    given = limits.given()
    return {
        attribute: _text(given[setting.name])
        for setting in _OF_QUEUES
        if setting.name in given
        for attribute in setting.queue
    }


def as_request(address: DesiredAddress, name: str, operation: str) -> Request:
    """Return the request that creates or updates (``operation``) the queue ``name``."""
    queue: dict[str, Any] = {
        "name": name,
        "address": address.address,
        "routing-type": address.routing_type,
        "durable": True,
        "auto-create-address": False,
        "auto-delete": False,
    }
    limits = address.limits_of(name)
    if operation == "updateQueue":
        queue |= {key: _typed(text) for key, (_column, text) in _changeable(limits).items()}
        return Request("broker", operation, [json.dumps(queue)])
    # A key is a name, so one that looks like a number stays text.
    queue |= {
        key: text if key.endswith("-key") else _typed(text)
        for key, text in attributes(limits).items()
    }
    # The second argument makes the broker ignore a queue that exists already.
    return Request("broker", operation, [json.dumps(queue), True])


def list_different(
    wanted: Sequence[DesiredAddress], present: Mapping[str, Mapping[str, Any]]
) -> Sequence[tuple[DesiredAddress, str]]:
    """Return the (address, queue) whose attributes differ from the desired ones.

    ``present``: rows of ``listQueues`` by name. Missing queues are left out.
    """
    return [
        (address, name)
        for address in wanted
        for name in address.queues
        if name in present
        and any(
            str(present[name].get(column)) != text
            for column, text in _changeable(address.limits_of(name)).values()
        )
    ]


def _changeable(limits: AddressSettings) -> dict[str, tuple[str, str]]:
    """Return {attribute: (column of ``listQueues``, text)} of all that can change later."""
    given = limits.given()
    return {
        attribute: (column, _wanted(setting, given))
        for setting in _OF_QUEUES
        if not setting.is_fixed
        for attribute, column in setting.queue.items()
    }


def _wanted(setting: Setting, given: Mapping[str, int | str]) -> str:
    return _text(given[setting.name]) if setting.name in given else setting.queue_unset


def _text(value: int | str) -> str:
    return _WORDS.get(str(value), str(value))


def _typed(text: str) -> bool | int | str:
    if text in _WORDS.values():
        return text == "true"
    return int(text) if text.lstrip("-").isdigit() else text
