"""Turn settings of an address into attributes of a broker's queue, such as the most consumers.

Queue attributes are not address settings: Artemis keeps them for each queue. ``broker_xml`` writes
an attribute only where a setting has a value, so that the entries of other queues stay as they are.
When a setting loses its value, a request must set the attribute back, because a reload leaves the
attribute alone. Nothing here sends a request; ``tables`` does.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from controlplane.core import address_types
from controlplane.core.address_types import AddressSettings
from workers.messaging.brokers.desired import DesiredAddress
from workers.messaging.management import Request

# These become attributes of queues.
_OF_QUEUES = tuple(setting for setting in address_types.SETTINGS if setting.queue)
_WORDS = {"yes": "true", "no": "false"}  # Value of a setting -> value in ``broker.xml``


def attributes(limits: AddressSettings) -> Mapping[str, str]:
    """Return the queue attributes for which ``limits`` has a value: name in the file -> text."""
    given = limits.given()
    return {
        attribute: _text(given[setting.name])
        for setting in _OF_QUEUES
        if setting.name in given
        for attribute in setting.queue
    }


def as_request(address: DesiredAddress, name: str, operation: str) -> Request:
    """Return the request that creates or updates the queue ``name`` of ``address``; send nothing.

    ``operation`` is ``createQueue`` or ``updateQueue``. An update sets each attribute that can
    change, also one without a value, to the broker's default. A creation of a queue that exists
    changes nothing.
    """
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
    """Return each (address, queue name) of ``wanted`` whose attributes the broker must change.

    ``present``: the broker's queues, as rows of ``listQueues`` by name. Queues that are missing
    there are left out, and attributes that can never change are not compared.
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
    """Return {attribute: (column of ``listQueues``, wanted text)} of all that can change later.

    An attribute for which ``limits`` has no value is wanted as the broker's default.
    """
    given = limits.given()
    return {
        attribute: (
            column,
            _text(given[setting.name]) if setting.name in given else setting.queue_unset,
        )
        for setting in _OF_QUEUES
        if not setting.is_fixed
        for attribute, column in setting.queue.items()
    }


def _text(value: int | str) -> str:
    return _WORDS.get(str(value), str(value))


def _typed(text: str) -> bool | int | str:
    if text in _WORDS.values():
        return text == "true"
    return int(text) if text.lstrip("-").isdigit() else text
