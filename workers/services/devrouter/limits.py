"""Describe the limits that a vhost's policy sets to each user and connection, as in Dispatch.

``configuration`` reads the limits, ``router`` and ``links`` enforce them. Source: Qpid Dispatch,
``policy.c`` and ``router_node.c``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from proton import Condition, Delivery, Link

OVER_LIMIT = Condition("amqp:resource-limit-exceeded", "disallowed by local policy")
_TOO_LARGE = "Message size exceeded"


class Client(NamedTuple):
    """Whose connection it is, and the address of the host that it comes from."""

    user: str
    host: str


@dataclass(frozen=True)
class Limits:
    """Limits of a vhost's clients; 0 means no limit.

    ``user_connections``: connections of one user. ``source_connections``: connections from one
    host. ``sessions``, ``senders``, ``receivers``: of one connection. ``message_bytes``: of one
    message that a client sends.
    """

    user_connections: int = 0
    source_connections: int = 0
    sessions: int = 0
    senders: int = 0
    receivers: int = 0
    message_bytes: int = 0

    @classmethod
    def of(cls, groups: Mapping[str, Mapping[str, Any]]) -> Self:
        """Return the limits in the user group ``$default`` of a vhost's ``groups``.

        Other groups are ignored: Waypost writes none.
        """
        group = groups.get("$default", {})
        return cls(
            group.get("maxConnectionsPerUser", 0),
            group.get("maxConnectionsPerHost", 0),
            group.get("maxSessions", 0),
            group.get("maxSenders", 0),
            group.get("maxReceivers", 0),
            group.get("maxMessageSize", 0),
        )

    def refuses(self, new: Client, others: Sequence[Client]) -> bool:
        """Return whether the connection of ``new`` exceeds a limit while ``others`` are open."""
        of_user = sum(other.user == new.user for other in others)
        of_host = sum(other.host == new.host for other in others)
        return 0 < self.user_connections <= of_user or 0 < self.source_connections <= of_host

    def is_reached_by(self, links: Iterable[Link], new: Link) -> bool:
        """Return whether a connection with ``links`` must not attach ``new`` too.

        Only the limits of senders and receivers count here.
        """
        # The router's receivers are the client's senders.
        allowed = self.receivers if new.is_sender else self.senders
        return 0 < allowed <= sum(link.is_sender == new.is_sender for link in links)


NONE = Limits()


def refuse_message(delivery: Delivery) -> None:
    """Reject a message as too large, close its link, and close its connection with an error.

    The caller checks the size, and sends the output (``Connection.touch``).
    """
    link = delivery.link
    delivery.local.condition = Condition("amqp:link:message-size-exceeded", _TOO_LARGE)
    delivery.update(Delivery.REJECTED)
    delivery.settle()
    link.close()
    connection = link.connection
    connection.condition = Condition("amqp:connection:forced", _TOO_LARGE)
    connection.close()
