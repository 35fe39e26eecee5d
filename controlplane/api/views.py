"""The base classes of all views: they find the caller and the tenant and check the permission.

All checks run before the method of the view (``get``, ``post`` ...). In ``needs``, a view of a
tenant lists the permission that each of its methods requires. A tenant to which the caller does not
belong is answered with 404.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework import permissions as drf_permissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.api import authentication
from controlplane.api.authentication import TokenPrincipal
from controlplane.api.serializers import OperationSerializer
from controlplane.core.audit import Actor
from controlplane.core.errors import Denied, Missing
from controlplane.core.models import Operation
from tenants import permissions, queries
from tenants.models import Tenant, User
from tenants.permissions import Permission


class ApiView(APIView):
    """The base class of all views. Itself, it serves every caller who is logged in.

    ``actor`` is the caller as the actor of audit events.
    """

    # Without OPTIONS, which DRF would answer with a description of the serializers.
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    actor: Actor

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate the caller and set ``actor``. DRF calls this before the method of the view.

        Raises:
            NotAuthenticated: the view requires a login and there is none.
            Missing: a name in the path has a NUL, which PostgreSQL does not accept in text.
        """
        super().initial(request, *args, **kwargs)
        if any("\x00" in str(value) for value in kwargs.values()):
            raise Missing("There is nothing with this name.")
        self.actor = authentication.actor(request)


class PublicView(ApiView):
    """The base class of views that need no login. If a token is sent, it must be valid (401)."""

    permission_classes = [drf_permissions.AllowAny]


class TenantView(ApiView):
    """The base class of views of one tenant, whose slug is ``tenant`` in the path.

    ``needs`` maps each HTTP method to the permission that it requires. ``tenant`` and ``role`` (the
    caller's role in this tenant) are set before the method of the view runs.
    """

    needs: ClassVar[Mapping[str, Permission]] = {}
    tenant: Tenant
    role: str

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Set ``tenant`` and ``role``, and check the permission that ``needs`` has for the method.

        Raises:
            Missing: there is no such tenant, or the caller does not belong to it.
            Denied: the caller's role lacks the permission.
        """
        super().initial(request, *args, **kwargs)
        self.tenant, self.role = find_tenant(request, kwargs["tenant"])
        # HEAD runs ``get``, so it needs the same permission.
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method in self.needs:  # any other method ends in 405
            permissions.require(self.role, self.needs[method])


class StaffView(ApiView):
    """The base class of views for the operator's staff. A tenant's token is never staff."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check that the caller is staff.

        Raises:
            NotAuthenticated: nobody is logged in.
            Missing: the caller is not staff, and must not see which views exist.
        """
        super().initial(request, *args, **kwargs)
        if not request.user.is_staff:
            raise Missing("There is nothing here that you may see.")


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
    # Without a host name, so that it is right behind every proxy.
    location = f"/api/v1/tenants/{tenant.slug}/operations/{operation.pk}"
    body = OperationSerializer(operation).data
    return Response(body, status=202, headers={"Location": location})


def find_tenant(request: Request, slug: str) -> tuple[Tenant, str]:
    """Return the tenant with the slug ``slug``, and the role of the request's caller in it.

    Raises:
        Missing: there is no such tenant, or the caller does not belong to it. Both look the same.
    """
    caller = authentication.caller(request)
    if isinstance(caller, TokenPrincipal):
        if caller.token.tenant.slug != slug:
            raise Missing("There is no such tenant, or it is not yours.")
        return caller.token.tenant, caller.token.role
    membership = queries.membership(caller, slug)
    return membership.tenant, membership.role
