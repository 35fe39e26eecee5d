"""The scope of a request: the user, the tenant, permissions, navigation and rendering.

The decorators of ``access`` create a scope and pass it to the view instead of the request.
Templates see it as ``scope``.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from controlplane.console import paging
from controlplane.console.paging import ListPage
from controlplane.core import network
from controlplane.core.audit import Actor
from tenants import permissions, queries
from tenants.models import Membership, SupportConsent, Tenant, User
from tenants.permissions import Permission

Row = TypeVar("Row", bound=Model)


class NavItem(NamedTuple):
    """One navigation entry or tab; ``here`` marks the one that the current page belongs to."""

    label: str
    url: str
    here: bool


# (label, URL name, permission that the entry needs)
TENANT_NAV = (
    ("Overview", "overview", Permission.VIEW),
    ("Spaces", "spaces", Permission.VIEW),
    ("Alarms", "tenant_alarms", Permission.VIEW),
    ("Usage", "usage", Permission.VIEW),
    ("Invoices", "invoices", Permission.VIEW_BILLING),
    ("Credit", "credit", Permission.VIEW_BILLING),
    ("Team", "team", Permission.VIEW),
    ("API tokens", "tokens", Permission.MANAGE_TOKENS),
    ("Maintenance", "windows", Permission.VIEW),
    ("Notifications", "notifications", Permission.VIEW),
    ("Audit", "audit", Permission.VIEW_AUDIT),
    ("Settings", "settings", Permission.VIEW_BILLING),
)
STAFF_NAV = (
    ("Tenants", "staff_tenants"),
    ("Fleet", "staff_fleet"),
    ("Invoices", "staff_invoices"),
    ("Close runs", "staff_close_runs"),
    ("Payments", "staff_payments"),
    ("Overdue", "staff_overdue"),
    ("Coupons", "staff_coupons"),
    ("Revenue", "staff_revenue"),
    ("Prices", "staff_prices"),
    ("Finance", "staff_finance"),
    ("Volumes", "staff_volumes"),
    ("Pipeline", "staff_pipeline"),
    ("Mailbox", "staff_mailbox"),
    ("Audit", "staff_audit"),
    ("Health", "staff_health"),
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
    def shows_command(self) -> bool:
        """Whether a form was submitted only to see it as a command: then it must change nothing."""
        return "show" in self.request.POST

    @property
    def nav(self) -> list[NavItem]:
        return []

    @property
    def search_url(self) -> str:
        """The URL of the page of search results; '' where nothing can be searched."""
        return ""

    @property
    def here(self) -> str:
        """The label of the navigation entry that the page belongs to, or ''."""
        return next((item.label for item in self.nav if item.here), "")

    def page_of(
        self, rows: QuerySet[Row], size: int = paging.PAGE_SIZE, name: str = "page"
    ) -> ListPage[Row]:
        """Return the page of ``rows``, ``size`` a page, that ``?page=`` or ``name`` selects."""
        return paging.select(rows, self.request.GET.get(name), size)

    def render(
        self, template: str, context: Mapping[str, Any] | None = None, status: int = 200
    ) -> HttpResponse:
        """Render the template ``console/<template>`` with ``context`` and this scope."""
        return render(
            self.request, f"console/{template}", {**(context or {}), "scope": self}, status=status
        )


class TenantScope(Scope):
    """The scope of a page of one tenant, for a member of the tenant with the role ``role``.

    It checks no permission: the decorator ``access.tenant_page`` does. ``acting_by`` is the consent
    by which an operator, who is no member, acts here; None for a member.
    """

    tenant: Tenant

    def __init__(
        self,
        request: HttpRequest,
        user: User,
        membership: Membership,
        acting_by: SupportConsent | None = None,
    ) -> None:
        super().__init__(request, user)
        self.tenant, self.role = membership.tenant, membership.role
        self.acting_by = acting_by

    # Cached, because templates use these several times on a page.
    @cached_property
    def tenants(self) -> list[Tenant]:
        """Every tenant that this user belongs to, for the menu that switches between them."""
        return [membership.tenant for membership in queries.tenants_of(self.user)]

    @cached_property
    def may(self) -> dict[str, bool]:
        """{permission: whether it is given now}, by which pages show or hide forms and links.

        The decorator of a view enforces the permission.
        """
        return {
            item.value: permissions.has_permission(self.role, item)
            and permissions.is_changeable(self.tenant, item)
            for item in Permission
        }

    @cached_property
    def may_end(self) -> dict[str, bool]:
        """{permission: whether it is given}, by which pages show what only takes access away.

        Unlike ``may``, it does not depend on the state of the tenant.
        """
        return {item.value: permissions.has_permission(self.role, item) for item in Permission}

    def has(self, permission: Permission) -> bool:
        """Return whether the role includes ``permission``, whatever the state of the tenant is."""
        return permissions.has_permission(self.role, permission)

    @cached_property
    def nav(self) -> list[NavItem]:
        return mark(
            self.request.path,
            (
                (label, reverse(f"console:{name}", args=[self.tenant.slug]))
                for label, name, permission in TENANT_NAV
                if permissions.has_permission(self.role, permission)
                # A member chooses their mails there, and an operator is none.
                and not (name == "notifications" and self.acting_by)
            ),
        )

    @property
    def search_url(self) -> str:
        return self.url("search")

    def url(self, name: str, *args: str) -> str:
        """Return the URL of this tenant's route ``name``; ``args`` follow the tenant's slug."""
        return reverse(f"console:{name}", args=[self.tenant.slug, *args])


class StaffScope(Scope):
    """The scope of a page of the operator area; ``tenant`` is None even on a tenant's page."""

    staff = True

    @property
    def search_url(self) -> str:
        return reverse("console:staff_search")

    @cached_property
    def nav(self) -> list[NavItem]:
        return mark(
            self.request.path,
            ((label, reverse(f"console:{name}")) for label, name in STAFF_NAV),
        )


def mark(path: str, entries: Iterable[tuple[str, str]]) -> list[NavItem]:
    """Return navigation entries from (label, URL); the one that ``path`` is below is marked."""
    entries = list(entries)
    under = [url for _, url in entries if path.startswith(url)]
    # The overview's URL is a prefix of all others, so the longest match is the current section.
    here = max(under, key=len, default="")
    return [NavItem(label, url, url == here) for label, url in entries]
