"""Who may do what on a broker: users' patterns turned into exact roles per address. Pure.

Each user has a role of its own (``user-<name>``). An exact setting per address, computed here from
the patterns, is what the broker gets; it never sees a tenant's pattern.
"""

from collections.abc import Mapping, Sequence

from workers.messaging import patterns
from workers.messaging.brokers import desired
from workers.messaging.brokers.desired import DesiredAddress, DesiredBroker, DesiredUser, Holds

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
_SEND = ("send",)
_RECEIVE = ("consume", "browse")
# Only who may receive may make queues. Without that right a broker calls a refused plain
# subscription ``amqp:internal-error``; to give it to everybody would make that
# ``amqp:unauthorized-access``, but a refused link would then leave its queue behind (a shared one
# beyond the connection's end), and that queue would fill with copies on the tenant's bill.
_SUBSCRIBE = (
    *_RECEIVE,
    "createDurableQueue",
    "deleteDurableQueue",
    "createNonDurableQueue",
    "deleteNonDurableQueue",
)
# Routers send and consume for all users of a standard space; they create subscriptions as well.
_ROUTE = (*_SEND, *_SUBSCRIBE)

Roles = Mapping[str, Sequence[str]]  # permission type -> roles


def role(user: str) -> str:
    """Return the role that only this user has."""
    return f"user-{user}"


def may(user: DesiredUser, operation: str, address: DesiredAddress, *, withdrawn: bool) -> bool:
    """Return whether ``user`` may ``send`` to or ``recv`` from ``address`` now."""
    if operation == "send" and (withdrawn or address.read_only):
        return False
    return any(
        operation in permission.operations
        and any(patterns.matches(pattern, address.address) for pattern in permission.addresses)
        for permission in user.permissions
    )


def roles_of(broker: DesiredBroker, address: DesiredAddress) -> Roles:
    """Return the exact roles of one address; internal ones may do everything."""
    roles: dict[str, list[str]] = {each: [desired.INTERNAL_ROLE] for each in EVERYTHING}
    receive = _SUBSCRIBE if address.holds is Holds.TOPIC else _RECEIVE
    for user in broker.users:
        for operation, types in (("send", _SEND), ("recv", receive)):
            if may(user, operation, address, withdrawn=broker.send_withdrawn):
                for each in types:
                    roles[each].append(role(user.name))
    return roles


def router_roles() -> Roles:
    """Return what routers may do anywhere on a broker of a standard space."""
    return {
        each: [desired.INTERNAL_ROLE, *([desired.ROUTER_ROLE] if each in _ROUTE else [])]
        for each in EVERYTHING
    }


def internal_roles() -> Roles:
    """Return the roles of what no client may touch."""
    return {each: [desired.INTERNAL_ROLE] for each in EVERYTHING}
