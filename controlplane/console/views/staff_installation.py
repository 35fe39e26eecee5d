"""The operator's views of the installation: health, revenue, volumes, audit and search."""

from datetime import timedelta

from django.contrib import messages
from django.db.models import F
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from controlplane.console import audit_files, audit_reads, health_reads, revenue_reads, search_reads
from controlplane.console.access import staff_page
from controlplane.console.forms.audit import AuditFilterForm
from controlplane.console.forms.base import ConsoleForm, form_status
from controlplane.console.scope import StaffScope
from controlplane.core.errors import Missing
from tenants.actions import kept_volumes
from tenants.models import KeptVolumes

_YEAR = timedelta(days=365)


@staff_page
def health(scope: StaffScope) -> HttpResponseBase:
    """Show how each part of the installation is, and what to do, the worst first."""
    found = health_reads.checks(timezone.now())
    n_bad = sum(check.level != health_reads.Level.GOOD for check in found)
    return scope.render("staff/health.html", {"checks": found, "n_bad": n_bad})


@staff_page
def revenue(scope: StaffScope) -> HttpResponseBase:
    """Show billed and paid amounts by month, fees by plan, and the largest tenants of a year."""
    context = {
        "months": revenue_reads.by_month(),
        "plans": revenue_reads.by_plan(),
        "tenants": revenue_reads.largest(timezone.now() - _YEAR),
    }
    return scope.render("staff/revenue.html", context)


@staff_page
def volumes(scope: StaffScope) -> HttpResponseBase:
    """List the volumes that tenants kept when they deleted a space, those not released first."""
    rows = KeptVolumes.objects.select_related("space__tenant").order_by(
        F("released_at").desc(nulls_first=True), "-created_at", "id"
    )
    return scope.render("staff/volumes.html", {"page": scope.page_of(rows)})


@staff_page
def release_volumes(scope: StaffScope, space: str) -> HttpResponseBase:
    """Ask before the kept volumes of a deleted space are deleted; on POST release them.

    ``space`` is the id.
    """
    kept = KeptVolumes.objects.select_related("space__tenant").filter(space_id=space).first()
    if kept is None:
        raise Missing("No volumes are kept for this space.", code="kept_volumes.missing")
    # By the method: the form has no fields, and an empty POST is false.
    form = ConsoleForm(scope.request.POST if scope.request.method == "POST" else None)
    if form.is_valid() and form.attempted(kept_volumes.release, space_id=space, by=scope.actor):
        messages.success(scope.request, f"The volumes of {kept.space.name} are being deleted.")
        return redirect("console:staff_volumes")
    context = {
        "form": form,
        "question": f"Delete the volumes of {kept.space.name}?",
        "consequence": f"All messages that {kept.space.tenant.name} kept are lost for ever.",
        "verb": "Delete the volumes",
        "back": reverse("console:staff_volumes"),
        "back_label": "Volumes",
    }
    return scope.render("confirm.html", context, form_status(form))


@staff_page
def audit(scope: StaffScope) -> HttpResponseBase:
    """List the audit events of all tenants and of the installation that the filter selects."""
    form = AuditFilterForm(scope.request.GET, is_staff=True)
    page = scope.page_of(audit_reads.find_all(form.wanted(), audit_reads.SEARCHED))
    query = scope.request.GET.copy()
    # The files hold all pages.
    query.pop("page", None)
    context = {
        "form": form,
        "page": page,
        "newest": audit_reads.SEARCHED,
        "events": audit_reads.shown_to_staff(page),
        "query": query.urlencode(),
        "is_filtered": any(form.data.values()),
    }
    return scope.render("staff/audit.html", context, form_status(form))


@staff_page
def audit_export(scope: StaffScope, kind: str) -> HttpResponseBase:
    """Download the audit events of all tenants that the filter selects, as ``csv`` or ``jsonl``.

    Raises:
        Missing: there is no such format.
        Invalid: a value of the filter is not valid, so the file would hold other events.
    """
    return audit_files.of_all(AuditFilterForm(scope.request.GET, is_staff=True), kind)


@staff_page
def search(scope: StaffScope) -> HttpResponseBase:
    """List the tenants, spaces, people, invoices and pages whose name contains ``?q=``."""
    text = search_reads.text_of(scope)
    return search_reads.render(scope, text, search_reads.search_all(scope, text))
