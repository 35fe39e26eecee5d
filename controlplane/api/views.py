"""The base classes of all views: they find the caller and the tenant and check the permission.

In ``needs``, a view of a tenant lists the permission that each of its methods requires. A tenant
that the caller does not belong to is answered with 404. Both are checked here, before a method of
the view runs.
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
    """A view of the API for anyone who is logged in."""

    # Without OPTIONS, which DRF would answer with a description of the serializers.
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    actor: Actor

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Set the actor; refuse names with NUL, which PostgreSQL does not accept in text."""
        super().initial(request, *args, **kwargs)
        if any("\x00" in str(value) for value in kwargs.values()):
            raise Missing("There is nothing with this name.")
        self.actor = authentication.actor(request)


class PublicView(ApiView):
    """A view that needs no login. A token that is sent and not valid is refused (401)."""

    permission_classes = [drf_permissions.AllowAny]


class TenantView(ApiView):
    """A view of one tenant.

    ``tenant`` and ``role``, the caller's role in it, are set before a method runs.
    """

    needs: ClassVar[Mapping[str, Permission]] = {}
    tenant: Tenant
    role: str

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Set ``tenant`` and ``role``, and check the permission of the method.

        Raises:
            Missing: the caller does not belong to the tenant.
            Denied: the caller's role lacks the permission.
        """
        super().initial(request, *args, **kwargs)
        self.tenant, self.role = find_tenant(request, kwargs["tenant"])
        # HEAD runs ``get``, so it needs the same permission.
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method in self.needs:  # any other method ends in 405
            permissions.require(self.role, self.needs[method])


class StaffView(ApiView):
    """A view of the operator. A tenant's token is never staff."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise Missing for everyone but staff, so that they do not see which views exist."""
        super().initial(request, *args, **kwargs)
        if not request.user.is_staff:
            raise Missing("There is nothing here that you may see.")


def person(request: Request) -> User:
    """Return the caller of a request if it is a person.

    Raises:
        Denied: the caller is a tenant's token.
    """
    caller = authentication.caller(request)
    if isinstance(caller, TokenPrincipal):
        raise Denied("A tenant's token cannot do this: log in as a person.")
    return caller


def accepted(operation: Operation, tenant: Tenant) -> Response:
    """Return 202 with the operation, and in ``Location`` the path to poll it."""
    # Without a host name, so that it is right behind every proxy.
    location = f"/api/v1/tenants/{tenant.slug}/operations/{operation.pk}"
    body = OperationSerializer(operation).data
    return Response(body, status=202, headers={"Location": location})


def find_tenant(request: Request, slug: str) -> tuple[Tenant, str]:
    """Return the tenant and the caller's role in it.

    Raises:
        Missing: there is no such tenant, or it is somebody else's: both look the same to a caller.
    """
    caller = authentication.caller(request)
    if isinstance(caller, TokenPrincipal):
        if caller.token.tenant.slug != slug:
            raise Missing("There is no such tenant, or it is not yours.")
        return caller.token.tenant, caller.token.role
    membership = queries.membership(caller, slug)
    return membership.tenant, membership.role
