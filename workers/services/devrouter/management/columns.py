"""List the columns of each entity type, and give numbers the AMQP types of Dispatch.

proton sends a Python int as AMQP ``long``, but Dispatch answers ``int``, ``uint`` or ``ulong``.
This router must answer the same types, because a driver may compare values with their types.
"""

from collections.abc import Callable, Mapping
from typing import Any

from proton import int32, uint, ulong

# Columns by their type in AMQP, as the real router answers.
_INT32 = {"idleTimeoutSeconds", "phase",
          "ingressPhase", "egressPhase", "priority", "instance", "cost",
          "connectionsApproved", "connectionsDenied", "connectionsCurrent"}  # fmt: skip
_UINT = {"uptimeSeconds", "lastDlvSeconds", "inProcess", "subscriberCount", "remoteCount",
         "containerCount", "capacity", "creditAvailable"}  # fmt: skip
_ULONG = {"addrCount", "linkCount", "nodeCount", "connectionCount", "autoLinkCount",
          "linkRouteCount", "undeliveredCount", "unsettledCount", "deliveryCount",
          "presettledCount", "droppedPresettledCount", "acceptedCount", "rejectedCount",
          "releasedCount", "modifiedCount", "deliveriesIngress", "deliveriesEgress",
          "deliveriesTransit", "deliveriesToContainer", "deliveriesFromContainer",
          "deliveriesIngressRouteContainer", "deliveriesEgressRouteContainer"}  # fmt: skip
# Column -> type; columns that are missing here are no numbers.
_NUMBERS: Mapping[str, Callable[[int], int]] = {
    **dict.fromkeys(_INT32, int32),
    **dict.fromkeys(_UINT, uint),
    **dict.fromkeys(_ULONG, ulong),
}
_OF_ALL = {"name", "identity", "type"}  # attributes that every entity has
# By entity type, without those of ``_OF_ALL``.
_COLUMNS: Mapping[str, set[str]] = {
    "router": {"id", "mode", "version", "uptimeSeconds", "addrCount", "linkCount",
               "connectionCount", "autoLinkCount", "linkRouteCount", "deliveriesIngress",
               "deliveriesEgress"},
    "router.node": {"id", "address", "nextHop", "instance", "cost"},
    "router.config.address": {"prefix", "pattern", "distribution", "waypoint", "ingressPhase",
                              "egressPhase", "priority", "fallback"},
    "router.config.autoLink": {"address", "direction", "phase", "containerId", "connection",
                               "externalAddress", "fallback", "linkRef", "operStatus",
                               "lastError"},
    "router.config.linkRoute": {"prefix", "pattern", "direction", "distribution", "containerId",
                                "connection", "addExternalPrefix", "delExternalPrefix",
                                "operStatus"},
    "router.address": {"key", "distribution", "inProcess", "subscriberCount", "remoteCount",
                       "containerCount", "deliveriesIngress", "deliveriesEgress",
                       "deliveriesTransit", "deliveriesToContainer", "deliveriesFromContainer",
                       "deliveriesIngressRouteContainer", "deliveriesEgressRouteContainer"},
    "router.link": {"linkName", "linkType", "linkDir", "owningAddr", "connectionId", "capacity",
                    "creditAvailable", "unsettledCount", "undeliveredCount", "deliveryCount",
                    "presettledCount", "droppedPresettledCount", "acceptedCount",
                    "rejectedCount", "releasedCount", "modifiedCount", "operStatus",
                    "adminStatus"},
    "connection": {"container", "host", "role", "dir", "user", "sasl", "isAuthenticated",
                   "isEncrypted", "ssl", "opened", "operStatus", "adminStatus", "uptimeSeconds",
                   "lastDlvSeconds", "protocol", "tenant", "properties", "sslProto",
                   "sslCipher"},
    "connector": {"idleTimeoutSeconds", "host",
                  "port", "role", "sslProfile", "saslMechanisms", "verifyHostname",
                  "connectionStatus", "connectionMsg"},
    "vhostStats": {"id", "hostname", "connectionsApproved", "connectionsDenied",
                   "connectionsCurrent", "perUserState"},
}  # fmt: skip


def known(kind: str) -> set[str]:
    """Return the columns that a QUERY of the entity type ``kind`` may name; empty if unknown.

    ``kind`` is without ``org.apache.qpid.dispatch.``.
    """
    return _COLUMNS[kind] | _OF_ALL if kind in _COLUMNS else set()


def typed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of ``row`` with its numbers in the AMQP types of Dispatch."""
    return {
        # A bool is an int in Python, but not in AMQP.
        name: value
        if value is None or isinstance(value, bool) or name not in _NUMBERS
        else _NUMBERS[name](value)
        for name, value in row.items()
    }
