"""A typed client of the REST API of Waypost, generated from the API document of the server.

``AuthenticatedClient`` is the connection. Each operation of the API is a module of
``waypost_client.api``: its ``sync`` returns the answer as a model of ``waypost_client.models``, and
its ``sync_detailed`` the answer with status and headers. Both raise the errors of
``waypost_client.errors``, and those of httpx.
"""

from .client import AuthenticatedClient, Client
from .errors import Refused, Unexpected, WaypostError
from .types import UNSET, Response, Unset

__all__ = [
    "UNSET",
    "AuthenticatedClient",
    "Client",
    "Refused",
    "Response",
    "Unexpected",
    "Unset",
    "WaypostError",
]
