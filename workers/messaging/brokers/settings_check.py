"""Read a broker's security and address settings and compare them with the desired ones."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from controlplane.core import address_types
from workers.messaging.brokers import broker_xml, permissions
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress, DesiredBroker
from workers.messaging.management import ManagementClient, Refused, Request

# Settings that are compared: the name in ``broker_xml.address_settings`` -> the name in the answer.
_COMPARED = {
    "max-size-bytes": "maxSizeBytes",
    "page-full-policy": "pageFullMessagePolicy",
    **{
        name: theirs
        for setting in address_types.SETTINGS
        for name, theirs in setting.engine.items()
        if theirs
    },
}


def find_differences(
    client: ManagementClient, broker: DesiredBroker, wanted: Sequence[DesiredAddress]
) -> dict[str, str]:
    """Return the addresses whose settings or permissions are not loaded yet: address -> reason."""
    settings = client.try_all(
        [Request("broker", "getAddressSettingsAsJSON", [address.address]) for address in wanted]
    )
    pending = {
        address.address: difference
        for address, answer in zip(wanted, settings, strict=True)
        if (difference := _settings_difference(address, answer))
    }
    granted = wanted if broker.public else _topics(wanted)
    roles = client.try_all(
        [Request("broker", "getRolesAsJSON", [address.address]) for address in granted]
    )
    for address, answer in zip(granted, roles, strict=True):
        if _granted(answer) != _wanted_roles(broker, address):
            pending[address.address] = "permissions are not loaded yet"
    return pending


def _topics(wanted: Sequence[DesiredAddress]) -> Sequence[DesiredAddress]:
    """Return the topics: in a standard space only they have roles of their own.

    All other addresses share the roles of ``#``.
    """
    return [address for address in wanted if address.address_kind is BrokerAddressKind.TOPIC]


def _settings_difference(address: DesiredAddress, answer: Any) -> str:
    if isinstance(answer, Refused):
        return f"the broker refuses to show its settings: {answer}"
    found: Mapping[str, Any] = json.loads(answer) if isinstance(answer, str) else answer
    desired = broker_xml.address_settings(address.limits, address.address_kind)
    for name, theirs in _COMPARED.items():
        if name in desired and str(found.get(theirs)) != desired[name]:
            return f"{name} is {found.get(theirs)}, not {desired[name]} yet"
        # Unset, depending on the setting: missing, empty or -1.
        if name not in desired and found.get(theirs) not in (None, "", -1):
            return f"{name} is {found.get(theirs)} and should not be set"
    return ""


def _wanted_roles(broker: DesiredBroker, address: DesiredAddress) -> set[tuple[str, str]]:
    roles = permissions.roles_of(broker, address)
    return {(holder, kind) for kind, holders in roles.items() for holder in holders}


def _granted(answer: Any) -> set[tuple[str, str]]:
    if isinstance(answer, Refused):
        return set()
    roles: Any = json.loads(answer) if isinstance(answer, str) else answer
    # ``ManagementClient`` unwraps a list with one element.
    rows = [roles] if isinstance(roles, Mapping) else roles
    return {(row["name"], kind) for row in rows for kind, allowed in row.items() if allowed is True}
