"""Read Dispatch's JSON configuration: a list of [type, attributes]. Called once, at the start.

As in Dispatch, the router does not start with an unknown type or attribute, a duplicate name, or a
policy that Dispatch refuses (``policy``). ``management.entities`` creates the entities of those
types that management requests can create too (``LIVE_TYPES``); this module only collects them.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workers.messaging import tls_policy
from workers.services.devrouter import policy
from workers.services.devrouter.limits import Limits
from workers.services.devrouter.tls import Profile

Attributes = Mapping[str, Any]
# The permitted attributes by type: those of Dispatch that this router implements, and those that it
# may ignore because they only tune the real router.
_COMMON = {"name"}
# Attributes of a listener.
_LISTENER = {"host", "port", "role", "sslProfile", "saslMechanisms", "authenticatePeer",
             "saslPlugin", "requireSsl", "requireEncryption", "policyVhost", "maxFrameSize",
             "maxSessions", "maxSessionFrames", "idleTimeoutSeconds", "linkCapacity",
             "initialHandshakeTimeoutSeconds", "cost", "stripAnnotations", "http", "healthz",
             "metrics", "websockets", "httpRootDir"}  # fmt: skip
# Entity -> its attributes; the real router refuses unknown ones too.
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
# Types whose entities ``management.entities`` creates at the start, in this order.
LIVE_TYPES = ("connector", "address", "linkRoute", "autoLink")


class BadConfiguration(Exception):
    """The configuration is not valid; the text names the file and the problem."""


@dataclass(frozen=True)
class AuthService:
    """An entity authServicePlugin: the service that clients' logins are relayed to.

    The router sends ``realm`` as the ``hostname`` of each sasl-init. In Waypost it is the space id.
    """

    host: str
    port: int
    realm: str
    profile: Profile


@dataclass(frozen=True)
class ListenerSpec:
    """The settings of a listener.

    ``auth``: the service at which clients log in; None means that they log in by their certificate.
    ``vhost``: the policy that limits its connections. ``capacity``: the credit of each link.
    """

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


@dataclass(frozen=True)
class HealthSpec:
    """A listener that answers probes over HTTP, and nothing else."""

    name: str
    host: str
    port: int


@dataclass
class Configuration:
    """The content of the configuration file after validation.

    ``live``: (type, attributes) of each entity of ``LIVE_TYPES``, in the order of creation. Their
    attributes' values are not validated yet.
    """

    router_id: str
    mode: str = "standalone"
    default_distribution: str = "balanced"
    listeners: list[ListenerSpec] = field(default_factory=list)
    health: list[HealthSpec] = field(default_factory=list)
    profiles: dict[str, Profile] = field(default_factory=dict)
    max_connections: dict[str, int] = field(default_factory=dict)  # by vhost
    forbidden: dict[str, frozenset[str]] = field(default_factory=dict)  # by vhost: capabilities
    limits: dict[str, Limits] = field(default_factory=dict)  # by vhost
    live: list[tuple[str, Attributes]] = field(default_factory=list)


def load(file: Path) -> Configuration:
    """Read ``file`` and return the configuration in it, validated.

    Raises:
        BadConfiguration: the file cannot be read, or Dispatch would not start with it.
    """
    try:
        entries = json.loads(file.read_text())
        by_type: dict[str, list[Attributes]] = {}
        for kind, attributes in entries:
            by_type.setdefault(kind, []).append(attributes)
        return _Entries(by_type).build()
    except (OSError, ValueError, TypeError) as error:
        raise BadConfiguration(f"{file}: {error}") from error
    except KeyError as error:
        raise BadConfiguration(
            f"{file}: {error} is missing, or it is referred to but not defined"
        ) from error


class _Entries:
    """Validates the entries of a file; builds the configuration. ``by_type``: {type: entries}."""

    def __init__(self, by_type: Mapping[str, list[Attributes]]) -> None:
        self._by_type = by_type

    def build(self) -> Configuration:
        """Validate the entries, and return the configuration that they describe.

        Listeners for other routers are left out, because this router has no peers.

        Raises:
            BadConfiguration, BadPolicy: Dispatch would not start with these entries.
            KeyError: an entry or attribute is missing, or an entry refers to one that is missing.
        """
        for kind in self._by_type:
            self._check_attributes(kind)
        self._check_names()
        vhosts = self._all("vhost")
        policy.check(vhosts)
        router = self._by_type["router"][0]
        profiles = self._profiles()
        services = self._auth_services(profiles)
        return Configuration(
            router_id=router["id"],
            mode=router.get("mode", "standalone"),
            default_distribution=router.get("defaultDistribution", "balanced"),
            # The development router has no mesh, so it does not open listeners for peers.
            listeners=[
                self._listener(entry, profiles, services)
                for entry in self._all("listener")
                if entry.get("role") != "inter-router" and not entry.get("http")
            ],
            health=[self._health(entry) for entry in self._all("listener") if entry.get("http")],
            profiles=profiles,
            max_connections={
                entry["hostname"]: entry["maxConnections"]
                for entry in vhosts
                if "maxConnections" in entry
            },
            forbidden={
                entry["hostname"]: policy.forbidden_capabilities(entry.get("groups", {}))
                for entry in vhosts
            },
            limits={entry["hostname"]: Limits.of(entry.get("groups", {})) for entry in vhosts},
            live=[(kind, entry) for kind in LIVE_TYPES for entry in self._all(kind)],
        )

    def _all(self, kind: str) -> list[Attributes]:
        return self._by_type.get(kind, [])

    def _check_attributes(self, kind: str) -> None:
        known = _ATTRIBUTES.get(kind)
        if known is None:
            raise BadConfiguration(f"No such entity type '{kind}'")
        for entry in self._all(kind):
            unknown = sorted(set(entry) - known - _COMMON)
            if unknown:
                raise BadConfiguration(f"Unknown attribute '{unknown[0]}' for '{kind}'")
            if kind in ("autoLink", "linkRoute") and entry.get("direction") not in ("in", "out"):
                raise BadConfiguration(f"{kind}: Invalid value for enum['in', 'out']")

    def _check_names(self) -> None:
        """Raise ``BadConfiguration`` if two entities have the same name, as Dispatch does.

        Entities of different types must not share a name either.
        """
        entries = [entry for entries in self._by_type.values() for entry in entries]
        numbers = Counter(entry["name"] for entry in entries if "name" in entry)
        duplicates = [name for name, number in numbers.items() if number > 1]
        if duplicates:
            raise BadConfiguration(f"Duplicate value '{duplicates[0]}' for unique attribute 'name'")

    def _profiles(self) -> dict[str, Profile]:
        return {
            entry["name"]: Profile(
                entry["name"],
                entry.get("certFile", ""),
                entry.get("privateKeyFile", ""),
                entry.get("caCertFile", ""),
                entry.get("ciphers", tls_policy.OPENSSL_SUITES),
            )
            for entry in self._all("sslProfile")
        }

    def _auth_services(self, profiles: Mapping[str, Profile]) -> dict[str, AuthService]:
        return {
            entry["name"]: AuthService(
                entry["host"], int(entry["port"]), entry["realm"], profiles[entry["sslProfile"]]
            )
            for entry in self._all("authServicePlugin")
        }

    @staticmethod
    def _listener(
        entry: Attributes, profiles: Mapping[str, Profile], services: Mapping[str, AuthService]
    ) -> ListenerSpec:
        plugin = entry.get("saslPlugin")
        return ListenerSpec(
            name=entry.get("name", ""),
            host=entry.get("host", "127.0.0.1"),
            port=int(entry["port"]),
            role=entry.get("role", "normal"),
            profile=profiles[entry["sslProfile"]],
            auth=services[plugin] if plugin else None,
            vhost=entry.get("policyVhost", "$default"),
            capacity=entry.get("linkCapacity", 250),
            idle_seconds=entry.get("idleTimeoutSeconds", 16),
            max_frame_size=entry.get("maxFrameSize", 16384),
        )

    @staticmethod
    def _health(entry: Attributes) -> HealthSpec:
        # Dispatch switches all three on by default.
        serves = {name for name in ("healthz", "metrics", "websockets") if entry.get(name, True)}
        if serves != {"healthz"}:
            raise BadConfiguration(
                "Over HTTP the development router serves only healthz: set metrics and websockets "
                "to false"
            )
        return HealthSpec(entry.get("name", ""), entry.get("host", "127.0.0.1"), int(entry["port"]))
