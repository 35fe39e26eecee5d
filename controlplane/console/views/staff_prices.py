"""The operator's pages about prices: drafts of catalogs, their publication, and back-tests."""

from decimal import Decimal

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console.access import staff_page
from controlplane.console.charts import Bar, BarChart
from controlplane.console.forms.base import ConsoleForm, form_status
from controlplane.console.forms.prices import BackTestForm, CancelForm, CatalogForm, PublishForm
from controlplane.console.scope import StaffScope
from plans.invoicing import back_testing
from plans.models import BackTest, CatalogDraft, CatalogVersion
from tenants.actions import catalog_drafts

_SHOWN = 20  # versions and drafts on the page
_CANCEL_ID = "cancel_%s"  # both forms of a draft have a field ``sure``
_NO_MONTH = "Done. No tenant has a month that has ended."


@staff_page
def page(scope: StaffScope) -> HttpResponseBase:
    """Show the catalog as a form, what is scheduled, drafts and versions; on POST store a draft."""
    if scope.request.method == "POST":
        form = CatalogForm(scope.request.POST, scope.request.FILES)
    else:
        form = CatalogForm(initial={"yaml": catalog_drafts.text_in_force()})
    if form.is_valid():
        made = form.attempt(catalog_drafts.prepare, **form.cleaned_data, by=scope.actor)
        if made is not None:
            return redirect("console:staff_draft", made.pk)
    # Each draft holds a whole catalog twice, and the list shows none of it.
    drafts = CatalogDraft.objects.select_related("version").defer("yaml", "document")
    context = {
        "form": form,
        "scheduled": catalog_drafts.scheduled(),
        "drafts": drafts.defer("yaml", "document", "version__document").order_by("-created_at")[
            :_SHOWN
        ],
        "versions": CatalogVersion.objects.defer("document").order_by("-number")[:_SHOWN],
    }
    return scope.render("staff/prices.html", context, form_status(form))


@staff_page
def draft(scope: StaffScope, draft: str) -> HttpResponseBase:
    """Show what a draft changes, in words and in money, and the actions that its state allows."""
    return _draft_page(scope, catalog_drafts.get(draft))


@require_POST
@staff_page
def publish(scope: StaffScope, draft: str) -> HttpResponseBase:
    """Publish or schedule a draft; POST only."""
    row, form = catalog_drafts.get(draft), PublishForm(scope.request.POST)
    if form.is_valid():
        done = form.attempt(
            catalog_drafts.publish,
            draft=row,
            timing=form.timing(),
            by=scope.actor,
            now=timezone.now(),
        )
        if done is not None:
            is_published = done.state == CatalogDraft.State.PUBLISHED
            messages.success(
                scope.request,
                "The catalog is published." if is_published else "The catalog is scheduled.",
            )
            return redirect("console:staff_draft", row.pk)
    return _draft_page(scope, row, form)


@require_POST
@staff_page
def cancel(scope: StaffScope, draft: str) -> HttpResponseBase:
    """Cancel a draft that is not published; POST only."""
    row, form = catalog_drafts.get(draft), CancelForm(scope.request.POST, auto_id=_CANCEL_ID)
    # The page of a draft that is over has no form: then ``cancel`` says why.
    if row.is_ahead and not form.is_valid():
        return _draft_page(scope, row, form)
    row = catalog_drafts.cancel(draft=row, by=scope.actor)
    messages.success(scope.request, "The draft is canceled.")
    return redirect("console:staff_draft", row.pk)


@require_POST
@staff_page
def request_back_test(scope: StaffScope, draft: str) -> HttpResponseBase:
    """Request a back-test of a draft and show its progress; POST only."""
    row, form = catalog_drafts.get(draft), BackTestForm(scope.request.POST)
    if form.is_valid():
        made = back_testing.request(
            draft=row,
            months=form.cleaned_data["months"],
            source=BackTest.Source(form.cleaned_data["source"]),
            by=scope.actor,
            now=timezone.now(),
        )
        return redirect("console:staff_back_test", made.pk)
    return _draft_page(scope, row, form)


@staff_page
def back_test(scope: StaffScope, back_test: str) -> HttpResponseBase:
    """Show a back-test: progress, revenue, winners and losers, the distribution of changes."""
    row = back_testing.get(back_test)
    bars = [Bar(f"{label} %", Decimal(n), label) for label, n in back_testing.distribution(row)]
    title = "Months by change of their amount in percent"
    context = {
        "test": row,
        "draft": row.draft,
        "sums": back_testing.summary(row),
        "plans": back_testing.by_plan(row),
        "chart": BarChart("changes", title, "months", bars),
        "page": scope.page_of(back_testing.ranked(row)),
        "nothing": _nothing(row),
        "polls": row.state == BackTest.State.RUNNING,
    }
    return scope.render("staff/back_test.html", context)


@staff_page
def back_test_csv(scope: StaffScope, back_test: str) -> HttpResponseBase:
    """Download the months of a back-test as CSV."""
    row = back_testing.get(back_test)
    name = f'attachment; filename="{row.pk}.csv"'
    return HttpResponse(
        back_testing.months_csv(row),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": name},
    )


def _nothing(test: BackTest) -> str:
    """Return why a back-test has rated no month, if it has none."""
    if test.state == BackTest.State.SUCCEEDED:
        # Tenants that lack a price are listed above the months.
        return "Done. No month could be rated." if test.held else _NO_MONTH
    return "No month is rated yet."


def _draft_page(
    scope: StaffScope, row: CatalogDraft, form: ConsoleForm | None = None
) -> HttpResponseBase:
    """Show a draft; ``form`` is the submitted form that was refused, if any."""
    tests = list(row.back_tests.order_by("-created_at")[:_SHOWN])
    newest = next((test for test in tests if test.state == BackTest.State.SUCCEEDED), None)
    is_open = row.state == CatalogDraft.State.DRAFT
    is_ahead = row.is_ahead
    context = {
        "draft": row,
        "differences": catalog_drafts.changes(row),
        "tests": tests,
        "newest": newest,
        "nothing": _nothing(newest) if newest else "",
        "plans": back_testing.by_plan(newest) if newest else [],
        "sums": back_testing.summary(newest) if newest else [],
        "publish_form": (form if isinstance(form, PublishForm) else PublishForm())
        if is_open
        else None,
        "test_form": form if isinstance(form, BackTestForm) else BackTestForm(),
        "is_ahead": is_ahead,
        "cancel_form": form if isinstance(form, CancelForm) else CancelForm(auto_id=_CANCEL_ID),
        "other_scheduled": catalog_drafts.scheduled() if is_open else None,
        "audiences": catalog_drafts.audiences(row) if is_ahead else [],
    }
    return scope.render("staff/draft.html", context, form_status(form))
