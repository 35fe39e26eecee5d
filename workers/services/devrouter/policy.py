"""Validate the vhosts of the configuration; like Dispatch, refuse to start with an invalid one.

The permissions of a login come from the auth service (``handshake``). The router uses only a
vhost's limit of connections and its forbidden capabilities. Source: Qpid Dispatch,
``policy_local.py``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

logger = structlog.get_logger(__name__)

_LIMITS = ("maxConnections", "maxConnectionsPerUser", "maxConnectionsPerHost", "maxMessageSize")
_FLAGS = {"allowUserIdProxy", "allowDynamicSource", "allowAnonymousSender", "allowWaypointLinks",
          "allowFallbackLinks", "allowDynamicLinkRoutes", "allowAdminStatusUpdate"}  # fmt: skip
_COUNTS = {"maxConnectionsPerUser", "maxConnectionsPerHost", "maxFrameSize", "maxMessageSize",
           "maxSessionWindow", "maxSessions", "maxSenders", "maxReceivers"}  # fmt: skip
_TEXTS = {"users", "remoteHosts", "sources", "targets", "sourcePattern", "targetPattern"}


class BadPolicy(ValueError):
    """The policy is not valid; the text is that of Dispatch."""


def check(vhosts: Sequence[Mapping[str, Any]]) -> None:
    """Raise ``BadPolicy`` if Dispatch would not start with these vhosts."""
    names = [str(vhost["hostname"]) for vhost in vhosts]
    for vhost, name in zip(vhosts, names, strict=True):
        if names.count(name) > 1:
            raise BadPolicy(f"Duplicate value '{name}' for unique attribute 'hostname'")
        for option in _LIMITS:
            _require_count(f"Policy vhost '{name}' option '{option}'", vhost.get(option, 0))
        groups = vhost.get("groups", {})
        for group, settings in groups.items():
            _check_group(f"Policy vhost '{name}' user group '{group}'", settings)
        _check_users(name, groups)


def forbidden_capabilities(groups: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return the capabilities that a vhost's clients may not request for a source or target."""
    flags = {"qd.waypoint": "allowWaypointLinks", "qd.fallback": "allowFallbackLinks"}
    return frozenset(
        capability
        for capability, flag in flags.items()
        if any(settings.get(flag, True) in (False, "false") for settings in groups.values())
    )


def _check_group(where: str, settings: Mapping[str, Any]) -> None:
    for option, value in settings.items():
        if option in _COUNTS:
            _require_count(f"{where} option '{option}'", value)
        elif option in _FLAGS and not isinstance(value, bool) and value not in ("true", "false"):
            raise BadPolicy(f"{where} option '{option}' has illegal boolean value '{value}'.")
        elif option not in _COUNTS | _FLAGS | _TEXTS:
            logger.warning("an unknown option of a policy is ignored", where=where, option=option)


def _check_users(vhost: str, groups: Mapping[str, Mapping[str, Any]]) -> None:
    group_of: dict[str, str] = {}
    for group, settings in groups.items():
        # A group without ``users`` contains the user with the empty name.
        for user in (name.strip() for name in str(settings.get("users", "")).split(",")):
            other = group_of.setdefault(user, group)
            if other != group:
                raise BadPolicy(
                    f"Policy vhost '{vhost}' user '{user}' is in multiple user groups "
                    f"'{other}' and '{group}'"
                )


def _require_count(where: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadPolicy(f"{where}: invalid literal for int() with base 10: '{value}'")
    if value < 0:
        raise BadPolicy(f"{where} has error 'Value '{value}' is below minimum '0'.'.")
