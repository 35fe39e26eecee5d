"""The base of every view: who calls, in which tenant, and whether the role allows the method.

A view of a tenant says which permission each of its methods needs in ``needs``. What belongs to
somebody else is 404, and that is decided here, before any code of the view runs.
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

    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    actor: Actor

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find out who calls; refuse names that PostgreSQL cannot even compare."""
        super().initial(request, *args, **kwargs)
        if any("\x00" in str(value) for value in kwargs.values()):
            raise Missing("There is nothing of that name.")
        self.actor = authentication.actor(request)


class PublicView(ApiView):
    """A view that needs no login."""

    permission_classes = [drf_permissions.AllowAny]


class TenantView(ApiView):
    """A view of one tenant; ``tenant`` and ``role`` are set before a method runs."""

    needs: ClassVar[Mapping[str, Permission]] = {}
    tenant: Tenant
    role: str

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse outsiders with Missing, members without the permission with Denied."""
        super().initial(request, *args, **kwargs)
        self.tenant, self.role = _place(request, kwargs["tenant"])
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method in self.needs:  # any other method ends in 405
            permissions.require(self.role, self.needs[method])


class StaffView(ApiView):
    """A view of the operator. A tenant's token is never staff."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse everybody else as if nothing were here."""
        super().initial(request, *args, **kwargs)
        if not request.user.is_staff:
            raise Missing("There is nothing here that you may see.")


def person(request: Request) -> User:
    """Return the person who calls.

    Raises:
        Denied: a tenant's token calls, and this needs a person.
    """
    caller = authentication.caller(request)
    if isinstance(caller, TokenPrincipal):
        raise Denied("A tenant's token cannot do this: log in as a person.")
    return caller


def accepted(operation: Operation, tenant: Tenant) -> Response:
    """Return 202 with the operation, and where to poll it."""
    location = f"/api/v1/tenants/{tenant.slug}/operations/{operation.pk}"
    body = OperationSerializer(operation).data
    return Response(body, status=202, headers={"Location": location})


def _place(request: Request, slug: str) -> tuple[Tenant, str]:
    caller = authentication.caller(request)
    if isinstance(caller, TokenPrincipal):
        if caller.token.tenant.slug != slug:
            raise Missing("There is no such tenant, or it is not yours.")
        return caller.token.tenant, caller.token.role
    membership = queries.membership(caller, slug)
    return membership.tenant, membership.role
