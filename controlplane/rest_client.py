"""A client of Waypost's REST API, for the ``waypost`` command, the demonstration and tests.

``Sender`` sends requests and raises what their problem+json says, for ``Api`` and for the generated
functions of ``controlplane.client``, which take ``Api.client``. While the server does not answer, a
request is repeated, because the web server may be restarting. A request over a rate limit waits as
long as the server says, if that is short.
``Api`` calls paths, and polls operations. It knows no particular resource. Each POST of ``post``
carries an Idempotency-Key, so a repeated one takes effect once. A POST of ``post_once`` carries
none, and is repeated only if no connection to the server was made: for views without the key, and
for answers with a secret, which the API does not repeat.
"""

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import httpx

from controlplane.client.client import AuthenticatedClient
from controlplane.core.errors import Invalid, Unavailable, WaypostError

Json = dict[str, Any]
_ROOT = "/api/v1"
# Errors after which the server certainly has nothing of the request.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
Progress = Callable[[Json], None]
# The members of every problem.
_MEMBERS = {"type", "title", "status", "detail", "instance", "code", "fields"}


def segment(name: str) -> str:
    """Return ``name`` percent-encoded as exactly one segment of a URL path.

    A slash is refused, not encoded: servers decode the path before they route it (RFC 3875 4.1.5,
    ``PATH_INFO``), so ``%2F`` would address another resource.

    Raises:
        Invalid: ``name.invalid``: the name is empty, ``.`` or ``..``, or has a slash.
    """
    if "/" in name:
        raise Invalid(f"{name!r} is not a valid name: it has a slash.", code="name.invalid")
    return last_segments(name)


def last_segments(name: str) -> str:
    """Return ``name`` percent-encoded for the end of a URL path, such as the name of an address.

    The name may have slashes, which become ``%2F``. The server reads them as slashes of the name,
    because no other segment follows.

    Raises:
        Invalid: ``name.invalid``: the name is empty, ``.`` or ``..``.
    """
    # HTTP clients and servers resolve dot segments, so these would address a parent resource.
    if name in ("", ".", ".."):
        raise Invalid(f"{name!r} is not a valid name.", code="name.invalid")
    return quote(name, safe="")


class Refused(WaypostError):
    """The API answered a request with an error status (4xx or 5xx), which is ``http_status``.

    Message, ``error_code`` and ``fields`` are those of the problem+json in the body. ``facts`` are
    its members that RFC 9457 does not define. Without problem+json, the code is ``internal`` and
    the message asks whether the server is Waypost.
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "refused"
    title: ClassVar[str] = "Refused"

    def __init__(self, problem: Mapping[str, Any], http_status: int) -> None:
        super().__init__(
            str(
                problem.get(
                    "detail", f"The server answered {http_status} without a reason: is it Waypost?"
                )
            ),
            code=str(problem.get("code", "internal")),
        )
        # Not as keyword arguments: a field may have the name of a parameter, such as ``code``.
        self.fields = dict(problem.get("fields") or {})
        self.facts = {name: value for name, value in problem.items() if name not in _MEMBERS}
        self.http_status = http_status


class OperationFailed(WaypostError):
    """An operation ended as Failed. This error has the code and the message of the operation."""

    code = "operation.failed"
    title = "The operation failed"


class Sender(httpx.Client):
    """Sends requests to one Waypost server as one caller, and repeats those that it may repeat.

    ``url``, ``token`` and ``patience_seconds`` are those of ``Api``. ``options`` are those of
    ``httpx.Client``.
    """

    def __init__(self, url: str, token: str, patience_seconds: float, **options: Any) -> None:
        self._url, self._patience = url, patience_seconds
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Plain HTTP needs no certificate authorities, and loading the system's takes 40 ms.
        checks = url.lower().startswith("https://")
        super().__init__(base_url=url, headers=headers, timeout=30, verify=checks, **options)

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send ``request``, repeat it where that is safe, and return the successful answer.

        Raises:
            Refused: the answer has an error status.
            Unavailable: ``api.unreachable``, ``api.unanswered``, ``api.certificate`` (TLS).
        """
        deadline = time.monotonic() + self._patience
        while True:
            try:
                answer = super().send(request, **options)
            except httpx.TransportError as error:
                self._check_repeat(request, error)
                if time.monotonic() > deadline:
                    raise Unavailable(self._silence(error), code="api.unreachable") from None
                time.sleep(0.5)
                continue
            # The server has done nothing yet, and says when it will.
            rest = _retry_after(answer) if answer.status_code == 429 else None
            if rest is not None and time.monotonic() + rest <= deadline:
                time.sleep(rest)
                continue
            if answer.is_error:
                raise Refused(_problem(answer), answer.status_code)
            return answer

    def _check_repeat(self, request: httpx.Request, error: httpx.TransportError) -> None:
        """Check that the request may be sent once more after ``error``.

        Raises:
            Unavailable: ``api.certificate`` or ``api.unanswered``: it may not.
        """
        # httpx has no class of its own for an invalid certificate. Trying again is useless.
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise Unavailable(
                f"The certificate of {self._url} cannot be verified ({error}): set "
                "SSL_CERT_FILE to the file of its authority.",
                code="api.certificate",
            ) from None
        # The API's PUT, PATCH and DELETE name the state that they bring about.
        is_repeatable = request.method != "POST" or "Idempotency-Key" in request.headers
        if not isinstance(error, _UNSENT) and not is_repeatable:
            raise Unavailable(
                f"The server at {self._url} did not answer ({type(error).__name__}), and "
                "may have carried out the request: check that before you repeat it.",
                code="api.unanswered",
            ) from None

    def _silence(self, error: httpx.TransportError) -> str:
        if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
            broken = f"The server at {self._url} closed the connection ({type(error).__name__})"
            return f"{broken}: is it Waypost, and does it speak {self._url.partition(':')[0]}://?"
        if isinstance(error, httpx.ReadTimeout):
            return (
                f"The server at {self._url} took the request and did not answer in time "
                "(ReadTimeout): it may be busy. Try again later."
            )
        return (
            f"No server answers at {self._url} ({type(error).__name__}): is it running? "
            "`waypost status` shows it; `waypost up` starts an embedded installation."
        )


class Api:
    """A client that calls one Waypost server as one caller. Call ``close`` at the end.

    ``url`` is the server's root. ``token`` is a bearer token; empty means an anonymous caller. The
    parameter ``path`` of the methods is below ``/api/v1``, such as ``/me``. A request is repeated
    for ``patience_seconds`` while the server does not answer, or asks to wait (429).

    The constructor raises:
        Invalid: ``api.url``: the URL or the token is malformed.
        Unavailable: ``api.certificate``: the file of ``SSL_CERT_FILE`` has no authorities.

    Every method that sends a request raises:
        Refused: the answer has an error status.
        Unavailable: ``api.unreachable``, ``api.certificate`` (TLS), ``api.not_waypost`` (the body
            is not JSON).
    """

    def __init__(self, url: str, token: str = "", *, patience_seconds: float = 20) -> None:
        if not url.lower().startswith(("http://", "https://")):
            raise Invalid(
                f"{url} is not a URL of Waypost: it must begin with http or https, for example "
                "http://127.0.0.1:8000.",
                code="api.url",
            )
        self.url = url
        try:
            self._http = Sender(url, token, patience_seconds)
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            raise Invalid(
                f"{url}, or the token for it, is malformed: {error}.", code="api.url"
            ) from None
        except OSError as error:
            raise Unavailable(
                f"The file that SSL_CERT_FILE names, {os.environ.get('SSL_CERT_FILE')}, holds no "
                f"certificate authorities: {error}.",
                code="api.certificate",
            ) from None
        # For the functions of ``controlplane.client``, whose requests ``Sender`` sends too.
        self.client = AuthenticatedClient(url, token, http=self._http)

    def close(self) -> None:
        """Close the pooled connections."""
        self._http.close()

    def get(self, path: str, **query: Any) -> Json:
        """Return the JSON body of a GET; ``query`` are the parameters of the query string."""
        return self._body(self._send("GET", path, params=query))

    def pages(self, path: str, **query: Any) -> Iterator[Json]:
        """Yield the items of all pages of a list; request the next page only when it is needed."""
        body = self.get(path, **query)
        if isinstance(body, list):  # a list of few rows, by a server of an older version
            yield from body
            return
        while True:
            yield from body["items"]
            if not body.get("next"):
                return
            # ``next`` is a path from the root, and ``get`` puts the prefix in front again.
            body = self.get(str(body["next"]).removeprefix(_ROOT))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """Send a POST with a new Idempotency-Key; return the answer's body, or {} without one.

        ``body`` None is sent as an empty object.
        """
        return self._json("POST", path, body, {"Idempotency-Key": uuid.uuid4().hex})

    def post_once(self, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """Send a POST without an Idempotency-Key; return the answer's body.

        ``body`` None is sent as an empty object.

        Raises:
            Unavailable: ``api.unanswered``: the server may have carried out the request.
        """
        return self._json("POST", path, body, {})

    def read(self, path: str) -> tuple[Json, str]:
        """Return the JSON body of a resource and its ETag, for ``put`` and ``patch``."""
        answer = self._send("GET", path)
        return self._body(answer), answer.headers.get("ETag", "*")

    def put(self, path: str, body: Mapping[str, Any], *, tag: str | None) -> Json:
        """Send ``body``, the full desired state; return the answer's body, or {} without one.

        ``tag`` is the ETag that was read, ``*`` to change any state, or None to create the resource
        only if it does not exist.

        Raises:
            Refused: status 412: the resource is in another state.
        """
        condition = {"If-None-Match": "*"} if tag is None else {"If-Match": tag}
        return self._json("PUT", path, body, condition)

    def patch(self, path: str, body: Mapping[str, Any], *, tag: str) -> Json:
        """Send a PATCH, which changes parts of a resource; return the body, or {} without one.

        ``tag`` is the ETag that was read, or ``*`` to change any state.

        Raises:
            Refused: status 412: the resource is in another state.
        """
        return self._json("PATCH", path, body, {"If-Match": tag})

    def delete(self, path: str) -> Json:
        """Send a DELETE; return the operation of the deletion, or {} if it is complete at once."""
        return self._json("DELETE", path, None, {})

    def wait(
        self,
        tenant: str,
        operation: Mapping[str, Any],
        *,
        stalled_seconds: float = 180,
        progress: Progress = lambda _: None,
    ) -> Json:
        """Poll an operation of a tenant until it has succeeded, and return its newest body.

        ``tenant`` is the tenant's slug. Of ``operation`` only ``id`` is read. The rest is as of
        ``wait_at``.
        """
        path = f"/tenants/{segment(tenant)}/operations/{operation['id']}"
        return self.wait_at(path, stalled_seconds=stalled_seconds, progress=progress)

    def wait_at(
        self, path: str, *, stalled_seconds: float = 180, progress: Progress = lambda _: None
    ) -> Json:
        """Poll the operation at ``path`` until it has succeeded, and return its newest body.

        After each poll, the last one included, ``progress`` is called with the operation. It waits
        as long as the operation makes progress: ``steps`` differ from those of every earlier poll.

        Raises:
            OperationFailed: the operation ended as Failed.
            Unavailable: ``operation.slow``: there was no progress for ``stalled_seconds``.
        """
        began = progressed = time.monotonic()
        seen: set[str] = set()  # alternating between two states is no progress
        while True:
            current = self.get(path)
            progress(current)
            now = time.monotonic()
            steps = json.dumps(current["steps"])
            if steps not in seen:
                seen.add(steps)
                progressed = now
            if current["state"] == "Succeeded":
                return current
            if current["state"] == "Failed":
                raise OperationFailed(
                    current["error_message"] or "no reason was given", code=current["error_code"]
                )
            if now - progressed > stalled_seconds:
                raise Unavailable(_stalled(current, stalled_seconds), code="operation.slow")
            # 5 % of the time waited: short operations return at once, long ones cost few requests.
            time.sleep(min(max((now - began) / 20, 0.05), 1.0))

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
            raise not_waypost(self.url) from None
        return body

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self._http.request(method, f"{_ROOT}{path}", **options)


def not_waypost(url: str) -> Unavailable:
    """Return the error for an answer of the server at ``url`` that Waypost does not give."""
    return Unavailable(
        f"The server at {url} is not Waypost: check the URL.", code="api.not_waypost"
    )


def _stalled(operation: Json, seconds: float) -> str:
    # Steps are in order: the operation waits for the first that is not done.
    left = [step for step in operation["steps"] if step["state"] != "done"]
    step = f"{left[0]['name']}: {left[0]['message']}" if left else "no step yet"
    return (
        f"{operation['kind']} of {operation['subject_name']} still runs, and made no progress for "
        f"{seconds:.0f} s: {step}. It continues on the server."
    )


def _retry_after(answer: httpx.Response) -> float | None:
    """Return the seconds in Retry-After; None without the header, or if it holds a date."""
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None


def _problem(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
