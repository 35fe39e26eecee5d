"""The base classes of all expected errors.

Actions, queries and pure rules raise them. ``controlplane.api.problem`` turns them into
problem+json, the portal into a message on a page, the command into an exit code. HTTP appears here
only as the status number.

    WaypostError          code            status  fields
    ├── Invalid           invalid         422     {field: [reason]}
    ├── Denied            denied          403     mostly none
    ├── Missing           missing         404     mostly none
    ├── Conflict          conflict        409     differ from error to error
    ├── QuotaExceeded     quota_exceeded  403     resource, limit, used, asked, raised_by
    ├── RateLimited       rate_limited    429     retry_after_seconds
    └── Unavailable       unavailable     503     retry_after_seconds, if known

Concrete errors are small subclasses beside the function that raises them, or one of these classes
with a ``code`` of its own, such as ``address.invalid``. A code is a stable slug that programs may
compare. A message is for people and says what to do next. The API shows the fields of ``Invalid``
under ``fields``, and each field of other errors as a member of the problem itself.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class WaypostError(Exception):
    """The base of every expected error; only its subclasses are raised.

    ``message`` is for people. ``error_code`` is the ``code`` that the constructor got, else that of
    the class. ``fields`` are the other keyword arguments: details for programs. ``status`` is the
    HTTP status, and ``title`` the title of the problem+json document.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong on our side"

    def __init__(self, message: str, *, code: str = "", **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = code or self.code
        self.fields: Mapping[str, Any] = fields


class Invalid(WaypostError):
    """A value in the request breaks a rule; the caller can correct the request.

    Fields: {name of a request's field: [reason, ...]}. Subclasses for a request that cannot even be
    read have the status 400.
    """

    status = 422
    code = "invalid"
    title = "The request is not valid"


class Denied(WaypostError):
    """The caller may not do this: a permission, a right of the plan or the login is missing."""

    status = 403
    code = "denied"
    title = "Not allowed"


class Missing(WaypostError):
    """The object does not exist or belongs to another tenant; callers cannot tell which."""

    status = 404
    code = "missing"
    title = "Not found"


class Conflict(WaypostError):
    """The request is valid but not possible in the present state of the objects that it names."""

    status = 409
    code = "conflict"
    title = "Not possible now"


class QuotaExceeded(WaypostError):
    """The request would exceed a limit of the plan, the space or the tenant.

    Fields: ``resource`` is a slug. ``limit``, ``used`` and ``asked`` (the requested amount) are
    integers in the resource's own unit. ``raised_by`` says who can raise the limit.
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
    """The caller has sent too many requests.

    The same request may succeed after the number of seconds in the field ``retry_after_seconds``.
    """

    status = 429
    code = "rate_limited"
    title = "Too many requests"


class Unavailable(WaypostError):
    """Something that Waypost needs is away or missing: a service, a program, a file or a key.

    The same request may succeed later, or after the operator has done what the message says.
    """

    status = 503
    code = "unavailable"
    title = "Not available at the moment"
