"""Render all files of one router from desired values. Pure.

The reconcile steps write the files (through ``desired_routers.spec``), and so does the benchmark.
``rollouts.release`` renders them without tenants' data, only to hash those that need a restart.

The router reads ``router.json`` when it starts. The file holds the same entities that the driver
creates in the running router, so a restarted router is complete without the driver. No router reads
``base.json``. It repeats the part of ``router.json`` that cannot change in a running router, and
only its change restarts the instance; a change of ``router.json`` does not.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workers.messaging import tls_policy
from workers.messaging.certificates import KeyPair
from workers.messaging.routers import entities
from workers.messaging.routers.desired import (
    CLIENT_VHOST,
    INTERNAL_VHOST,
    ClientLimits,
    DesiredRouter,
    EngineLayout,
)

# A standalone router answers no query for ``router.node``, which shows restarts to the driver. An
# interior router works without peers, and adding the first peer later needs no restart.
# Source: Qpid Dispatch manual, ``router`` entity, attribute ``mode``.
_MODE = "interior"
# All addresses. On a router with our patch ``policy-host``, ``*`` alone does not match internal
# addresses (``$…``, ``_…``).
_ALL = "*, $*, _*"
# The TLS profile with the public certificate. The name of an entity must be unique among all entity
# types, or the router does not start (Qpid Dispatch, ``schema.py``).
_PRESENTED = "wp-presented"
# How long a connection may take to log in. When two hundred clients log in at once on two cores,
# the last one waits for several seconds.
HANDSHAKE_SECONDS = 30
# The router notices a client that vanished without closing after this time, and meters it until
# then. This is the router's default; it is set here because tenants pay for it (docs/messaging.md).
_IDLE_SECONDS = 16
CONFIG_FILE = "router.json"
BASE_FILE = "base.json"
# A real router answers 200 here after a request has passed through its core thread.
HEALTH_PATH = "/healthz"
# A vhost that does not exist, so that connections to it are refused.
_NOBODY = "wp-nobody"
# Files that hold a private key.
_KEYS = frozenset({"server.key", "public.key", "broker-client.key", "auth-client.key"})
# A change of these files does not restart the router.
LIVE_FILES = frozenset(
    {
        CONFIG_FILE,
        "server.pem",
        "public.pem",
        "broker-client.pem",
        "auth-client.pem",
        "space-ca.pem",
        "control-ca.pem",
        *_KEYS,
    }
)
SECRET_FILES = _KEYS
# Type of an entity in management -> its name in the file.
_FILE_TYPES = {
    entities.CONNECTOR: "connector",
    entities.ADDRESS: "address",
    entities.LINK_ROUTE: "linkRoute",
    entities.AUTO_LINK: "autoLink",
}

_Entry = tuple[str, Mapping[str, Any]]


def files(router: DesiredRouter, engine_layout: EngineLayout) -> Mapping[str, str]:
    """Return every file of the router: path in its configuration folder -> text.

    Private keys are in it as plain text; ``SECRET_FILES`` names the files that hold them.
    """
    base = _base(router, engine_layout)
    live = [
        (_FILE_TYPES[entity.kind], {"name": entity.name, **entity.attributes})
        for entity in entities.build(router)
    ]
    return {
        CONFIG_FILE: _json([*base, *live]),
        BASE_FILE: _json(base),
        **_key_pair("server", router.server),
        **(_key_pair("public", router.public_certificate) if router.public_certificate else {}),
        **_key_pair("broker-client", router.client),
        **_key_pair("auth-client", router.auth.client),
        "space-ca.pem": router.authority_pem,
        "control-ca.pem": router.auth.authority_pem,
    }


def _key_pair(name: str, pair: KeyPair) -> Mapping[str, str]:
    return {f"{name}.key": pair.key_pem, f"{name}.pem": pair.certificate_pem}


def _base(router: DesiredRouter, engine_layout: EngineLayout) -> Sequence[_Entry]:
    return [
        ("router", {"id": router.name, "mode": _MODE, "defaultDistribution": "unavailable"}),
        *_profiles(engine_layout.config_dir, is_own=router.public_certificate is None),
        (
            "authServicePlugin",
            {
                "name": "wp-auth",
                "host": router.auth.host,
                "port": str(router.auth.port),
                "realm": router.space_id,
                "sslProfile": "wp-auth-client",
            },
        ),
        *_listeners(
            engine_layout, "wp-server" if router.public_certificate is None else _PRESENTED
        ),
        *_policy(router.max_connections, router.limits),
    ]


def _profiles(folder: str, *, is_own: bool) -> Sequence[_Entry]:
    """Return the TLS profiles: of the listeners, of connections to brokers and to the auth service.

    ``folder`` has the certificates. ``is_own``: clients see the router's internal server
    certificate, so no further profile is needed for them.
    """

    def profile(name: str, certificate: str, authority: str) -> _Entry:
        attributes = {
            "name": name,
            "certFile": f"{folder}/{certificate}.pem",
            "privateKeyFile": f"{folder}/{certificate}.key",
            "caCertFile": f"{folder}/{authority}.pem",
            "ciphers": tls_policy.OPENSSL_SUITES,
        }
        return "sslProfile", attributes

    return [
        profile("wp-server", "server", "space-ca"),
        *([] if is_own else [profile(_PRESENTED, "public", "space-ca")]),
        profile(entities.BROKER_PROFILE, "broker-client", "space-ca"),
        profile("wp-auth-client", "auth-client", "control-ca"),
    ]


def _listeners(engine_layout: EngineLayout, public_profile: str) -> Sequence[_Entry]:
    """Return the listeners for clients, for workers, and, if it has a mesh port, for other routers.

    ``public_profile``: the TLS profile of the listener for clients.
    """
    both: Mapping[str, Any] = {
        "host": engine_layout.bind_host,
        "role": "normal",
        "sslProfile": "wp-server",
        "authenticatePeer": True,
        "requireSsl": True,
        "initialHandshakeTimeoutSeconds": HANDSHAKE_SECONDS,
        "idleTimeoutSeconds": _IDLE_SECONDS,
    }
    public = {
        "name": "wp-public",
        "port": engine_layout.public_port,
        "saslPlugin": "wp-auth",
        "policyVhost": CLIENT_VHOST,
    }
    internal = {
        "name": "wp-management",
        "port": engine_layout.internal_port,
        "saslMechanisms": "EXTERNAL",
        "policyVhost": INTERNAL_VHOST,
    }
    shown = {**public, **both, "sslProfile": public_profile}
    listeners: list[_Entry] = [("listener", shown), ("listener", {**internal, **both})]
    if engine_layout.mesh_port is not None:
        mesh = {"name": "wp-mesh", "port": engine_layout.mesh_port, "saslMechanisms": "EXTERNAL"}
        listeners.append(("listener", {**both, **mesh, "role": "inter-router"}))
    if engine_layout.health_port is not None:
        listeners.append(("listener", _health_listener(engine_layout)))
    return listeners


def _health_listener(engine_layout: EngineLayout) -> Mapping[str, Any]:
    """Return the listener that answers probes over HTTP, and nothing else.

    A real router opens it on every interface, whatever its host; in a cluster network policies
    close it.
    """
    return {
        "name": "wp-health",
        "host": engine_layout.bind_host,
        "port": engine_layout.health_port,
        "http": True,
        "healthz": True,
        "metrics": False,
        "websockets": False,
        # A real router serves files from this folder too.
        "httpRootDir": "/nonexistent",
        "authenticatePeer": False,
        "policyVhost": _NOBODY,
    }


# A router allows these by default. A client that acts as a waypoint or as a fallback exchanges
# messages on an address without its broker: not stored, without limits and unmetered.
_NOT_FOR_CLIENTS = {
    "allowWaypointLinks": False,
    "allowFallbackLinks": False,
    "allowDynamicLinkRoutes": False,
}


def _policy(max_connections: int | None, sold: ClientLimits) -> Sequence[_Entry]:
    """Return the entities that enable the policy; without it the router ignores permissions.

    The vhost of clients lists no sources and targets, so the permissions from the auth service
    apply. A connection to an unknown vhost gets the vhost ``wp-nobody``, which does not exist, so
    the router refuses it. ``max_connections`` limits the connections of all clients at this router;
    None is no limit. ``sold`` limits each client.
    """
    limits = {} if max_connections is None else {"maxConnections": max_connections}
    group = {"remoteHosts": "*", "allowDynamicSource": True, "allowAnonymousSender": True}
    # In the group, because a router mixes up a vhost's own limits when somebody updates the vhost.
    per_client = {
        "maxConnectionsPerUser": sold.user_connections,
        "maxConnectionsPerHost": sold.source_connections,
        "maxSessions": sold.sessions,
        "maxSenders": sold.senders,
        "maxReceivers": sold.receivers,
        "maxMessageSize": sold.message_bytes,
    }
    given = {name: value for name, value in per_client.items() if value is not None}
    clients = {**group, **_NOT_FOR_CLIENTS, **given}
    control = {**group, "sources": _ALL, "targets": _ALL, "allowAdminStatusUpdate": True}
    return [
        ("policy", {"enableVhostPolicy": True, "defaultVhost": _NOBODY}),
        ("vhost", {**_vhost(CLIENT_VHOST, clients), **limits}),
        ("vhost", _vhost(INTERNAL_VHOST, control)),
    ]


def _vhost(hostname: str, group: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attributes of a vhost with one group, for all users.

    With a second group without ``users`` the router would not start, because both groups would
    contain the user with the empty name. Source: Qpid Dispatch, ``policy_local.py``.
    """
    return {"hostname": hostname, "allowUnknownUser": True, "groups": {"$default": group}}


def _json(entries: Sequence[_Entry]) -> str:
    return json.dumps(entries, indent=1) + "\n"
