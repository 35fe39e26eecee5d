"""Access control of the portal: decorators for the view functions.

* ``public_page``: for everyone.
* ``login_page``: for every logged-in user.
* ``tenant_page``: for members of the tenant in the URL who have a permission, and for an operator
  who acts there with the tenant's consent.
* ``staff_page``: for operators.

Each renders a ``WaypostError`` as an error page, and answers a request with NUL with 400. All but
``public_page`` redirect anonymous visitors to the login page, and pass the view a scope instead of
the request. A tenant that the user does not belong to is answered with 404, as if it did not exist.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

import structlog
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render, resolve_url
from django_htmx.http import HttpResponseClientRedirect
from redis.exceptions import RedisError

from controlplane.console import acting
from controlplane.console.scope import Scope, StaffScope, TenantScope
from controlplane.core.errors import Invalid, Missing, WaypostError
from controlplane.core.throttling import CacheUnavailable
from tenants import permissions
from tenants.models import User
from tenants.permissions import Permission

logger = structlog.get_logger(__name__)
Page: TypeAlias = Callable[..., HttpResponseBase]


class MalformedRequest(Invalid):
    """The path, the query or the form cannot be read."""

    status = 400
    code = "request.malformed"


def public_page(view: Page) -> Page:
    """Decorate ``view``: open it to everyone. The view gets the request.

    A ``WaypostError`` that the view raises becomes an error page (``refusal_page``), and so does an
    error of the cache. A request with NUL is answered with 400, and the view is not called.
    """

    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            _refuse_nul(request)
            return view(request, *args, **kwargs)
        except WaypostError as error:
            return refusal_page(request, error)
        except RedisError as error:  # django-allauth counts attempts in the cache
            logger.error("the cache does not answer", exc_info=error)
            return refusal_page(request, CacheUnavailable())

    return page


def login_page(view: Page) -> Page:
    """Decorate ``view``: open it to every logged-in user. The view gets a ``Scope``.

    An anonymous visitor is redirected to the login page. A ``WaypostError`` becomes an error page.
    """

    @public_page
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # An anonymous visitor has another class of user, without email and memberships.
        if not isinstance(request.user, User):
            return _to_login(request)
        return view(Scope(request, request.user), *args, **kwargs)

    return page


def tenant_page(
    see: Permission,
    change: Permission | None = None,
    *,
    or_see: Permission | None = None,
    ends_access: bool = False,
) -> Callable[[Page], Page]:
    """Decorate a view: open it to members of the tenant in the URL. It gets a ``TenantScope``.

    GET and HEAD need the permission ``see`` or ``or_see``. Other methods need ``change``, or
    ``see`` if ``change`` is None. A member without the permission gets an error page with status
    403. So does a member who may not change a tenant that is suspended or being closed
    (``permissions.require_changeable``), unless the view only takes access away (``ends_access``).
    A user who is no member gets an error page with status 404, and so does an operator who does not
    act there with the tenant's consent. An anonymous visitor is redirected to the login page.
    """

    def decorate(view: Page) -> Page:
        @public_page
        @wraps(view)
        def page(request: HttpRequest, tenant: str, **kwargs: Any) -> HttpResponseBase:
            if not isinstance(request.user, User):
                return _to_login(request)
            # Raises Missing (404) for other people's tenants: the answer must not reveal that they
            # exist. Only members get a 403.
            membership, acting_by = acting.membership(request, request.user, tenant)
            # One URL both shows and changes something: the method decides which permission counts.
            is_read = request.method in {"GET", "HEAD"}
            needed = see if is_read else change or see
            if not (is_read and or_see and permissions.has_permission(membership.role, or_see)):
                permissions.require(membership.role, needed)
            if not (is_read or ends_access):
                permissions.require_changeable(membership.tenant, needed)
            scope = TenantScope(request, request.user, membership, acting_by)
            try:
                return view(scope, **kwargs)
            except WaypostError as error:
                # Rendered as a page of the organization, so that its navigation is at hand.
                return scope.render("error.html", _refusal(error, "shell"), error.status)

        return page

    return decorate


def staff_page(view: Page) -> Page:
    """Decorate ``view``: open it to operators (staff). The view gets a ``StaffScope``.

    Any other logged-in user gets an error page with status 404. An anonymous visitor is redirected
    to the login page.
    """

    @public_page
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not isinstance(request.user, User):
            return _to_login(request)
        if not request.user.is_staff:
            # 404 and not 403, so that other users do not learn which operator pages exist.
            raise Missing("There is no such page.")
        return view(StaffScope(request, request.user), *args, **kwargs)

    return page


def refusal_page(request: HttpRequest, error: WaypostError) -> HttpResponse:
    """Return the page that shows an error's title, message and code, with the error's status."""
    return render(request, "console/error.html", _refusal(error, "plain_page"), status=error.status)


def _refuse_nul(request: HttpRequest) -> None:
    """Check that no text of the request has a NUL, which PostgreSQL does not accept in text.

    Raises:
        MalformedRequest: the path, the query or the form has one.
    """
    sent = [value for query in (request.GET, request.POST) for value in query.lists()]
    texts = [request.path, *(text for name, values in sent for text in (name, *values))]
    if any("\x00" in text for text in texts):
        raise MalformedRequest(
            "The address or the form has a NUL character, which cannot be stored. Send the request "
            "again without the NUL character."
        )


def _refusal(error: WaypostError, frame: str) -> dict[str, str]:
    """Return the context of ``error.html``; ``frame`` is the template around it."""
    return {
        "title": error.title,
        "message": error.message,
        "code": error.error_code,
        "frame": f"console/{frame}.html",
    }


def _to_login(request: HttpRequest) -> HttpResponseBase:
    # htmx would follow a plain redirect and put the login page into the part of the page that it
    # replaces. This answer makes the browser leave the page.
    if request.headers.get("HX-Request"):
        return HttpResponseClientRedirect(resolve_url(settings.LOGIN_URL))
    # With the path, so that the login leads back to the requested page.
    return redirect_to_login(request.get_full_path())
