"""The exception handler of the API: every exception becomes problem+json (RFC 9457).

DRF calls it (settings.EXCEPTION_HANDLER). Every answer has ``type``, ``title``, ``status``,
``detail``, ``instance``, a stable ``code`` and ``fields``. ``error_codes`` lists the codes.
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
from rest_framework import exceptions as drf
from rest_framework.response import Response
from rest_framework.views import set_rollback

from controlplane.api import error_codes
from controlplane.core import errors, ids

MEDIA_TYPE = "application/problem+json"
logger = structlog.get_logger(__name__)

_INCIDENT = (
    "Something went wrong on our side; your request did not cause it. Try again in a minute. If it "
    "fails again, send the operator the incident {incident}."
)
_TOO_LARGE = f"Send at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes."
_DATABASE_AWAY = "The database does not answer. Nothing was changed; try again in a few seconds."
_NOT_FOUND = "There is nothing here that you may see. Check the path and the names in it."


@dataclass(frozen=True)
class Problem:
    """One error: members of the body, and additional headers."""

    status: int
    code: str
    detail: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, instance: str) -> dict[str, Any]:
        """Return the members of RFC 9457 in its order, then ``code`` and ``fields``."""
        return {
            "type": f"{settings.PUBLIC_URL}/api/v1/problems#{self.code}",
            "title": error_codes.title(self.code, self.status),
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
            "code": self.code,
            "fields": dict(self.fields),
        }


def handle(exc: Exception, context: Mapping[str, Any]) -> Response:
    """Return ``exc`` as problem+json; log an unexpected one with an incident id."""
    set_rollback()
    problem = _expected(exc) or _unexpected(exc)
    request = context.get("request")
    return Response(
        problem.body(request.path if request is not None else ""),
        status=problem.status,
        headers=dict(problem.headers),
        content_type=MEDIA_TYPE,
    )


# Exempt, because a POST to an unknown path would get Django's HTML page about CSRF.
@csrf_exempt
def nowhere(request: HttpRequest) -> HttpResponse:
    """Answer 404 for every unknown path and any method."""
    body = Problem(404, "missing", _NOT_FOUND).body(request.path)
    return JsonResponse(body, status=404, content_type=MEDIA_TYPE)


def _expected(exc: Exception) -> Problem | None:
    if isinstance(exc, errors.WaypostError):
        return _from_waypost(exc)
    if isinstance(exc, drf.ValidationError):
        return _from_validation(exc.detail)
    if isinstance(exc, drf.APIException):
        return _from_drf(exc)
    return _from_django(exc)


def _from_waypost(exc: errors.WaypostError) -> Problem:
    # Any other 5xx is an error of the program: it gets an incident, and its message stays inside.
    if exc.status >= 500 and not isinstance(exc, errors.Unavailable):
        return _unexpected(exc)
    wait = exc.fields.get("retry_after_seconds")
    headers = {"Retry-After": str(wait)} if wait is not None else {}
    return Problem(exc.status, exc.error_code, exc.message, exc.fields, headers)


def _from_validation(detail: Any) -> Problem:
    fields = _flat(detail)
    names = ", ".join(sorted(fields))
    return Problem(400, "request.invalid", f"Correct these fields and try again: {names}.", fields)


def _flat(detail: Any, path: str = "") -> dict[str, list[str]]:
    """Return DRF's nested error details as {"a.b.0": [reason, ...]}."""
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
        flat.update(_flat(value, here))
    return flat


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


def _from_drf(exc: drf.APIException) -> Problem | None:
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
    return Problem(exc.status_code, code, str(exc.detail), headers=headers)


def _from_django(exc: Exception) -> Problem | None:
    if isinstance(exc, Http404):
        return Problem(404, "missing", _NOT_FOUND)
    if isinstance(exc, django_errors.PermissionDenied):
        return Problem(403, "denied", "You may not do this.")
    if isinstance(exc, OperationalError):
        logger.error("the database does not answer", exc_info=exc)
        return Problem(503, "database.unavailable", _DATABASE_AWAY, headers={"Retry-After": "5"})
    if isinstance(exc, django_errors.RequestDataTooBig):
        return Problem(413, "request.too_large", _TOO_LARGE)
    if isinstance(exc, django_errors.SuspiciousOperation):
        return Problem(400, "request.malformed", "The request was refused as unsafe.")
    return None


def _unexpected(exc: Exception) -> Problem:
    incident = ids.new("inc")
    kind = "database" if isinstance(exc, DatabaseError) else "program"
    logger.error("unexpected error in the API", incident=incident, kind=kind, exc_info=exc)
    return Problem(500, "internal", _INCIDENT.format(incident=incident), {"incident": incident})
