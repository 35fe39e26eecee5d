"""Validate the vhosts of the configuration; as in Dispatch, an invalid one prevents the start.

A vhost is the policy of a listener. This router uses only a vhost's limits and its forbidden
capabilities, because permissions come from the auth service (``handshake``). Source: Qpid Dispatch,
``policy_local.py``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

logger = structlog.get_logger(__name__)

# Counts of the whole policy; ``_COUNTS`` has those of a group.
_LIMITS = ("maxConnections", "maxConnectionsPerUser", "maxConnectionsPerHost", "maxMessageSize")
_FLAGS = {"allowUserIdProxy", "allowDynamicSource", "allowAnonymousSender", "allowWaypointLinks",
          "allowFallbackLinks", "allowDynamicLinkRoutes", "allowAdminStatusUpdate"}  # fmt: skip
_COUNTS = {"maxConnectionsPerUser", "maxConnectionsPerHost", "maxFrameSize", "maxMessageSize",
           "maxSessionWindow", "maxSessions", "maxSenders", "maxReceivers"}  # fmt: skip
_TEXTS = {"users", "remoteHosts", "sources", "targets", "sourcePattern", "targetPattern"}


class BadPolicy(ValueError):
    """A vhost is not valid; the text is the one that Dispatch logs."""


def check(vhosts: Sequence[Mapping[str, Any]]) -> None:
    """Raise ``BadPolicy`` if Dispatch would not start with these vhosts."""
    names = [str(vhost["hostname"]) for vhost in vhosts]
    for vhost, name in zip(vhosts, names, strict=True):
        if names.count(name) > 1:
            raise BadPolicy(f"Duplicate value '{name}' for unique attribute 'hostname'")
        _Vhost(name, vhost).check()


class _Vhost:
    """Validates one vhost: ``check`` raises ``BadPolicy`` at the first problem."""

    def __init__(self, name: str, attributes: Mapping[str, Any]) -> None:
        self._where = f"Policy vhost '{name}'"
        self._attributes = attributes
        self._groups: Mapping[str, Mapping[str, Any]] = attributes.get("groups", {})

    def check(self) -> None:
        for option in _LIMITS:
            self._check_count(f"{self._where} option '{option}'", self._attributes.get(option, 0))
        for group, settings in self._groups.items():
            self._check_group(f"{self._where} user group '{group}'", settings)
        self._check_users()

    def _check_group(self, where: str, settings: Mapping[str, Any]) -> None:
        for option, value in settings.items():
            what = f"{where} option '{option}'"
            if option in _COUNTS:
                self._check_count(what, value)
            elif option in _FLAGS:
                if not isinstance(value, bool) and value not in ("true", "false"):
                    raise BadPolicy(f"{what} has illegal boolean value '{value}'.")
            elif option not in _TEXTS:
                logger.warning(
                    "an unknown option of a policy is ignored", where=where, option=option
                )

    def _check_users(self) -> None:
        group_of: dict[str, str] = {}
        for group, settings in self._groups.items():
            # A group without ``users`` contains the user with the empty name.
            for user in (name.strip() for name in str(settings.get("users", "")).split(",")):
                other = group_of.setdefault(user, group)
                if other != group:
                    raise BadPolicy(
                        f"{self._where} user '{user}' is in multiple user groups "
                        f"'{other}' and '{group}'"
                    )

    @staticmethod
    def _check_count(what: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadPolicy(f"{what}: invalid literal for int() with base 10: '{value}'")
        if value < 0:
            raise BadPolicy(f"{what} has error 'Value '{value}' is below minimum '0'.'.")


def forbidden_capabilities(groups: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return the capabilities that a vhost's clients may not request for a source or target.

    ``groups`` are the user groups of the vhost. A capability that any of them forbids is forbidden
    to all clients.
    """
    flags = {"qd.waypoint": "allowWaypointLinks", "qd.fallback": "allowFallbackLinks"}
    return frozenset(
        capability
        for capability, flag in flags.items()
        if any(settings.get(flag, True) in (False, "false") for settings in groups.values())
    )
