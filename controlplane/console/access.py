"""Access control of the portal: the decorators that every view uses.

``tenant_page`` and ``staff_page``:

* redirect anonymous visitors to the login page,
* look up the membership and check the permission,
* pass the view a scope instead of the request,
* render a ``WaypostError`` as an error page.

A tenant that the user does not belong to is answered with 404, as if it did not exist.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render, resolve_url
from django_htmx.http import HttpResponseClientRedirect

from controlplane.console.scope import Scope, StaffScope, TenantScope
from controlplane.core.errors import Missing, WaypostError
from tenants import permissions, queries
from tenants.models import User
from tenants.permissions import Permission

Page: TypeAlias = Callable[..., HttpResponseBase]


def public_page(view: Page) -> Page:
    """Open ``view`` to everyone and render a ``WaypostError`` as an error page."""

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except WaypostError as error:
            return refusal_page(request, error)

    return page


def login_page(view: Page) -> Page:
    """Open ``view`` to every logged-in user."""

    @public_page
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # An anonymous visitor has another class of user, without email and memberships.
        if not isinstance(request.user, User):
            return _to_login(request)
        return view(Scope(request, request.user), *args, **kwargs)

    return page


def tenant_page(see: Permission, change: Permission | None = None) -> Callable[[Page], Page]:
    """Open a view to members of the tenant in the URL.

    GET and HEAD need the permission ``see``. Other methods need ``change``, or ``see`` without it.
    """

    def decorate(view: Page) -> Page:
        @public_page
        @wraps(view)
        def page(request: HttpRequest, tenant: str, **kwargs: Any) -> HttpResponseBase:
            if not isinstance(request.user, User):
                return _to_login(request)
            # Raises Missing (404) for other people's tenants: the answer must not reveal that they
            # exist. Only members get a 403.
            membership = queries.membership(request.user, tenant)
            # A page that shows and changes something has one URL; the method decides what it needs.
            needed = see if request.method in {"GET", "HEAD"} else change or see
            permissions.require(membership.role, needed)
            scope = TenantScope(request, request.user, membership)
            return view(scope, **kwargs)

        return page

    return decorate


def staff_page(view: Page) -> Page:
    """Open ``view`` to operators and answer every other user with 404."""

    @public_page
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not isinstance(request.user, User):
            return _to_login(request)
        if not request.user.is_staff:
            # 404 and not 403: others need not know that an operator area exists.
            raise Missing("There is no such page.")
        return view(StaffScope(request, request.user), *args, **kwargs)

    return page


def refusal_page(request: HttpRequest, error: WaypostError) -> HttpResponse:
    """Return the error page: title, message with the next step, HTTP status and stable code."""
    context = {
        "title": error.title,
        "message": error.message,
        "status": error.status,
        "code": error.error_code,
    }
    return render(request, "console/error.html", context, status=error.status)


def _to_login(request: HttpRequest) -> HttpResponseBase:
    # htmx follows a plain redirect itself and would put the login page into the fragment.
    if request.headers.get("HX-Request"):
        return HttpResponseClientRedirect(resolve_url(settings.LOGIN_URL))
    # With the path, so that the login leads back to the page.
    return redirect_to_login(request.get_full_path())
