"""The exception handler of the API: every exception becomes an answer in problem+json (RFC 9457).

DRF calls ``handle`` (setting EXCEPTION_HANDLER). Every error answer has ``type``, ``title``,
``status``, ``detail``, ``instance``, a stable ``code`` and ``fields``, which is {field of the
request: [reason, ...]}. Other facts, such as ``limit``, are members of their own. ``error_codes``
lists the codes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from django.conf import settings
from django.core import exceptions as django_errors
from django.db import DatabaseError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from redis.exceptions import RedisError
from rest_framework import exceptions as drf
from rest_framework.response import Response
from rest_framework.views import set_rollback

from controlplane.api import error_codes
from controlplane.core import errors, ids, outages
from controlplane.core.throttling import CacheUnavailable

MEDIA_TYPE = "application/problem+json"
logger = structlog.get_logger(__name__)

_INCIDENT = (
    "Something went wrong on our side; your request did not cause it. Try again in a minute. If it "
    "fails again, send the operator the incident {incident}."
)
_TOO_LARGE = f"Send at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes."
_DATABASE_AWAY = "The database does not answer. Nothing was changed; try again in a few seconds."
_DEADLOCK = (
    "Two requests changed the same objects at once, and this one gave way. Nothing was changed; "
    "try again in a second."
)
_NOT_FOUND = "There is nothing here that you may see. Check the path and the names in it."
# The first class that fits counts: a subclass stands before its base.
_DRF_CODES: list[tuple[type[drf.APIException], str]] = [
    (drf.ParseError, "request.malformed"),
    (drf.AuthenticationFailed, "credentials.invalid"),
    (drf.NotAuthenticated, "credentials.missing"),
    (drf.PermissionDenied, "denied"),
    (drf.NotFound, "missing"),
    (drf.MethodNotAllowed, "request.method_not_allowed"),
    (drf.UnsupportedMediaType, "request.media_type_unsupported"),
    (drf.Throttled, "rate_limited"),
]


@dataclass(frozen=True)
class Problem:
    """A value: one error answer.

    ``fields`` maps fields of the request to reasons, and ``facts`` are further members of the body.
    ``headers`` are additional response headers.
    """

    status: int
    code: str
    detail: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, instance: str) -> dict[str, Any]:
        """Return the JSON body: the members of RFC 9457, ``code``, ``fields``, then the facts.

        ``instance`` is the requested path.
        """
        return {
            "type": f"{settings.PUBLIC_URL}/api/v1/problems#{self.code}",
            "title": error_codes.title(self.code, self.status),
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
            "code": self.code,
            "fields": dict(self.fields),
            **self.facts,
        }

    @classmethod
    def of(cls, exc: Exception) -> "Problem":
        """Return the problem for any exception of a view.

        An unexpected exception is logged, and the problem (500) has only the id of the incident.
        """
        if isinstance(exc, errors.WaypostError):
            found = cls.of_waypost(exc)
        elif isinstance(exc, drf.ValidationError):
            found = cls.of_validation(exc.detail)
        elif isinstance(exc, drf.APIException):
            found = cls.of_drf(exc)
        else:
            found = cls.of_django(exc)
        return found or cls.unexpected(exc)

    @classmethod
    def of_waypost(cls, exc: errors.WaypostError) -> "Problem | None":
        """Return the problem for a ``WaypostError``, with its message and fields.

        None for an error whose message is not for callers: one with a status of 500 or more that is
        no ``Unavailable``.
        """
        if exc.status >= 500 and not isinstance(exc, errors.Unavailable):
            return None
        wait = exc.fields.get("retry_after_seconds")
        headers = {"Retry-After": str(wait)} if wait is not None else {}
        shown = "fields" if isinstance(exc, errors.Invalid) else "facts"
        return cls(exc.status, exc.error_code, exc.message, headers=headers, **{shown: exc.fields})

    @classmethod
    def of_validation(cls, detail: Any) -> "Problem":
        """Return the problem for a DRF validation error; ``fields`` maps wrong fields to reasons.

        ``detail`` is the ``detail`` of the ``ValidationError``.
        """
        fields = flattened(detail)
        names = ", ".join(sorted(fields))
        return cls(422, "request.invalid", f"Correct these fields and try again: {names}.", fields)

    @classmethod
    def of_drf(cls, exc: drf.APIException) -> "Problem | None":
        """Return the problem for an exception of DRF; None if its class is not in ``_DRF_CODES``.

        Passes on the headers ``WWW-Authenticate`` and ``Retry-After``, if DRF asks for them.
        """
        code = next((code for kind, code in _DRF_CODES if isinstance(exc, kind)), None)
        if code is None:
            return None
        headers = {}
        challenge = getattr(exc, "auth_header", None)  # set by APIView.handle_exception on a 401
        if challenge:
            headers["WWW-Authenticate"] = challenge
        wait = getattr(exc, "wait", None)  # seconds, of a Throttled
        if wait is not None:
            headers["Retry-After"] = str(int(wait) + 1)  # rounded up
        return cls(exc.status_code, code, str(exc.detail), headers=headers)

    @classmethod
    def of_django(cls, exc: Exception) -> "Problem | None":
        """Return the problem for an exception that Django raises; None for one that is unexpected.

        Logs a deadlock, and a database or a cache that does not answer.
        """
        if isinstance(exc, Http404):
            return cls(404, "missing", _NOT_FOUND)
        if isinstance(exc, django_errors.PermissionDenied):
            return cls(403, "denied", "You may not do this.")
        if outages.is_deadlock(exc):
            logger.error("a deadlock, twice in a row", exc_info=exc)
            return cls(503, "database.deadlock", _DEADLOCK, headers={"Retry-After": "1"})
        if isinstance(exc, OperationalError):
            logger.error("the database does not answer", exc_info=exc)
            return cls(503, "database.unavailable", _DATABASE_AWAY, headers={"Retry-After": "5"})
        if isinstance(exc, RedisError):
            logger.error("the cache does not answer", exc_info=exc)
            away = CacheUnavailable()
            return cls(503, away.error_code, away.message, headers={"Retry-After": "5"})
        # Before SuspiciousOperation, of which it is a subclass.
        if isinstance(exc, django_errors.RequestDataTooBig):
            return cls(413, "request.too_large", _TOO_LARGE)
        if isinstance(exc, django_errors.SuspiciousOperation):
            return cls(400, "request.malformed", "The request was refused as unsafe.")
        return None

    @classmethod
    def unexpected(cls, exc: Exception) -> "Problem":
        """Log ``exc`` with a new incident id; return a problem 500 that shows only this id."""
        incident = ids.new("inc")
        kind = "database" if isinstance(exc, DatabaseError) else "program"
        logger.error("unexpected error in the API", incident=incident, kind=kind, exc_info=exc)
        detail = _INCIDENT.format(incident=incident)
        return cls(500, "internal", detail, facts={"incident": incident})


def handle(exc: Exception, context: Mapping[str, Any]) -> Response:
    """Return the answer to a request whose view raised ``exc``, in problem+json.

    DRF calls this with the view's ``context``. Marks the request's transaction for rollback. An
    unexpected exception is logged with an incident id.
    """
    # DRF's own handler does this too: with ATOMIC_REQUESTS an error must not commit.
    set_rollback()
    problem = Problem.of(exc)
    request = context.get("request")
    return Response(
        problem.body(request.path if request is not None else ""),
        status=problem.status,
        headers=dict(problem.headers),
        content_type=MEDIA_TYPE,
    )


# Exempt from the CSRF check, which would answer a POST to an unknown path with an HTML page.
@csrf_exempt
def nowhere(request: HttpRequest) -> HttpResponse:
    """Answer 404 in problem+json: the view of every path that the API does not have."""
    body = Problem(404, "missing", _NOT_FOUND).body(request.path)
    return JsonResponse(body, status=404, content_type=MEDIA_TYPE)


def flattened(detail: Any, path: str = "") -> dict[str, list[str]]:
    """Return DRF's nested error details as a flat mapping, such as {"a.b.0": [reason, ...]}.

    ``path`` is the prefix of all names, the place of ``detail`` in the body. Errors of no single
    field stand under ``path`` itself, or under ``body`` if it is empty.
    """
    if isinstance(detail, Mapping):
        pairs = [(str(name), value) for name, value in detail.items()]
    elif isinstance(detail, list) and any(isinstance(item, dict | list) for item in detail):
        pairs = [(str(index), value) for index, value in enumerate(detail)]
    else:
        reasons = detail if isinstance(detail, list) else [detail]
        return {path or "body": [str(reason) for reason in reasons]} if reasons else {}
    flat: dict[str, list[str]] = {}
    for name, value in pairs:
        here = path if name == "non_field_errors" else f"{path}.{name}".lstrip(".")
        flat.update(flattened(value, here))
    return flat
