"""The base classes of all expected errors.

Actions, queries and pure rules raise them. ``controlplane.api.problem`` turns them into
problem+json, the console into a page message. Only the status number belongs to HTTP.

    WaypostError          code            status  fields
    ├── Invalid           <what>.invalid  400     {field: [reason]}
    ├── Denied            denied          403     -
    ├── Missing           missing         404     - (also for objects of another tenant)
    ├── Conflict          conflict        409     -
    ├── QuotaExceeded     quota_exceeded  403     resource, limit, used, asked, raised_by
    ├── RateLimited       rate_limited    429     retry_after_seconds
    └── Unavailable       unavailable     503     retry_after_seconds

Concrete errors are small subclasses beside the function that raises them. A ``code`` is a stable
slug that programs may compare; a ``message`` is for people and says what to do next.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class WaypostError(Exception):
    """The base of every expected error; never raised itself."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong on our side"

    def __init__(self, message: str, *, code: str = "", **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = code or self.code
        self.fields: Mapping[str, Any] = fields


class Invalid(WaypostError):
    """The request cannot be understood or breaks a rule; the caller can correct it."""

    status = 400
    code = "invalid"
    title = "The request is not valid"


class Denied(WaypostError):
    """The caller is known but may not do this."""

    status = 403
    code = "denied"
    title = "Not allowed"


class Missing(WaypostError):
    """The object does not exist or belongs to another tenant; callers cannot tell which."""

    status = 404
    code = "missing"
    title = "Not found"


class Conflict(WaypostError):
    """The request is valid but not possible in the present state."""

    status = 409
    code = "conflict"
    title = "Not possible now"


class QuotaExceeded(WaypostError):
    """The request would exceed a limit of the plan, the space or the tenant.

    Fields: ``resource`` (slug), ``limit``, ``used``, ``asked`` (requested; integers in the
    resource's own unit) and ``raised_by`` (text: who can raise the limit).
    """

    status = 403
    code = "quota_exceeded"
    title = "Over a limit"

    def __init__(
        self,
        message: str,
        *,
        resource: str,
        limit: int,
        used: int,
        asked: int,
        raised_by: str = "the operator",
    ) -> None:
        super().__init__(
            message, resource=resource, limit=limit, used=used, asked=asked, raised_by=raised_by
        )


class RateLimited(WaypostError):
    """Too many requests; the same one may succeed after ``retry_after_seconds``."""

    status = 429
    code = "rate_limited"
    title = "Too many requests"


class Unavailable(WaypostError):
    """A service that Waypost depends on is away; the same request may succeed later."""

    status = 503
    code = "unavailable"
    title = "Not available at the moment"
