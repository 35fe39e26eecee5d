"""The base classes of all views: they find the caller and the tenant and check the permission.

All checks run before the method of the view (``get``, ``post`` ...). In ``needs``, a view of a
tenant lists the permission that each of its methods requires. A tenant to which the caller does not
belong is answered with 404.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import structlog
from django.db import connection
from rest_framework import permissions as drf_permissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.api import authentication, etags, rate_limits
from controlplane.api.authentication import TokenPrincipal
from controlplane.api.serializers import OperationSerializer
from controlplane.core import outages
from controlplane.core.audit import Actor
from controlplane.core.errors import Denied, Invalid, Missing
from controlplane.core.models import Operation
from tenants import permissions, queries
from tenants.models import ApiToken, Tenant, User
from tenants.permissions import Permission

logger = structlog.get_logger(__name__)


class ApiView(APIView):
    """The base class of all views. Itself, it serves every caller who is logged in.

    ``actor`` is the caller as the actor of audit events. Subclasses check in ``authorize`` who may
    call them.
    """

    # Without OPTIONS, which DRF would answer with a description of the serializers.
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    actor: Actor
    # Whether every caller gets the same answers, none of which is secret.
    is_public: ClassVar[bool] = False
    counted: rate_limits.Counted
    has_run_again = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate the caller and set ``actor``. DRF calls this before the method of the view.

        Raises:
            NotAuthenticated: the view requires a login and there is none.
            Missing: a name in the path has a NUL, which PostgreSQL does not accept in text.
            RateLimited: the caller or the tenant has sent too many requests.
            UnknownParameter: the query has a parameter that the method does not document.
            ConditionMissing, ConditionMalformed: as ``etags.require_condition`` raises them.
            Others: as ``authorize`` of the view raises them.
        """
        # First: ``finalize_response`` reads it also if authentication fails.
        self.counted = rate_limits.Counted([])
        super().initial(request, *args, **kwargs)
        # After the authentication, which says who the caller is, and before any other query.
        rate_limits.count_caller(request, self.counted)
        if any("\x00" in str(value) for value in kwargs.values()):
            raise Missing("There is nothing with this name.")
        self.actor = authentication.actor(request)
        self.authorize(request, **kwargs)
        # After the permission: a stranger learns nothing of the view.
        require_known_query(request, self.method_of(request))
        etags.require_condition(request)

    def authorize(self, request: Request, **kwargs: Any) -> None:
        """Check that the caller may call this view; ``kwargs`` are the names in the path."""

    def handle_exception(self, exc: Exception) -> Response:
        """Return the answer for ``exc``; after the first deadlock, run the request once more.

        PostgreSQL has rolled the transaction back, so nothing of the first run remains.
        """
        if outages.is_deadlock(exc) and not self.has_run_again and not connection.in_atomic_block:
            self.has_run_again = True
            logger.warning("a deadlock: the request runs again", path=self.request.path)
            try:
                found: Response = self.method_of(self.request)(
                    self.request, *self.args, **self.kwargs
                )
            except Exception as again:  # noqa: BLE001  # as DRF's dispatch does
                return super().handle_exception(again)
            return found
        return super().handle_exception(exc)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Add the headers of rate limits, and forbid caches to store what is not public."""
        final = super().finalize_response(request, response, *args, **kwargs)
        for name, value in self.counted.headers().items():
            final.headers[name] = value
        if not self.is_public:
            final.headers.setdefault("Cache-Control", "no-store")
        return final

    def method_of(self, request: Request) -> Any:
        """Return the method of this view that answers ``request``; None if it offers none."""
        # HEAD runs ``get``.
        name = "get" if request.method == "HEAD" else str(request.method).lower()
        return getattr(self, name, None) if name in self.http_method_names else None


class PublicView(ApiView):
    """The base class of views that need no login. If a token is sent, it must be valid (401)."""

    permission_classes = [drf_permissions.AllowAny]


class TenantView(ApiView):
    """The base class of views of one tenant, whose slug is ``tenant`` in the path.

    ``needs`` maps each HTTP method to the permission that it requires. ``tenant`` and ``role`` (the
    caller's role in this tenant) are set before the method of the view runs. ``ends_access`` names
    the methods that only take access away: those work in a suspended tenant too, because a leaked
    token must be revoked at once.
    """

    needs: ClassVar[Mapping[str, Permission]] = {}
    ends_access: ClassVar[frozenset[str]] = frozenset()
    tenant: Tenant
    role: str
    # Whether the view works for tokens that are limited to spaces although its path has no space:
    # it then shows what belongs to the spaces ``limited_to`` only (empty: no limit).
    filters_spaces: ClassVar[bool] = False
    limited_to: tuple[str, ...] = ()

    def authorize(self, request: Request, **kwargs: Any) -> None:
        """Set ``tenant`` and ``role``, and check the permission that ``needs`` has for the method.

        Raises:
            Missing: there is no such tenant, or the caller does not belong to it.
            Denied: the caller's role, or the scope of the caller's token, lacks the permission; or
                the tenant is suspended or being closed.
        """
        self.tenant, self.role = find_tenant(request, kwargs["tenant"])
        # HEAD runs ``get``, so it needs the same permission.
        method = "GET" if request.method == "HEAD" else str(request.method)
        rate_limits.count_tenant(request, self.counted, self.tenant.pk)
        if method in self.needs:  # any other method ends in 405
            permissions.require(self.role, self.needs[method])
            if method != "GET" and method not in self.ends_access:
                permissions.require_changeable(self.tenant, self.needs[method])
            caller = authentication.caller(request)
            if isinstance(caller, TokenPrincipal):
                self._limit(caller.token, self.needs[method], kwargs.get("space"))

    def may(self, permission: Permission) -> bool:
        """Return whether the caller has ``permission``, by role and by the limits of a token."""
        caller = authentication.caller(self.request)
        token = caller.token if isinstance(caller, TokenPrincipal) else None
        return permissions.is_given(self.role, token, permission)

    def _limit(self, token: ApiToken, needed: Permission, space: str | None) -> None:
        """Check the limits of the tenant's token, and set ``limited_to``.

        Raises:
            OutOfScope, Missing: see ``permissions.require_in_scope``.
        """
        if token.spaces and self.filters_spaces and space is None:
            # The view shows what belongs to the token's spaces.
            space = token.spaces[0]
        permissions.require_in_scope(token, needed, space)
        self.limited_to = tuple(token.spaces)


class StaffView(ApiView):
    """The base class of views for the operator's staff. A tenant's token is never staff."""

    def authorize(self, request: Request, **kwargs: Any) -> None:
        """Check that the caller is staff.

        Raises:
            Missing: the caller is not staff, and must not see which views exist.
        """
        if not request.user.is_staff:
            raise Missing("There is nothing here that you may see.")


class UnknownParameter(Invalid):
    """The query has a parameter that the operation does not have, such as a misspelled filter."""

    code = "query.unknown"


def require_known_query(request: Request, method: Any) -> None:
    """Check that ``method`` of a view documents every parameter in the query of ``request``.

    ``controlplane.api.schema.describe`` stores the names of documented parameters.

    Raises:
        UnknownParameter: a parameter is not documented, or appears twice.
    """
    known: frozenset[str] = getattr(method, "query_parameters", frozenset())
    choice = f"The parameters are {', '.join(sorted(known))}." if known else "There are none."
    wrong = {
        name: ["Send it once." if name in known else f"There is no such parameter. {choice}"]
        for name in request.query_params
        if name not in known or len(request.query_params.getlist(name)) > 1
    }
    if wrong:
        refusal = UnknownParameter(f"Wrong query parameters: {', '.join(wrong)}. {choice}")
        refusal.fields = wrong  # no keyword arguments: a client chose the names
        raise refusal


def person(request: Request) -> User:
    """Return the user who sent ``request``; only for views that require a login.

    Raises:
        Denied: the caller is a tenant's token, not a person.
    """
    caller = authentication.caller(request)
    if isinstance(caller, TokenPrincipal):
        raise Denied("A tenant's token cannot do this: log in as a person.")
    return caller


def accepted(operation: Operation, tenant: Tenant) -> Response:
    """Return a response 202 with the operation, whose ``Location`` is the path to poll it.

    ``tenant`` must be the tenant of the operation.
    """
    return accepted_at(operation, f"/tenants/{tenant.slug}/operations/{operation.pk}")


def accepted_at(operation: Operation, path: str) -> Response:
    """Return a response 202 with the operation, to be polled at ``path`` of the API.

    ``path`` begins after the version: ``/staff/…``.
    """
    body = OperationSerializer(operation).data
    # Without a host name, so that it is right behind every proxy.
    return Response(body, status=202, headers={"Location": f"/api/v1{path}"})


def find_tenant(request: Request, slug: str) -> tuple[Tenant, str]:
    """Return the tenant with the slug ``slug``, and the role of the request's caller in it.

    Raises:
        Missing: there is no such tenant, or the caller does not belong to it. Both look the same.
    """
    caller = authentication.caller(request)
    if isinstance(caller, TokenPrincipal):
        # A token has one tenant. Any other one looks as if it did not exist.
        if caller.token.tenant.slug != slug:
            raise Missing("There is no such tenant, or it is not yours.")
        return caller.token.tenant, caller.token.role
    membership = queries.membership(caller, slug)
    return membership.tenant, membership.role
