"""The operator's views of close runs: start one, watch it, approve and issue what it drafted."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from controlplane.console import invoice_reads
from controlplane.console.access import staff_page
from controlplane.console.forms.base import ConsoleForm, form_status
from controlplane.console.forms.staff import CloseRunForm, OptionalReasonForm
from controlplane.console.scope import StaffScope
from plans.invoicing import close_run_reads, close_runs
from plans.models import CloseRun, CloseRunAction, Invoice

_Kind = CloseRunAction.Kind
# The steps of a run in their order, as the page calls them.
_STEPS = (
    (CloseRun.Step.REQUEST, "Find due periods"),
    (CloseRun.Step.SAMPLES, "Take last samples"),
    (CloseRun.Step.LANDING, "Land them"),
    (CloseRun.Step.PIPELINE, "Compute usage"),
    (CloseRun.Step.RECOMPUTATION, "Recompute it"),
    (CloseRun.Step.RATING, "Price it"),
)


@staff_page
def run_list(scope: StaffScope) -> HttpResponseBase:
    """List the close runs, newest first."""
    return scope.render("staff/close_runs.html", {"page": scope.page_of(close_run_reads.newest())})


@staff_page
def start(scope: StaffScope) -> HttpResponseBase:
    """Ask what to close; on POST begin a run."""
    form = CloseRunForm(scope.request.POST if scope.request.method == "POST" else None)
    if form.is_valid():
        chosen = form.cleaned_data["what"]
        if form.attempted(
            close_runs.start,
            by=scope.actor,
            skip_grace=chosen == CloseRunForm.OVER,
            again=chosen == CloseRunForm.HELD,
        ):
            messages.success(scope.request, "The run begins.")
            newest = close_run_reads.newest().first()
            assert newest is not None  # it was just created
            return redirect("console:staff_close_run", newest.id)
    back = reverse("console:staff_close_runs")
    context = {"form": form, "back": back}
    return scope.render("staff/close_run_start.html", context, form_status(form))


@staff_page
def detail(scope: StaffScope, run: str) -> HttpResponseBase:
    """Show how far a run is, its totals, why invoices are held, and its invoices in pages.

    ``?reason=`` shows the held invoices with one reason, ``?state=`` those in one state.
    """
    row = close_runs.get(run)
    reading = close_run_reads.read(row)
    state, reason = (scope.request.GET.get(name, "") for name in ("state", "reason"))
    rows = close_run_reads.invoices(row, state=state, reason=reason)
    steps = [step for step, _ in _STEPS]
    # -1: the run has not begun its first step.
    at = steps.index(CloseRun.Step(row.step)) if row.step else -1
    action = reading.action
    context = {
        "run": row,
        "reading": reading,
        "steps": [
            (title, n < at or bool(row.finished_at), n == at and not row.finished_at)
            for n, (_, title) in enumerate(_STEPS)
        ],
        "is_live": row.finished_at is None or (action is not None and action.finished_at is None),
        "page": scope.page_of(rows),
        "state": state,
        "reason": reason,
        "states": invoice_reads.in_order(reading.states),
        "n_drafts": reading.states.get(Invoice.State.DRAFT, 0),
        "n_approved": reading.states.get(Invoice.State.APPROVED, 0),
        "acts": action is not None and action.finished_at is None,
    }
    return scope.render("staff/close_run.html", context)


@staff_page
def approve(scope: StaffScope, run: str) -> HttpResponseBase:
    """Ask whether to approve all drafts of a run; on POST begin to approve them."""
    return _act(scope, run, _Kind.APPROVE)


@staff_page
def issue(scope: StaffScope, run: str) -> HttpResponseBase:
    """Ask whether to issue all approved invoices of a run; on POST begin to issue them."""
    return _act(scope, run, _Kind.ISSUE)


_ASKED = {
    _Kind.APPROVE: (
        "Approve all drafts of this run?",
        "Close validation found no problem in them. Held invoices stay as they are.",
        "Approve all",
        Invoice.State.DRAFT,
    ),
    _Kind.ISSUE: (
        "Issue all approved invoices of this run?",
        "Each gets the next number and is posted to the ledger. It cannot be undone.",
        "Issue all",
        Invoice.State.APPROVED,
    ),
}


def _act(scope: StaffScope, run: str, kind: CloseRunAction.Kind) -> HttpResponseBase:
    row = close_runs.get(run)
    has_reason = kind is _Kind.APPROVE
    given = scope.request.POST if scope.request.method == "POST" else None
    form = OptionalReasonForm(given) if has_reason else ConsoleForm(given)
    reason = form.cleaned_data.get("reason", "") if form.is_valid() else ""
    if form.is_valid() and form.attempted(
        close_runs.act, run=row, kind=kind, by=scope.actor, reason=reason
    ):
        return redirect("console:staff_close_run", row.id)
    question, consequence, verb, state = _ASKED[kind]
    n_invoices = close_run_reads.invoices(row, state=state).count()
    context = {
        "form": form,
        "question": question,
        "consequence": f"{n_invoices} invoice{'' if n_invoices == 1 else 's'}. {consequence}",
        "verb": verb,
        "back": reverse("console:staff_close_run", args=[row.id]),
        "back_label": "Close run",
    }
    return scope.render("confirm.html", context, form_status(form))
