"""All files of one router, rendered from desired values. Pure; called by the routers step.

The JSON file is what the router starts from. It holds the same entities that the driver keeps in
the running router, so a restart needs nobody. ``base.json`` repeats what cannot change in a running
router: its change, and only that, restarts the instance.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workers.messaging.certificates import KeyPair
from workers.messaging.routers import entities
from workers.messaging.routers.desired import (
    CLIENT_VHOST,
    INTERNAL_VHOST,
    DesiredRouter,
    Place,
)

# A standalone router answers no query for ``router.node``, where a restart of it is seen. An
# interior router needs no peers, and the first peer that is added later costs no restart.
# Source: Qpid Dispatch manual, ``router`` entity, attribute ``mode``.
_MODE = "interior"
# On a router with our policy patch a lone ``*`` opens no internal address (``$…``, ``_…``).
_ALL = "*, $*, _*"
# The TLS profile of a certificate that is not the space's own. A router does not start with two
# entities of one name, whatever their types (Qpid Dispatch, ``schema.py``).
_PRESENTED = "wp-presented"
# Two hundred clients that log in at once share two cores: the last one waits for seconds.
_HANDSHAKE_SECONDS = 30
# A client that vanishes without a word is noticed after this time, and metered until then. It is
# the router's default, set here because tenants pay by it (docs/messaging.md).
_IDLE_SECONDS = 16
CONFIG_FILE = "router.json"
BASE_FILE = "base.json"
_KEYS = frozenset({"server.key", "public.key", "broker-client.key", "auth-client.key"})
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
_FILE_TYPES = {
    entities.CONNECTOR: "connector",
    entities.ADDRESS: "address",
    entities.LINK_ROUTE: "linkRoute",
    entities.AUTO_LINK: "autoLink",
}

_Entry = tuple[str, Mapping[str, Any]]


def files(router: DesiredRouter, place: Place) -> Mapping[str, str]:
    """Return every file of the router: path in its configuration folder -> text."""
    base = _base(router, place)
    live = [
        (_FILE_TYPES[each.kind], {"name": each.name, **each.attributes})
        for each in entities.build(router)
    ]
    return {
        CONFIG_FILE: _json([*base, *live]),
        BASE_FILE: _json(base),
        **_key_pair("server", router.server),
        **(_key_pair("public", router.presented) if router.presented else {}),
        **_key_pair("broker-client", router.client),
        **_key_pair("auth-client", router.auth.client),
        "space-ca.pem": router.authority_pem,
        "control-ca.pem": router.auth.authority_pem,
    }


def _key_pair(name: str, pair: KeyPair) -> Mapping[str, str]:
    return {f"{name}.key": pair.key_pem, f"{name}.pem": pair.certificate_pem}


def _base(router: DesiredRouter, place: Place) -> Sequence[_Entry]:
    return [
        ("router", {"id": router.name, "mode": _MODE, "defaultDistribution": "unavailable"}),
        *_profiles(place.config_dir, is_own=router.presented is None),
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
        *_listeners(place, "wp-server" if router.presented is None else _PRESENTED),
        *_policy(router.max_connections),
    ]


def _profiles(folder: str, *, is_own: bool) -> Sequence[_Entry]:
    """Return the TLS profiles; without one for clients (``is_own``) they are shown the servers'."""

    def profile(name: str, certificate: str, authority: str) -> _Entry:
        attributes = {
            "name": name,
            "certFile": f"{folder}/{certificate}.pem",
            "privateKeyFile": f"{folder}/{certificate}.key",
            "caCertFile": f"{folder}/{authority}.pem",
        }
        return "sslProfile", attributes

    return [
        profile("wp-server", "server", "space-ca"),
        *([] if is_own else [profile(_PRESENTED, "public", "space-ca")]),
        profile(entities.BROKER_PROFILE, "broker-client", "space-ca"),
        profile("wp-auth-client", "auth-client", "control-ca"),
    ]


def _listeners(place: Place, public_profile: str) -> Sequence[_Entry]:
    both: Mapping[str, Any] = {
        "host": place.bind_host,
        "role": "normal",
        "sslProfile": "wp-server",
        "authenticatePeer": True,
        "requireSsl": True,
        "initialHandshakeTimeoutSeconds": _HANDSHAKE_SECONDS,
        "idleTimeoutSeconds": _IDLE_SECONDS,
    }
    public = {
        "name": "wp-public",
        "port": place.public_port,
        "saslPlugin": "wp-auth",
        "policyVhost": CLIENT_VHOST,
    }
    internal = {
        "name": "wp-management",
        "port": place.internal_port,
        "saslMechanisms": "EXTERNAL",
        "policyVhost": INTERNAL_VHOST,
    }
    shown = {**public, **both, "sslProfile": public_profile}
    listeners: list[_Entry] = [("listener", shown), ("listener", {**internal, **both})]
    if place.mesh_port is not None:
        mesh = {"name": "wp-mesh", "port": place.mesh_port, "saslMechanisms": "EXTERNAL"}
        listeners.append(("listener", {**both, **mesh, "role": "inter-router"}))
    return listeners


def _policy(max_connections: int | None) -> Sequence[_Entry]:
    """Turn the policy on: without it the auth service's permissions are ignored.

    No sources or targets: those of the auth service hold. An unknown vhost is nobody's.
    """
    limits = {} if max_connections is None else {"maxConnections": max_connections}
    group = {"remoteHosts": "*", "allowDynamicSource": True, "allowAnonymousSender": True}
    control = {**group, "sources": _ALL, "targets": _ALL, "allowAdminStatusUpdate": True}
    return [
        ("policy", {"enableVhostPolicy": True, "defaultVhost": "wp-nobody"}),
        ("vhost", {**_vhost(CLIENT_VHOST, group), **limits}),
        ("vhost", _vhost(INTERNAL_VHOST, control)),
    ]


def _vhost(hostname: str, group: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a vhost with one group for everybody.

    A second group without ``users`` stops the router at its start: both would then hold the user
    with the empty name. Source: Qpid Dispatch, ``policy_local.py``.
    """
    return {"hostname": hostname, "allowUnknownUser": True, "groups": {"$default": group}}


def _json(entries: Sequence[_Entry]) -> str:
    return json.dumps(entries, indent=1) + "\n"
