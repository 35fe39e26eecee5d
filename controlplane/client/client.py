"""The clients that every function of ``waypost_client.api`` takes."""

from typing import Self

import httpx


class Client:
    """A client of one Waypost server, for requests that need no login.

    ``base_url`` is the root of the server, such as ``https://waypost.example``. ``http``
    replaces the client of httpx that sends the requests: with other limits of time, with other
    certificate authorities, or with repeats. Use it in a ``with`` block, which closes it.
    """

    def __init__(
        self, base_url: str, *, timeout_seconds: float = 30, http: httpx.Client | None = None
    ) -> None:
        self._http = http or httpx.Client(
            base_url=base_url, headers=self._headers(), timeout=timeout_seconds
        )

    def get_httpx_client(self) -> httpx.Client:
        """Return the client of httpx that sends the requests, for those that no function sends."""
        return self._http

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _headers(self) -> dict[str, str]:
        return {}


class AuthenticatedClient(Client):
    """A client of one Waypost server that sends ``token``, a bearer token, with each request.

    ``http``, if given, has to send the token itself.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout_seconds: float = 30,
        http: httpx.Client | None = None,
    ) -> None:
        self._token = token
        super().__init__(base_url, timeout_seconds=timeout_seconds, http=http)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"}


__all__ = ["AuthenticatedClient", "Client"]
