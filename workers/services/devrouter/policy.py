"""Check the vhosts of the configuration as Dispatch does, which does not start with a mistake.

What a login may do comes from the auth service (``handshake``); of a vhost only its limit of
connections is used here. Source: Qpid Dispatch, ``policy_local.py``.
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
    """The policy cannot be used; the text says why, in the words of Dispatch."""


def check(vhosts: Sequence[Mapping[str, Any]]) -> None:
    """Raise ``BadPolicy`` for what Dispatch would not start with."""
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


def _check_group(where: str, settings: Mapping[str, Any]) -> None:
    for option, value in settings.items():
        if option in _COUNTS:
            _require_count(f"{where} option '{option}'", value)
        elif option in _FLAGS and not isinstance(value, bool) and value not in ("true", "false"):
            raise BadPolicy(f"{where} option '{option}' has illegal boolean value '{value}'.")
        elif option not in _COUNTS | _FLAGS | _TEXTS:
            logger.warning("an option of a policy is ignored", where=where, option=option)


def _check_users(vhost: str, groups: Mapping[str, Mapping[str, Any]]) -> None:
    group_of: dict[str, str] = {}
    for group, settings in groups.items():
        # A group that names no users holds the user with the empty name.
        for user in (each.strip() for each in str(settings.get("users", "")).split(",")):
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
