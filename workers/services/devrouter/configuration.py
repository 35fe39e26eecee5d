"""Read Dispatch's JSON configuration: a list of [type, attributes]. Called once, at the start.

An unknown type or attribute, a name that is there twice and a policy that Dispatch refuses
(``policy``) stop the start, as they do there. Entities that can also be made over management go
through the same code as there.
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
# The attributes that may be set, by type: those of Dispatch that this router heeds, or may ignore
# because they only tune the real one.
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
# Made by the same code as over management (management.entities), in this order.
LIVE_TYPES = ("connector", "address", "linkRoute", "autoLink")


class BadConfiguration(Exception):
    """The file cannot be used; the text says where."""


@dataclass(frozen=True)
class AuthService:
    """An authServicePlugin: where logins are relayed to, and the realm put into them."""

    host: str
    port: int
    realm: str
    profile: Profile


@dataclass(frozen=True)
class ListenerSpec:
    """A listener. With ``auth`` clients log in there; else their certificate is their login."""

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
    """The whole file, checked."""

    router_id: str
    mode: str = "standalone"
    default_distribution: str = "balanced"
    listeners: list[ListenerSpec] = field(default_factory=list)
    profiles: dict[str, Profile] = field(default_factory=dict)
    max_connections: dict[str, int] = field(default_factory=dict)  # by vhost
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
        raise BadConfiguration(f"{file}: {error} is missing or refers to nothing") from error


def _build(by_type: Mapping[str, list[Attributes]]) -> Configuration:
    for kind, entries in by_type.items():
        _check(kind, entries)
    _require_unique([each["name"] for all_ in by_type.values() for each in all_ if "name" in each])
    policy.check(by_type.get("vhost", []))
    router = by_type["router"][0]
    profiles = {each["name"]: _profile(each) for each in by_type.get("sslProfile", [])}
    services = {
        each["name"]: _auth_service(each, profiles) for each in by_type.get("authServicePlugin", [])
    }
    return Configuration(
        router_id=router["id"],
        mode=router.get("mode", "standalone"),
        default_distribution=router.get("defaultDistribution", "balanced"),
        # It has no mesh: what is meant for its mates is not opened.
        listeners=[
            _listener(each, profiles, services)
            for each in by_type.get("listener", [])
            if each.get("role") != "inter-router"
        ],
        profiles=profiles,
        max_connections={
            each["hostname"]: each["maxConnections"]
            for each in by_type.get("vhost", [])
            if "maxConnections" in each
        },
        live=[(kind, each) for kind in LIVE_TYPES for each in by_type.get(kind, [])],
    )


def _check(kind: str, entries: list[Attributes]) -> None:
    known = _ATTRIBUTES.get(kind)
    if known is None:
        raise BadConfiguration(f"No such entity type '{kind}'")
    for each in entries:
        unknown = sorted(set(each) - known - _COMMON)
        if unknown:
            raise BadConfiguration(f"Unknown attribute '{unknown[0]}' for '{kind}'")
        if kind in ("autoLink", "linkRoute") and each.get("direction") not in ("in", "out"):
            raise BadConfiguration(f"{kind}: Invalid value for enum['in', 'out']")


def _require_unique(names: list[str]) -> None:
    """As in Dispatch: a name is of one entity, whatever the types."""
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise BadConfiguration(f"Duplicate value '{twice[0]}' for unique attribute 'name'")


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
