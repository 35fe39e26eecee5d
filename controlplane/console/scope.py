"""The scope of a request: the user, the tenant, permissions, navigation and rendering.

The decorators of ``access`` create a scope and pass it to the view instead of the request.
Templates see it as ``scope``.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from controlplane.core import network
from controlplane.core.audit import Actor
from tenants import permissions, queries
from tenants.models import Membership, Tenant, User
from tenants.permissions import Permission

Row = TypeVar("Row", bound=Model)
PAGE_SIZE = 50


class NavItem(NamedTuple):
    """One navigation entry or tab; ``here`` marks the one that the current page belongs to."""

    label: str
    url: str
    here: bool


# (label, URL name, permission that the entry needs)
TENANT_NAV = (
    ("Overview", "overview", Permission.VIEW),
    ("Spaces", "spaces", Permission.VIEW),
    ("Usage", "usage", Permission.VIEW),
    ("Invoices", "invoices", Permission.VIEW_BILLING),
    ("Team", "team", Permission.VIEW),
    ("API tokens", "tokens", Permission.MANAGE_TOKENS),
    ("Notifications", "notifications", Permission.VIEW),
    ("Audit", "audit", Permission.VIEW_AUDIT),
    ("Settings", "settings", Permission.VIEW_BILLING),
)
STAFF_NAV = (
    ("Tenants", "staff_tenants"),
    ("Invoices", "staff_invoices"),
    ("Fleet", "staff_fleet"),
    ("Mailbox", "staff_mailbox"),
)


class Scope:
    """The request and its user, for pages that every logged-in user may see.

    ``staff`` says whether the page belongs to the operator area; ``tenant`` is None outside the
    pages of a tenant.
    """

    staff = False
    tenant: Tenant | None = None

    def __init__(self, request: HttpRequest, user: User) -> None:
        self.request, self.user = request, user

    @property
    def actor(self) -> Actor:
        """The user and the request's network address, as the actor that audit events name."""
        return Actor(f"user:{self.user.email}", network.address(self.request))

    @property
    def nav(self) -> list[NavItem]:
        return []

    @property
    def here(self) -> str:
        """The label of the navigation entry that the page belongs to, or ''."""
        return next((item.label for item in self.nav if item.here), "")

    def page_of(self, rows: QuerySet[Row]) -> Page[Row]:
        """Return the page of ``rows``, 50 a page, that ``?page=`` selects.

        A missing or invalid number selects the first page, a number beyond the end the last one.
        """
        return Paginator(rows, PAGE_SIZE).get_page(self.request.GET.get("page"))

    def render(
        self, template: str, context: Mapping[str, Any] | None = None, status: int = 200
    ) -> HttpResponse:
        """Render the template ``console/<template>`` with ``context`` and this scope."""
        return render(
            self.request, f"console/{template}", {**(context or {}), "scope": self}, status=status
        )


class TenantScope(Scope):
    """The scope of a page of one tenant, for a member of the tenant with the role ``role``.

    It checks no permission: the decorator ``access.tenant_page`` does.
    """

    tenant: Tenant

    def __init__(self, request: HttpRequest, user: User, membership: Membership) -> None:
        super().__init__(request, user)
        self.tenant, self.role = membership.tenant, membership.role

    # Cached, because templates use these several times on a page.
    @cached_property
    def tenants(self) -> list[Tenant]:
        """Every tenant that this user belongs to, for the menu that switches between them."""
        return [membership.tenant for membership in queries.tenants_of(self.user)]

    @cached_property
    def may(self) -> dict[str, bool]:
        """{permission: whether the role has it}, by which pages show or hide forms and links.

        The decorator of a view enforces the permission.
        """
        return {item.value: permissions.has_permission(self.role, item) for item in Permission}

    @cached_property
    def nav(self) -> list[NavItem]:
        return _mark(
            self.request.path,
            (
                (label, reverse(f"console:{name}", args=[self.tenant.slug]))
                for label, name, permission in TENANT_NAV
                if permissions.has_permission(self.role, permission)
            ),
        )

    def url(self, name: str, *args: str) -> str:
        """Return the URL of this tenant's route ``name``; ``args`` follow the tenant's slug."""
        return reverse(f"console:{name}", args=[self.tenant.slug, *args])


class StaffScope(Scope):
    """The scope of a page of the operator area; ``tenant`` is None even on a tenant's page."""

    staff = True

    @cached_property
    def nav(self) -> list[NavItem]:
        return _mark(
            self.request.path,
            ((label, reverse(f"console:{name}")) for label, name in STAFF_NAV),
        )


def _mark(path: str, entries: Iterable[tuple[str, str]]) -> list[NavItem]:
    entries = list(entries)
    under = [url for _, url in entries if path.startswith(url)]
    # The overview's URL is a prefix of all others, so the longest match is the current section.
    here = max(under, key=len, default="")
    return [NavItem(label, url, url == here) for label, url in entries]
