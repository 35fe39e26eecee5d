"""Read Dispatch's JSON configuration: a list of [type, attributes]. Called once, at the start.

Types that only tune the real router are accepted and ignored; an unknown type stops the start, as
it does there. Entities that can also be made over management go through the same code as there.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workers.services.devrouter.tls import Profile

Attributes = Mapping[str, Any]
_IGNORED = {"log", "policy", "vhost"}
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
    known = {"router", "sslProfile", "authServicePlugin", "listener", *_IGNORED, *LIVE_TYPES}
    unknown = set(by_type) - known
    if unknown:
        raise BadConfiguration(f"unknown entity types: {', '.join(sorted(unknown))}")
    router = by_type["router"][0]
    profiles = {each["name"]: _profile(each) for each in by_type.get("sslProfile", [])}
    services = {
        each["name"]: _auth_service(each, profiles) for each in by_type.get("authServicePlugin", [])
    }
    return Configuration(
        router_id=router["id"],
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
