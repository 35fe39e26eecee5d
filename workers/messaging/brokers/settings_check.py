"""Compare the settings of a broker's addresses with the desired ones, and set them by requests.

The settings of an address are its address settings (limits) and its permissions. A setting that was
made by a management request overrides ``broker.xml``, also after a reload and after a restart
(``ActiveMQServerImpl.recoverStoredConfigs``). So a difference that is left after a reload must be
set by a request, which ``apply`` does.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from controlplane.core import address_types
from workers.messaging.brokers import address_settings, desired, permissions
from workers.messaging.brokers.desired import DesiredAddress, DesiredBroker
from workers.messaging.management import ManagementClient, Refused, Request

# The name in ``address_settings.render`` -> the name in requests and answers.
_NAMES = {
    "auto-create-queues": "autoCreateQueues",
    "auto-create-addresses": "autoCreateAddresses",
    "auto-delete-queues": "autoDeleteQueues",
    "auto-delete-addresses": "autoDeleteAddresses",
    "default-address-routing-type": "defaultAddressRoutingType",
    "address-full-policy": "addressFullMessagePolicy",
    "page-size-bytes": "pageSizeBytes",
    "max-size-bytes": "maxSizeBytes",
    "page-full-policy": "pageFullMessagePolicy",
    "auto-delete-queues-message-count": "autoDeleteQueuesMessageCount",
    **{
        name: theirs
        for setting in address_types.SETTINGS
        for name, theirs in setting.engine.items()
    },
}
_UNSET = (None, "", -1)  # the values that the broker reports for a setting that is not set
# What a broker reports for a setting that has no value, if unusual.
_UNSET_TEXTS = {
    name: setting.unset
    for setting in address_types.SETTINGS
    if setting.unset
    for name in setting.engine
}
# The order of the arguments of ``addSecuritySettings`` after the address.
_ROLE_ARGUMENTS = (
    "send",
    "consume",
    "createDurableQueue",
    "deleteDurableQueue",
    "createNonDurableQueue",
    "deleteNonDurableQueue",
    "manage",
    "browse",
    "createAddress",
    "deleteAddress",
)
# A request cannot grant these two (``SecurityFormatter.createSecurity``). They govern management
# by other paths than ours, so no client and no part of Waypost uses them.
_NOT_BY_REQUEST = frozenset({"view", "edit"})


def apply(
    client: ManagementClient, broker: DesiredBroker, wanted: Sequence[DesiredAddress]
) -> None:
    """Set the address settings and permissions of ``wanted`` by requests; the broker stores them.

    ``wanted`` are addresses of ``broker``, whose users decide the permissions. In a standard space
    permissions are set for topics only, because all other addresses share one set. Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused one of the requests.
    """
    requests = [
        Request("broker", "addAddressSettings", [address.address, _as_json(address)])
        for address in wanted
    ]
    requests += [
        _permit(address.address, permissions.roles_of(broker, address))
        for address in permissions.with_own_roles(broker, wanted)
    ]
    client.ask(requests)


def withdraw(client: ManagementClient, addresses: Collection[str]) -> None:
    """Remove all permissions of users and routers on ``addresses``. Idempotent.

    Only Waypost's own role keeps its permissions. The broker stores this until ``apply`` or
    ``forget`` replaces it.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused one of the requests.
    """
    nobody = permissions.internal_roles()
    client.ask([_permit(address, nobody) for address in sorted(addresses)])


def forget(client: ManagementClient, addresses: Collection[str]) -> None:
    """Remove what ``apply`` and ``withdraw`` have stored for ``addresses``. Idempotent.

    Call it for addresses that are deleted. For others, the settings in ``broker.xml`` would apply
    again.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused one of the requests.
    """
    client.ask(
        [
            Request("broker", operation, [address])
            for address in sorted(addresses)
            for operation in ("removeAddressSettings", "removeSecuritySettings")
        ]
    )


def _permit(address: str, roles: permissions.Roles) -> Request:
    arguments = [",".join(roles[kind]) for kind in _ROLE_ARGUMENTS]
    # The last two are "view" and "edit".
    return Request("broker", "addSecuritySettings", [address, *arguments, "", ""])


def _as_json(address: DesiredAddress) -> str:
    settings = address_settings.settings_of(address)
    # Dead-letter and expiry addresses are names, so one that looks like a number stays text.
    return json.dumps(
        {
            _NAMES[name]: text if name.endswith("-address") else _typed(text)
            for name, text in settings.items()
        }
    )


def _typed(text: str) -> bool | int | str:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.lstrip("-").isdigit() else text


def find_differences(
    client: ManagementClient, broker: DesiredBroker, wanted: Sequence[DesiredAddress]
) -> dict[str, str]:
    """Return the addresses that differ on the broker from ``wanted``: address -> how, for people.

    It compares address settings and permissions. If both differ, the text is about the permissions.
    An address that the broker refuses to show differs.

    Raises:
        Unreachable: the broker stopped answering.
    """
    settings = client.try_all(
        [Request("broker", "getAddressSettingsAsJSON", [address.address]) for address in wanted]
    )
    pending = {
        address.address: difference
        for address, answer in zip(wanted, settings, strict=True)
        if (difference := _settings_difference(address, answer))
    }
    granted = permissions.with_own_roles(broker, wanted)
    roles = client.try_all(
        [Request("broker", "getRolesAsJSON", [address.address]) for address in granted]
    )
    for address, answer in zip(granted, roles, strict=True):
        own = {
            (holder, kind)
            for kind, holders in permissions.roles_of(broker, address).items()
            for holder in holders
            if kind not in _NOT_BY_REQUEST
        }
        if _granted(answer) != own:
            pending[address.address] = "permissions are not loaded yet"
    return pending


def has_loaded_users(client: ManagementClient, broker: DesiredBroker) -> bool:
    """Return whether the broker has loaded a file with the users and the throttle of ``broker``.

    The file, ``broker.xml``, has two address settings for this check
    (``desired.USERS_MATCH``, ``desired.THROTTLE_MATCH``). The permissions of addresses do not show
    whether the file is loaded, because requests may have set them.

    Raises:
        Unreachable: the broker stopped answering.
    """
    revision = desired.users_revision(broker) if broker.users else None
    wanted = {desired.USERS_MATCH: revision, desired.THROTTLE_MATCH: broker.throttle_percent}
    answers = client.try_all(
        [Request("broker", "getAddressSettingsAsJSON", [match]) for match in wanted]
    )
    return all(
        _has_delay(answer, number) for answer, number in zip(answers, wanted.values(), strict=True)
    )


def _has_delay(answer: Any, wanted: int | None) -> bool:
    """Return whether the address setting in ``answer`` has the expiry delay ``wanted``."""
    if isinstance(answer, Refused):
        return False
    found: Mapping[str, Any] = json.loads(answer) if isinstance(answer, str) else answer
    if wanted is None:
        # The file has no such setting, so the one of ``#`` applies, which has no expiry delay.
        return found.get("expiryDelay") in _UNSET
    return str(found.get("expiryDelay")) == str(wanted)


def _settings_difference(address: DesiredAddress, answer: Any) -> str:
    if isinstance(answer, Refused):
        return f"the broker refuses to show its settings: {answer}"
    found: Mapping[str, Any] = json.loads(answer) if isinstance(answer, str) else answer
    wanted = address_settings.settings_of(address)
    for name, theirs in _NAMES.items():
        if name in wanted and _as_text(found.get(theirs)) != wanted[name]:
            return f"{name} is {found.get(theirs)}, not {wanted[name]} yet"
        is_unset = found.get(theirs) in _UNSET or str(found[theirs]) == _UNSET_TEXTS.get(name)
        if name not in wanted and not is_unset:
            return f"{name} is {found.get(theirs)} and should not be set"
    return ""


def _as_text(value: Any) -> str:
    """Return a setting's value, as the broker reports it in JSON, as ``broker.xml`` has it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _granted(answer: Any) -> set[tuple[str, str]]:
    if isinstance(answer, Refused):
        return set()
    roles: Any = json.loads(answer) if isinstance(answer, str) else answer
    # ``ManagementClient`` unwraps a list with one element.
    rows = [roles] if isinstance(roles, Mapping) else roles
    return {
        (row["name"], kind)
        for row in rows
        for kind, allowed in row.items()
        if allowed is True and kind not in _NOT_BY_REQUEST
    }
