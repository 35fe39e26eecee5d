"""Read Dispatch's JSON configuration: a list of [type, attributes]. Called once, at the start.

As in Dispatch, the router does not start with an unknown type or attribute, a duplicate name, or a
policy that Dispatch refuses (``policy``). Entities that management can also create are created by
the code of management.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workers.services.devrouter import policy
from workers.services.devrouter.tls import Profile

Attributes = Mapping[str, Any]
# The permitted attributes by type: those of Dispatch that this router implements, and those that it
# may ignore because they only tune the real router.
_COMMON = {"name"}
_LISTENER = {"host", "port", "role", "sslProfile", "saslMechanisms", "authenticatePeer",
             "saslPlugin", "requireSsl", "requireEncryption", "policyVhost", "maxFrameSize",
             "maxSessions", "maxSessionFrames", "idleTimeoutSeconds", "linkCapacity",
             "initialHandshakeTimeoutSeconds", "cost", "stripAnnotations"}  # fmt: skip
_ATTRIBUTES: Mapping[str, set[str]] = {
    "router": {"id", "mode", "defaultDistribution", "workerThreads", "metadata"},
    "sslProfile": {"certFile", "privateKeyFile", "caCertFile", "protocols", "ciphers"},
    "authServicePlugin": {"host", "port", "realm", "sslProfile"},
    "listener": _LISTENER,
    "log": {"module", "enable", "includeTimestamp", "includeSource", "outputFile"},
    "policy": {"maxConnections", "maxMessageSize", "enableVhostPolicy", "enableVhostNamePatterns",
               "policyDir", "defaultVhost"},
    "vhost": {"hostname", "aliases", "maxConnections", "maxConnectionsPerUser",
              "maxConnectionsPerHost", "maxMessageSize", "allowUnknownUser", "groups"},
    "address": {"prefix", "pattern", "distribution", "waypoint", "ingressPhase", "egressPhase",
                "priority", "enableFallback"},
    "autoLink": {"address", "direction", "phase", "containerId", "connection", "externalAddress",
                 "fallback"},
    "linkRoute": {"prefix", "pattern", "direction", "distribution", "containerId", "connection",
                  "addExternalPrefix", "delExternalPrefix"},
    "connector": {"host", "port", "role", "cost", "sslProfile", "saslMechanisms",
                  "verifyHostname", "maxFrameSize", "idleTimeoutSeconds", "linkCapacity",
                  "saslUsername", "saslPassword"},
}  # fmt: skip
# Types that ``management.entities`` creates, in this order.
LIVE_TYPES = ("connector", "address", "linkRoute", "autoLink")


class BadConfiguration(Exception):
    """The configuration is not valid; the text names the file and the problem."""


@dataclass(frozen=True)
class AuthService:
    """An authServicePlugin: the service that logins are relayed to, and the realm they name."""

    host: str
    port: int
    realm: str
    profile: Profile


@dataclass(frozen=True)
class ListenerSpec:
    """A listener. Clients log in at ``auth``; without it their certificate is the login."""

    name: str
    host: str
    port: int
    role: str
    profile: Profile
    auth: AuthService | None
    vhost: str
    capacity: int
    idle_seconds: float
    max_frame_size: int


@dataclass
class Configuration:
    """The content of the file after validation."""

    router_id: str
    mode: str = "standalone"
    default_distribution: str = "balanced"
    listeners: list[ListenerSpec] = field(default_factory=list)
    profiles: dict[str, Profile] = field(default_factory=dict)
    max_connections: dict[str, int] = field(default_factory=dict)  # by vhost
    forbidden: dict[str, frozenset[str]] = field(default_factory=dict)  # by vhost: capabilities
    live: list[tuple[str, Attributes]] = field(default_factory=list)


def load(file: Path) -> Configuration:
    """Return the configuration in ``file``. Raises ``BadConfiguration``."""
    try:
        entries = json.loads(file.read_text())
        by_type: dict[str, list[Attributes]] = {}
        for kind, attributes in entries:
            by_type.setdefault(kind, []).append(attributes)
        return _build(by_type)
    except (OSError, ValueError, TypeError) as error:
        raise BadConfiguration(f"{file}: {error}") from error
    except KeyError as error:
        raise BadConfiguration(
            f"{file}: {error} is missing, or it is referred to but not defined"
        ) from error


def _build(by_type: Mapping[str, list[Attributes]]) -> Configuration:
    for kind, entries in by_type.items():
        _check(kind, entries)
    _require_unique(
        [entry["name"] for entries in by_type.values() for entry in entries if "name" in entry]
    )
    policy.check(by_type.get("vhost", []))
    router = by_type["router"][0]
    profiles = {entry["name"]: _profile(entry) for entry in by_type.get("sslProfile", [])}
    services = {
        entry["name"]: _auth_service(entry, profiles)
        for entry in by_type.get("authServicePlugin", [])
    }
    return Configuration(
        router_id=router["id"],
        mode=router.get("mode", "standalone"),
        default_distribution=router.get("defaultDistribution", "balanced"),
        # The development router has no mesh, so it does not open listeners for peers.
        listeners=[
            _listener(entry, profiles, services)
            for entry in by_type.get("listener", [])
            if entry.get("role") != "inter-router"
        ],
        profiles=profiles,
        max_connections={
            entry["hostname"]: entry["maxConnections"]
            for entry in by_type.get("vhost", [])
            if "maxConnections" in entry
        },
        forbidden={
            entry["hostname"]: policy.forbidden_capabilities(entry.get("groups", {}))
            for entry in by_type.get("vhost", [])
        },
        live=[(kind, entry) for kind in LIVE_TYPES for entry in by_type.get(kind, [])],
    )


def _check(kind: str, entries: list[Attributes]) -> None:
    known = _ATTRIBUTES.get(kind)
    if known is None:
        raise BadConfiguration(f"No such entity type '{kind}'")
    for entry in entries:
        unknown = sorted(set(entry) - known - _COMMON)
        if unknown:
            raise BadConfiguration(f"Unknown attribute '{unknown[0]}' for '{kind}'")
        if kind in ("autoLink", "linkRoute") and entry.get("direction") not in ("in", "out"):
            raise BadConfiguration(f"{kind}: Invalid value for enum['in', 'out']")


def _require_unique(names: list[str]) -> None:
    """Check that no two entities have the same name, whatever their types; as in Dispatch."""
    duplicates = [name for name, number in Counter(names).items() if number > 1]
    if duplicates:
        raise BadConfiguration(f"Duplicate value '{duplicates[0]}' for unique attribute 'name'")


def _profile(attributes: Attributes) -> Profile:
    return Profile(
        attributes["name"],
        attributes.get("certFile", ""),
        attributes.get("privateKeyFile", ""),
        attributes.get("caCertFile", ""),
    )


def _auth_service(attributes: Attributes, profiles: Mapping[str, Profile]) -> AuthService:
    return AuthService(
        attributes["host"],
        int(attributes["port"]),
        attributes["realm"],
        profiles[attributes["sslProfile"]],
    )


def _listener(
    attributes: Attributes, profiles: Mapping[str, Profile], services: Mapping[str, AuthService]
) -> ListenerSpec:
    plugin = attributes.get("saslPlugin")
    return ListenerSpec(
        name=attributes.get("name", ""),
        host=attributes.get("host", "127.0.0.1"),
        port=int(attributes["port"]),
        role=attributes.get("role", "normal"),
        profile=profiles[attributes["sslProfile"]],
        auth=services[plugin] if plugin else None,
        vhost=attributes.get("policyVhost", "$default"),
        capacity=attributes.get("linkCapacity", 250),
        idle_seconds=attributes.get("idleTimeoutSeconds", 16),
        max_frame_size=attributes.get("maxFrameSize", 16384),
    )
