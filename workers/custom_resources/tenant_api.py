"""The REST API for the token of one tenant, with ETags and Idempotency-Keys."""

from collections.abc import Mapping
from typing import Any

from controlplane.core.errors import Denied
from controlplane.rest_client import Api, Json, Refused

_MISSING = 404  # status of HTTP
# A pass is repeated soon anyway, so that it holds no thread while the web server restarts.
_PATIENCE_SECONDS = 5


class NoTenant(Denied):
    """The token is valid, but not for exactly one tenant."""

    code = "resources.no_tenant"


class TenantApi(Api):
    """The API for one tenant: ``path`` of the methods is below ``/tenants/{tenant}``.

    Every method raises what ``Api`` raises.
    """

    def __init__(self, url: str, token: str) -> None:
        super().__init__(url, token, patience_seconds=_PATIENCE_SECONDS)
        self._tenant = ""

    def tenant(self) -> str:
        """Return the slug of the token's tenant; it is read once.

        Raises:
            NoTenant: the token has no tenant, or several as that of a person.
        """
        if not self._tenant:
            tenants = self.get("/me")["tenants"]
            if len(tenants) != 1:
                raise NoTenant(
                    "The token is not for exactly one tenant: issue one by `waypost tokens issue`."
                )
            self._tenant = str(tenants[0]["slug"])
        return self._tenant

    def find(self, path: str, *, missing: str) -> tuple[Json, str] | None:
        """Return the JSON body of an object and its ETag; None if there is no such object.

        ``missing``: the code with which the API says that this very object does not exist.

        Raises:
            Refused: another object is missing, such as the space, or the API refuses the request.
        """
        try:
            answer = self._send("GET", self._below(path))
        except Refused as refused:
            if refused.http_status == _MISSING and refused.error_code == missing:
                return None
            raise
        return self._body(answer), answer.headers.get("ETag", "*")

    def create(self, path: str, body: Mapping[str, Any], *, key: str) -> Json:
        """Create an object and return the operation; with the same ``key`` it happens once.

        For a day, a repeated call returns the operation of the first one.
        """
        return self._json("POST", self._below(path), body, {"Idempotency-Key": key})

    def send_change(self, method: str, path: str, body: Mapping[str, Any], *, tag: str) -> Json:
        """Change the object whose state has the ETag ``tag``; return the answer's body.

        Raises:
            Refused: status 412: somebody changed it since it was read.
        """
        return self._json(method, self._below(path), body, {"If-Match": tag})

    def remove(self, path: str, *, tag: str) -> None:
        """Begin to delete the object whose state has the ETag ``tag``.

        Raises:
            Refused: status 412: somebody changed it since it was read.
        """
        self._send("DELETE", self._below(path), json={}, headers={"If-Match": tag})

    def _below(self, path: str) -> str:
        return f"/tenants/{self.tenant()}{path}"
