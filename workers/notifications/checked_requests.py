"""Lets Apprise connect only to addresses that ``core.outbound`` has checked.

Apprise's plugins call the module functions of `requests`, which resolve the name of the host when
they connect. A check before the call is not enough: the name server may answer the second time with
an address of the installation (DNS rebinding). Here the check and the connection use one answer.
A proxy of the environment resolves names itself: then the connection goes to the proxy as before.
"""

import socket
import sys
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NewConnectionError
from urllib3.util import connection as sockets

from controlplane.core import outbound
from controlplane.core.errors import WaypostError


def use_in(plugin: object) -> None:
    """Let a plugin of Apprise send its requests through this module. Idempotent.

    Raises:
        TypeError: the plugin does not send with the module `requests`.
    """
    module = sys.modules[type(plugin).__module__]
    if getattr(module, "requests", None) not in (requests, _CHECKED):
        raise TypeError(f"{module.__name__} does not send with requests")
    module.requests = _CHECKED  # type: ignore[attr-defined]


class _CheckedRequests:
    """What the module `requests` offers, with functions that check where they connect to."""

    def __getattr__(self, name: str) -> Any:
        return getattr(requests, name)

    def request(self, method: str, url: str, **options: Any) -> requests.Response:
        with requests.Session() as session:
            for scheme in ("https://", "http://"):
                session.mount(scheme, _Adapter())
            return session.request(method, url, **options)

    def get(self, url: str, **options: Any) -> requests.Response:
        return self.request("GET", url, **options)

    def post(self, url: str, **options: Any) -> requests.Response:
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Any) -> requests.Response:
        return self.request("PUT", url, **options)

    def delete(self, url: str, **options: Any) -> requests.Response:
        return self.request("DELETE", url, **options)


_CHECKED = _CheckedRequests()


def _connected(connection: HTTPConnection, scheme: str) -> socket.socket:
    """Return a socket to a checked address of the connection's host."""
    host = f"[{connection.host}]" if ":" in connection.host else connection.host
    try:
        target = outbound.resolve(f"{scheme}://{host}:{connection.port}/")
    except (WaypostError, OSError) as refused:
        raise NewConnectionError(connection, str(refused)) from refused
    last: OSError = OSError("the host has no address")
    for address in target.addresses:
        try:
            return sockets.create_connection(
                (address, target.port),
                connection.timeout,
                source_address=connection.source_address,
                socket_options=connection.socket_options,
            )
        except OSError as error:
            last = error
    raise NewConnectionError(connection, f"no connection: {last}") from last


class _Http(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return _connected(self, "http")


class _Https(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        return _connected(self, "https")


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _Https


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
