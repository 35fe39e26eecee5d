"""Who may see a page: the decorators of every view.

``tenant_page`` and ``staff_page`` send strangers to the login, find the membership, check the
permission, hand the view a scope, and turn an expected refusal into a page. What is not yours is
answered 404.
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
    """Open ``view`` to everyone; an expected refusal becomes a page."""

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except WaypostError as error:
            return refusal_page(request, error)

    return page


def login_page(view: Page) -> Page:
    """Open ``view`` to everyone who is logged in."""

    @public_page
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not isinstance(request.user, User):
            return _to_login(request)
        return view(Scope(request, request.user), *args, **kwargs)

    return page


def tenant_page(see: Permission, change: Permission | None = None) -> Callable[[Page], Page]:
    """Open a view to members whose role has ``see``, and for anything but GET ``change``."""

    def decorate(view: Page) -> Page:
        @public_page
        @wraps(view)
        def page(request: HttpRequest, tenant: str, **kwargs: Any) -> HttpResponseBase:
            if not isinstance(request.user, User):
                return _to_login(request)
            membership = queries.membership(request.user, tenant)
            needed = see if request.method in {"GET", "HEAD"} else change or see
            permissions.require(membership.role, needed)
            scope = TenantScope(request, request.user, membership)
            return view(scope, **kwargs)

        return page

    return decorate


def staff_page(view: Page) -> Page:
    """Open ``view`` to operators; for everyone else there is no such page."""

    @public_page
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not isinstance(request.user, User):
            return _to_login(request)
        if not request.user.is_staff:
            raise Missing("There is no such page.")
        return view(StaffScope(request, request.user), *args, **kwargs)

    return page


def refusal_page(request: HttpRequest, error: WaypostError) -> HttpResponse:
    """Return the page that says what was refused, its stable code and what to do next."""
    words = {
        "title": error.title,
        "message": error.message,
        "status": error.status,
        "code": error.error_code,
    }
    return render(request, "console/error.html", words, status=error.status)


def _to_login(request: HttpRequest) -> HttpResponseBase:
    if request.headers.get("HX-Request"):  # a fragment: the whole page must go, not the fragment
        return HttpResponseClientRedirect(resolve_url(settings.LOGIN_URL))
    return redirect_to_login(request.get_full_path())
