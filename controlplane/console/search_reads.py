"""Searches everything of a tenant, or of the installation, by name.

A constant number of queries, whatever is found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Q
from django.http import HttpResponse
from django.urls import reverse

from controlplane.console.scope import Scope, StaffScope, TenantScope
from plans.models import Invoice
from tenants import queries
from tenants.models import Address, AddressSpace, MessagingUser, User
from tenants.notifications import reads

_MOST = 10  # results of each kind
_LONGEST = 100  # characters of a search


class Found(NamedTuple):
    """One result: its name, where it belongs, and the page that shows it."""

    name: str
    note: str
    url: str


class Group(NamedTuple):
    """The results of one kind. ``is_cut``: there are more than those listed."""

    title: str
    found: list[Found]
    is_cut: bool


def text_of(scope: Scope) -> str:
    """Return what the request searches, ``?q=``."""
    return scope.request.GET.get("q", "").strip()[:_LONGEST]


def render(scope: Scope, text: str, groups: Sequence[Group]) -> HttpResponse:
    """Return the page of results, or only the results if htmx asks for them while one types."""
    is_part = scope.request.headers.get("HX-Request") == "true"
    template = "parts/found.html" if is_part else "search.html"
    return scope.render(template, {"searched": text, "groups": groups})


def search_all(scope: StaffScope, text: str) -> list[Group]:
    """Return what an operator finds by ``text`` in all tenants, by kind.

    Kinds without a result are left out. An empty ``text`` finds nothing.
    """
    if not text:
        return []
    search = _OfInstallation(text)
    groups = [
        _group("Pages", _pages(scope, text)),
        _group("Tenants", search.tenants()),
        _group("Spaces", search.spaces()),
        _group("People", search.people()),
        _group("Invoices", search.invoices()),
    ]
    return [group for group in groups if group.found]


def search(scope: TenantScope, text: str) -> list[Group]:
    """Return what the member may see and whose name contains ``text``, by kind.

    Kinds without a result are left out. An empty ``text`` finds nothing.
    """
    if not text:
        return []
    search = _OfTenant(scope, text)
    groups = [
        _group("Pages", _pages(scope, text)),
        _group("Spaces", search.spaces()),
        _group("Addresses", search.addresses()),
        _group("Labels", search.labels()),
        _group("Messaging users", search.users()),
        _group("Members", search.members()),
    ]
    if scope.may["view_billing"]:
        groups.append(_group("Invoices", search.invoices()))
    if scope.may["manage_notifications"]:
        groups.append(_group("Notification channels", search.channels()))
    if scope.may["manage_tokens"]:
        groups.append(_group("API tokens", search.tokens()))
    return [group for group in groups if group.found]


def _group(title: str, found: Sequence[Found]) -> Group:
    # Each query reads one row more than the page shows, so that ``is_cut`` needs no count.
    return Group(title, list(found[:_MOST]), len(found) > _MOST)


def _pages(scope: Scope, text: str) -> list[Found]:
    return [Found(i.label, "", i.url) for i in scope.nav if text.lower() in i.label.lower()]


@dataclass(frozen=True)
class _OfTenant:
    """Finds rows of one tenant whose name contains ``text``, one query for each kind."""

    scope: TenantScope
    text: str

    def spaces(self) -> list[Found]:
        rows = queries.list_spaces(self.scope.tenant).filter(name__icontains=self.text)
        return [
            Found(row.name, row.space_plan.title, self.scope.url("space", row.name))
            for row in rows[: _MOST + 1]
        ]

    def addresses(self) -> list[Found]:
        rows = Address.objects.select_related("space").filter(
            space__tenant=self.scope.tenant, deleted_at__isnull=True, address__icontains=self.text
        )
        return [
            Found(
                row.address,
                f"{row.type} in {row.space.name}",
                self.scope.url("address", row.space.name, row.pk),
            )
            for row in rows.order_by("address", "space__name")[: _MOST + 1]
        ]

    def users(self) -> list[Found]:
        rows = MessagingUser.objects.select_related("space").filter(
            space__tenant=self.scope.tenant, deleted_at__isnull=True, name__icontains=self.text
        )
        return [
            Found(row.name, f"in {row.space.name}", self.scope.url("space_users", row.space.name))
            for row in rows.order_by("name", "space__name")[: _MOST + 1]
        ]

    def members(self) -> list[Found]:
        rows = queries.list_members(self.scope.tenant).filter(user__email__icontains=self.text)
        return [
            Found(row.user.email, row.role, self.scope.url("team")) for row in rows[: _MOST + 1]
        ]

    def invoices(self) -> list[Found]:
        rows = Invoice.objects.filter(tenant=self.scope.tenant).filter(
            # An id is found as a whole only: people copy it, and a part of it means nothing.
            Q(number__icontains=self.text) | Q(pk=self.text)
        )
        return [
            Found(
                row.number or "Not numbered yet",
                f"{row.starts_at:%B %Y}",
                self.scope.url("invoice", row.pk),
            )
            for row in rows.defer("document", "manifest", "quality").order_by("-starts_at")[
                : _MOST + 1
            ]
        ]

    def tokens(self) -> list[Found]:
        rows = queries.list_tokens(self.scope.tenant).filter(name__icontains=self.text)
        return [Found(row.name, row.role, self.scope.url("tokens")) for row in rows[: _MOST + 1]]

    def channels(self) -> list[Found]:
        rows = reads.list_channels(self.scope.tenant).filter(name__icontains=self.text)
        return [
            Found(row.name, row.kind, self.scope.url("channel", row.pk))
            for row in rows[: _MOST + 1]
        ]

    def labels(self) -> list[Found]:
        """Return the labels of spaces that contain the text, each with the list of its spaces."""
        rows = (
            queries.list_spaces(self.scope.tenant)
            .exclude(labels={})
            .values_list("labels", flat=True)
        )
        pairs = sorted({f"{key}={value}" for labels in rows for key, value in labels.items()})
        return [
            Found(
                pair,
                "spaces with this label",
                f"{self.scope.url('spaces')}?{urlencode({'label': pair})}",
            )
            for pair in pairs
            if self.text.lower() in pair.lower()
        ]


@dataclass(frozen=True)
class _OfInstallation:
    """Finds rows of all tenants whose name contains ``text``, one query for each kind."""

    text: str

    def tenants(self) -> list[Found]:
        rows = queries.list_tenants(self.text)[: _MOST + 1]
        return [
            Found(row.name, row.slug, reverse("console:staff_tenant", args=[row.slug]))
            for row in rows
        ]

    def spaces(self) -> list[Found]:
        rows = AddressSpace.objects.select_related("tenant").filter(
            Q(name__icontains=self.text) | Q(pk=self.text), deleted_at__isnull=True
        )
        return [
            Found(row.name, f"of {row.tenant.name}", reverse("console:staff_space", args=[row.pk]))
            for row in rows.order_by("name", "tenant__name")[: _MOST + 1]
        ]

    def people(self) -> list[Found]:
        """Return people by their email, each with the page of the first tenant they belong to."""
        rows = User.objects.filter(email__icontains=self.text).prefetch_related(
            "memberships__tenant"
        )
        found = []
        for row in rows.order_by("email")[: _MOST + 1]:
            of = [membership.tenant for membership in row.memberships.all()]
            names = ", ".join(tenant.name for tenant in of) or ("operator" if row.is_staff else "")
            url = reverse("console:staff_tenant", args=[of[0].slug]) if of else ""
            found.append(Found(row.email, names, url or reverse("console:staff_tenants")))
        return found

    def invoices(self) -> list[Found]:
        rows = Invoice.objects.select_related("tenant").filter(
            Q(number__icontains=self.text) | Q(pk=self.text)
        )
        return [
            Found(
                row.number or "Not numbered yet",
                f"{row.starts_at:%B %Y} of {row.tenant.name}",
                reverse("console:staff_invoice", args=[row.pk]),
            )
            for row in rows.defer("document", "manifest", "quality").order_by("-starts_at")[
                : _MOST + 1
            ]
        ]
