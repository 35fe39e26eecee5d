"""Read a broker's security and address settings back and compare them with what is desired."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workers.messaging.brokers import broker_xml, permissions
from workers.messaging.brokers.desired import DesiredAddress, DesiredBroker
from workers.messaging.management import ManagementClient, Refused, Request

# The broker's names of what ``broker_xml.address_settings`` writes, where we compare them.
_COMPARED = {
    "max-delivery-attempts": "maxDeliveryAttempts",
    "redelivery-delay": "redeliveryDelay",
    "max-size-bytes": "maxSizeBytes",
    "page-limit-bytes": "pageLimitBytes",
    "page-full-policy": "pageFullMessagePolicy",
    "expiry-delay": "expiryDelay",
    "dead-letter-address": "deadLetterAddress",
    "expiry-address": "expiryAddress",
}


def find_differences(
    client: ManagementClient, broker: DesiredBroker, wanted: Sequence[DesiredAddress]
) -> dict[str, str]:
    """Return the addresses whose settings are not loaded yet, each with what differs."""
    settings = client.try_all(
        [Request("broker", "getAddressSettingsAsJSON", [each.address]) for each in wanted]
    )
    pending = {
        each.address: difference
        for each, answer in zip(wanted, settings, strict=True)
        if (difference := _settings_difference(each, answer))
    }
    if broker.public:
        roles = client.try_all(
            [Request("broker", "getRolesAsJSON", [each.address]) for each in wanted]
        )
        for each, answer in zip(wanted, roles, strict=True):
            if _granted(answer) != _wanted_roles(broker, each):
                pending[each.address] = "permissions are not loaded yet"
    return pending


def _settings_difference(address: DesiredAddress, answer: Any) -> str:
    if isinstance(answer, Refused):
        return f"its settings cannot be read: {answer}"
    found: Mapping[str, Any] = json.loads(answer) if isinstance(answer, str) else answer
    desired = broker_xml.address_settings(address.limits, address.holds)
    for name, theirs in _COMPARED.items():
        if name in desired and str(found.get(theirs)) != desired[name]:
            return f"{name} is {found.get(theirs)}, not {desired[name]} yet"
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
    rows = [roles] if isinstance(roles, Mapping) else roles
    return {(row["name"], kind) for row in rows for kind, allowed in row.items() if allowed is True}
