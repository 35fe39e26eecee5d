"""Turn the permissions of users into exact roles for each address of a broker. Pure.

A role is a name that Artemis gives permissions to. Each user of a brokered space has a role of its
own (``user-<name>``). This module matches the tenants' patterns with the addresses, so the broker
gets exact settings for each address and never a tenant's pattern.
"""

from collections.abc import Mapping, Sequence, Set

from workers.messaging import patterns
from workers.messaging.brokers import desired
from workers.messaging.brokers.desired import (
    BrokerAddressKind,
    DesiredAddress,
    DesiredBroker,
    DesiredUser,
)

# All permission types of Artemis.
EVERYTHING = (
    "createAddress",
    "deleteAddress",
    "createDurableQueue",
    "deleteDurableQueue",
    "createNonDurableQueue",
    "deleteNonDurableQueue",
    "consume",
    "browse",
    "send",
    "manage",
    "view",
    "edit",
)
_SEND = ("send",)  # Artemis's names of permissions
_RECEIVE = ("consume", "browse")
_ROUTE = (*_SEND, *_RECEIVE)  # what routers may do
# Only users who may receive from a topic may create queues on it. A user without that right gets
# ``amqp:internal-error`` for a refused non-durable subscription. If everybody had the right, the
# error would be ``amqp:unauthorized-access``, but a refused link would leave its queue behind (a
# shared one even after the connection ends). The tenant would pay for the copies in that queue.
_SUBSCRIBE = (
    *_RECEIVE,
    "createDurableQueue",
    "deleteDurableQueue",
    "createNonDurableQueue",
    "deleteNonDurableQueue",
)

# What the clients of a brokered space may do on an address without permissions of its own. The
# broker plugin limits it to temporary queues for replies (``Replies.java``) and to subscriptions to
# filters (``Filters.java``).
_REPLIES = (
    "createNonDurableQueue",
    "deleteNonDurableQueue",
    "createDurableQueue",
    "deleteDurableQueue",
    "consume",
)
# Before the pattern in the name of a role whose users may receive from what it matches. The
# broker plugin compares filters with these patterns.
_READS = "waypost-reads-"

Roles = Mapping[str, Sequence[str]]  # permission type -> roles


def role(user: str) -> str:
    """Return the name of the role that only the messaging user ``user`` has."""
    return f"user-{user}"


def readers(users: Sequence[DesiredUser]) -> Mapping[str, Sequence[str]]:
    """Return {role: names of its users} for each pattern that a filter may be compared with.

    Patterns without a wildcard cover no filter, so they have no role.
    """
    holders: dict[str, list[str]] = {}
    for user in users:
        for pattern in sorted(_read_patterns(user)):
            if not {"*", "#"}.isdisjoint(pattern.split("/")):
                holders.setdefault(_READS + pattern, []).append(user.name)
    return holders


def may_subscribe(user: DesiredUser, wanted: str) -> bool:
    """Return whether one of the user's own patterns covers the filter ``wanted``."""
    return any(patterns.covers(pattern, wanted) for pattern in _read_patterns(user))


def _read_patterns(user: DesiredUser) -> Set[str]:
    return {
        pattern
        for permission in user.permissions
        if "recv" in permission.operations
        for pattern in permission.addresses
    }


def may(user: DesiredUser, operation: str, address: DesiredAddress, *, withdrawn: bool) -> bool:
    """Return whether ``user`` may ``send`` to or ``recv`` from ``address`` now.

    With ``withdrawn`` nobody in the space may send (quota). Nobody may ever send to a read-only
    address. Otherwise the user's permissions decide.
    """
    if operation == "send" and (withdrawn or address.read_only):
        return False
    return any(
        operation in permission.operations
        and any(patterns.matches(pattern, address.address) for pattern in permission.addresses)
        for permission in user.permissions
    )


def roles_of(broker: DesiredBroker, address: DesiredAddress) -> Roles:
    """Return the exact roles of one address: permission type -> roles that have it.

    Waypost's internal role has all. In a brokered space each permitted user's own role follows. In
    a standard space the routers check each user, so the routers' role gets all permissions that
    users of such an address need.
    """
    roles: dict[str, list[str]] = {kind: [desired.INTERNAL_ROLE] for kind in EVERYTHING}
    receive = _SUBSCRIBE if address.address_kind is BrokerAddressKind.TOPIC else _RECEIVE
    if not broker.public:
        for kind in (*_SEND, *receive):
            roles[kind].append(desired.ROUTER_ROLE)
        return roles
    for user in broker.users:
        for operation, types in (("send", _SEND), ("recv", receive)):
            if may(user, operation, address, withdrawn=broker.send_withdrawn):
                for kind in types:
                    roles[kind].append(role(user.name))
    return roles


def with_own_roles(
    broker: DesiredBroker, addresses: Sequence[DesiredAddress]
) -> Sequence[DesiredAddress]:
    """Return those of ``addresses`` that need roles of their own.

    In a brokered space these are all addresses. In a standard space they are the topics; all other
    addresses share ``router_roles``, which ``broker.xml`` has under the match ``#``.
    """
    if broker.public:
        return addresses
    return [address for address in addresses if address.address_kind is BrokerAddressKind.TOPIC]


def router_roles() -> Roles:
    """Return the roles of every address of a broker in a standard space that has none of its own.

    The routers' role may send, receive and browse there; the internal role may do everything.
    Routers may create queues on topics only (``roles_of``). By the property ``x-opt-qd.address`` of
    a dynamic node, a client can make a router request a temporary queue from the broker. The router
    checks no permission then, and such a queue would be unmetered and unlimited.
    """
    return {
        kind: [desired.INTERNAL_ROLE, *([desired.ROUTER_ROLE] if kind in _ROUTE else [])]
        for kind in EVERYTHING
    }


def reply_roles(broker: DesiredBroker, holder: str) -> Roles:
    """Return the roles of every address of a brokered space that has none of its own.

    ``holder``, the role of all clients, may create queues there, read from and send to them. The
    broker plugin limits this to temporary queues for replies and to filters. While sending is
    withdrawn, nobody may send replies. The internal role may do everything.
    """
    kinds = _REPLIES if broker.send_withdrawn else (*_REPLIES, *_SEND)
    return {
        kind: [desired.INTERNAL_ROLE, *([holder] if kind in kinds else [])] for kind in EVERYTHING
    }


def internal_roles() -> Roles:
    """Return the roles of an address that only Waypost's workers may use."""
    return {kind: [desired.INTERNAL_ROLE] for kind in EVERYTHING}
