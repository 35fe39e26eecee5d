"""A client of our own REST API, for the ``waypost`` command, the demonstration and tests.

It knows HTTP, problem+json and operations, and nothing of any resource. A POST carries an
Idempotency-Key, so that it is safely repeated when the portal restarts in the middle.
"""

import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import httpx

from controlplane.core.errors import Invalid, Unavailable, WaypostError

Json = dict[str, Any]
Progress = Callable[[Json], None]


def segment(name: str) -> str:
    """Return a name as one segment of a path: nothing in it leads to anything else.

    A slash is refused, not escaped: servers decode the path before they route it (RFC 3875 4.1.5,
    ``PATH_INFO``), so that ``%2F`` would name something of another kind.

    Raises:
        Invalid: ``name.invalid``: it is empty, a step within paths, or more than one segment.
    """
    if "/" in name:
        raise Invalid(f"{name!r} is no name of anything here: it has a slash.", code="name.invalid")
    return last_segments(name)


def last_segments(name: str) -> str:
    """Return a name that may hold slashes, as an address may, for the very end of a path.

    Raises:
        Invalid: ``name.invalid``: it is empty, or a step within paths.
    """
    if name in ("", ".", ".."):
        raise Invalid(f"{name!r} is no name of anything here.", code="name.invalid")
    return quote(name, safe="")


class Refused(WaypostError):
    """The API answered with a problem; ``http_status`` is its status."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "refused"
    title: ClassVar[str] = "Refused"

    def __init__(self, problem: Mapping[str, Any], http_status: int) -> None:
        super().__init__(
            str(problem.get("detail", f"It answered {http_status} and no reason: is it Waypost?")),
            code=str(problem.get("code", "internal")),
        )
        # Not as arguments: a field of the request may be called like one of ours.
        self.fields = dict(problem.get("fields") or {})
        self.http_status = http_status


class OperationFailed(WaypostError):
    """An operation ended as Failed; its own code and words."""

    code = "operation.failed"
    title = "The operation failed"


class Api:
    """Calls to one Waypost as one caller. Paths are below ``/api/v1``, such as ``/me``."""

    def __init__(self, url: str, token: str = "", *, patience_seconds: float = 20) -> None:
        if not url.lower().startswith(("http://", "https://")):
            raise Invalid(
                f"{url} is no address of Waypost: give one with http:// or https:// before it.",
                code="api.url",
            )
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.url, self._patience = url, patience_seconds
        # Plain HTTP needs no authorities; reading the machine's takes 40 ms.
        checks = url.lower().startswith("https://")
        try:
            self._http = httpx.Client(
                base_url=f"{url}/api/v1", headers=headers, timeout=30, verify=checks
            )
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            raise Invalid(
                f"{url}, or the token for it, is malformed: {error}.", code="api.url"
            ) from None
        except OSError as error:
            raise Unavailable(
                f"The file that SSL_CERT_FILE names, {os.environ.get('SSL_CERT_FILE')}, holds no "
                f"authorities: {error}.",
                code="api.certificate",
            ) from None

    def close(self) -> None:
        """Let go of the connections that are kept for later calls."""
        self._http.close()

    def get(self, path: str, **query: Any) -> Json:
        """Return the body. Raises Refused, or Unavailable when nobody answers."""
        return self._body(self._send("GET", path, params=query))

    def get_bytes(self, path: str, **query: Any) -> bytes:
        """Return the body of something that is not JSON."""
        return self._send("GET", path, params=query).content

    def pages(self, path: str, **query: Any) -> Iterator[Json]:
        """Yield the items of a list, page by page."""
        body = self.get(path, **query)
        while True:
            yield from body["items"]
            if not body.get("next"):
                return
            body = self.get(str(body["next"]).removeprefix("/api/v1"))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """Create something or ask for an act."""
        return self._json("POST", path, body, {"Idempotency-Key": uuid.uuid4().hex})

    def put(self, path: str, body: Mapping[str, Any]) -> Json:
        """Replace something by its full desired state."""
        return self._json("PUT", path, body, {})

    def patch(self, path: str, body: Mapping[str, Any]) -> Json:
        """Change parts of something."""
        return self._json("PATCH", path, body, {})

    def delete(self, path: str) -> Json:
        """Remove something; the operation, or an empty body."""
        return self._json("DELETE", path, None, {})

    def wait(
        self,
        tenant: str,
        operation: Mapping[str, Any],
        *,
        timeout_seconds: float = 180,
        progress: Progress = lambda _: None,
    ) -> Json:
        """Poll until the operation has ended and return it.

        Raises:
            OperationFailed: it ended as Failed.
            Unavailable: ``operation.slow``: it still runs after ``timeout_seconds``.
        """
        began = time.monotonic()
        while True:
            seen = self.get(f"/tenants/{tenant}/operations/{operation['id']}")
            progress(seen)
            if seen["state"] == "Succeeded":
                return seen
            if seen["state"] == "Failed":
                raise OperationFailed(
                    seen["error_message"] or "no reason was given", code=seen["error_code"]
                )
            waited = time.monotonic() - began
            if waited > timeout_seconds:
                raise Unavailable(
                    f"{seen['kind']} of {seen['subject_name']} still runs after "
                    f"{timeout_seconds:.0f} s: {_describe(seen)}. It goes on by itself.",
                    code="operation.slow",
                )
            # Seen at most a twentieth later than it ended, without asking all the time.
            time.sleep(min(max(waited / 20, 0.05), 1.0))

    def _json(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> Json:
        content = {} if body is None else dict(body)
        answer = self._send(method, path, json=content, headers=headers)
        return self._body(answer) if answer.content else {}

    def _body(self, answer: httpx.Response) -> Json:
        try:
            body: Json = answer.json()
        except ValueError:
            raise Unavailable(
                f"What answers at {self.url} is not Waypost: check the URL.", code="api.not_waypost"
            ) from None
        return body

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                answer = self._http.request(method, path, **options)
            except httpx.TransportError as error:
                if "CERTIFICATE_VERIFY_FAILED" in str(error):
                    raise Unavailable(
                        f"{self.url} shows a certificate that cannot be verified ({error}): name "
                        "the file of its authority in SSL_CERT_FILE.",
                        code="api.certificate",
                    ) from None
                if time.monotonic() > deadline:
                    raise Unavailable(self._silence(error), code="api.unreachable") from None
                time.sleep(0.5)
                continue
            if answer.is_error:
                raise Refused(_problem(answer), answer.status_code)
            return answer

    def _silence(self, error: httpx.TransportError) -> str:
        if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
            broken = f"What answers at {self.url} breaks off ({type(error).__name__})"
            return f"{broken}: is it Waypost, and {self.url.partition(':')[0]}:// there?"
        return (
            f"Nobody answers at {self.url} ({type(error).__name__}): is it up? "
            "`waypost status` tells, `waypost up` starts the embedded one."
        )


def _describe(operation: Mapping[str, Any]) -> str:
    waiting = [step for step in operation["steps"] if step["state"] != "done"]
    return f"{waiting[0]['name']}: {waiting[0]['message']}" if waiting else "no step yet"


def _problem(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
