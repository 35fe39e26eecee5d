"""The operator's views of invoices: a list, and each invoice with the actions on it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console import buttons_as_command, invoice_reads
from controlplane.console.access import staff_page
from controlplane.console.forms.base import ConsoleForm, form_status
from controlplane.console.forms.staff import (
    CreditNoteForm,
    PaymentForm,
    ReasonForm,
    VoidForm,
    WriteOffForm,
)
from controlplane.console.scope import StaffScope
from controlplane.console.views.invoices import (
    begin_verification,
    detail_context,
    file_of,
    file_of_note,
)
from plans.invoicing import (
    credit_notes,
    invoice_closing,
    issuing,
    previewing,
    receiving,
    releases,
    releasing,
)
from plans.models import Invoice, Payment
from plans.rating import money

_State = Invoice.State


class NextAction(NamedTuple):
    """One action that an invoice's state allows, as the page shows it.

    ``words`` explains the action. ``url`` gets the POST. ``form`` holds the action's fields; '' if
    it has none. ``is_final``: nobody can undo it.
    """

    label: str
    words: str
    url: str
    form: ConsoleForm | str = ""
    is_final: bool = False


@staff_page
def invoice_list(scope: StaffScope) -> HttpResponseBase:
    """List the invoices of all tenants, held ones first, in pages.

    ``?state=`` restricts the list to one state.
    """
    state = scope.request.GET.get("state", "")
    page = scope.page_of(invoice_reads.everyone(state))
    context = {"page": page, "state": state, "states": invoice_reads.counts()}
    return scope.render("staff/invoices.html", context)


@staff_page
def detail(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Show one invoice of any tenant, why it is held, and the actions that its state allows."""
    return _page(scope, invoice_reads.get(None, invoice))


@staff_page
def file(scope: StaffScope, invoice: str, kind: str) -> HttpResponseBase:
    """Download an invoice of any tenant in the format ``kind``, one of ``plans.invoice_formats``.

    Answers 404 if the format is unknown or the invoice has no document yet.
    """
    return file_of(invoice_reads.get(None, invoice), kind)


@staff_page
def note_list(scope: StaffScope) -> HttpResponseBase:
    """List the credit notes of all tenants, the newest first, in pages."""
    page = scope.page_of(invoice_reads.every_credit_note())
    return scope.render("staff/credit_notes.html", {"page": page})


@staff_page
def note_file(scope: StaffScope, credit_note: str, suffix: str) -> HttpResponseBase:
    """Download a credit note of any tenant in a format of credit notes; 404 if there is none."""
    return file_of_note(invoice_reads.get_credit_note(None, credit_note), suffix)


@require_POST
@staff_page
def verify_note(scope: StaffScope, credit_note: str) -> HttpResponseBase:
    """Compute a credit note of any tenant again, and say on the invoice's page what differs."""
    note = invoice_reads.get_credit_note(None, credit_note)
    found = credit_notes.verify(note)
    if found.same:
        messages.success(
            scope.request, f"{note.number}: document, amounts and ledger are the same."
        )
    else:
        messages.error(scope.request, f"{note.number} differs. {'; '.join(found.differences)}")
    return redirect("console:staff_invoice", note.invoice_id)


@require_POST
@staff_page
def verify(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Request a verification, as a member of the tenant can; POST only.

    With the field ``files``, whole files are checked too. The invoice's page shows the result.
    """
    row = invoice_reads.get(None, invoice)
    begin_verification(scope, row)
    return redirect("console:staff_invoice", row.id)


@require_POST
@staff_page
def close_again(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Request that the invoice's period is closed again, without the grace period; POST only."""
    row = invoice_reads.get(None, invoice)
    invoice_closing.request_close(
        tenant=row.tenant,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        by=scope.actor,
        now_forced=True,
    )
    return _done(scope, row, "The period is being closed again. Reload the page in a minute.")


@require_POST
@staff_page
def release(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Accept that samples of a held invoice are gone for good, and close it again; POST only."""
    row = invoice_reads.get(None, invoice)
    form = ReasonForm(scope.request.POST)
    if form.is_valid() and form.attempted(
        releasing.release, invoice=row, by=scope.actor, reason=form.cleaned_data["reason"]
    ):
        return _done(scope, row, "Released. The period is being closed again.")
    return _page(scope, row, form)


@require_POST
@staff_page
def approve(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Approve a draft invoice, with a reason for the audit log; POST only.

    On an error the invoice's page is shown with the message.
    """
    row = invoice_reads.get(None, invoice)
    form = ReasonForm(scope.request.POST)
    if form.is_valid() and form.attempted(
        issuing.approve, invoice=row, by=scope.actor, reason=form.cleaned_data["reason"]
    ):
        return _done(scope, row, "Approved. Issue it to assign its number.")
    return _page(scope, row, form)


@require_POST
@staff_page
def issue(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Issue an approved invoice: number it, post it to the ledger and make its document final.

    POST only. It cannot be undone.
    """
    row = invoice_reads.get(None, invoice)
    # Without a form: ``staff_page`` shows an error as a page of its own.
    issued = issuing.issue(invoice=row, by=scope.actor)
    return _done(scope, row, f"Issued as {issued.number}.")


@require_POST
@staff_page
def pay(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Record a payment that was received for an issued invoice; POST only.

    On an error the invoice's page is shown with the message.
    """
    row = invoice_reads.get(None, invoice)
    form = PaymentForm(scope.request.POST, invoice=row, due_minor=receiving.outstanding_minor(row))
    if form.is_valid() and form.attempted(
        receiving.receive,
        invoice=row,
        payment=Payment(
            amount_minor=form.cleaned_data["amount"],
            source="manual",  # together with the reference, this identifies the payment
            reference=form.cleaned_data["reference"],
            received_on=form.cleaned_data["received_on"],
        ),
        by=scope.actor,
        surplus_to_credit=form.cleaned_data["surplus"],
    ):
        return _done(scope, row, "The payment is recorded.")
    return _page(scope, row, form)


@require_POST
@staff_page
def credit(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Issue a credit note for a part of one line; POST only."""
    row = invoice_reads.get(None, invoice)
    form = CreditNoteForm(scope.request.POST, invoice=row)
    if form.is_valid() and form.attempted(
        credit_notes.issue,
        invoice=row,
        wanted={form.cleaned_data["position"]: form.cleaned_data["amount"]},
        reason=form.cleaned_data["reason"],
        by=scope.actor,
    ):
        return _done(scope, row, "The credit note is issued.")
    return _page(scope, row, form)


@require_POST
@staff_page
def void(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Take back all that is left of an invoice by a credit note; POST only."""
    row = invoice_reads.get(None, invoice)
    form = VoidForm(scope.request.POST)
    if form.is_valid() and form.attempted(
        credit_notes.void, invoice=row, reason=form.cleaned_data["reason"], by=scope.actor
    ):
        return _done(scope, row, "The invoice is voided by a credit note.")
    return _page(scope, row, form)


@require_POST
@staff_page
def write_off(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Write an overdue invoice off to bad debt; POST only."""
    row = invoice_reads.get(None, invoice)
    form = WriteOffForm(scope.request.POST)
    if form.is_valid() and form.attempted(
        issuing.write_off, invoice=row, reason=form.cleaned_data["reason"], by=scope.actor
    ):
        return _done(scope, row, "The invoice is written off.")
    return _page(scope, row, form)


def _page(scope: StaffScope, row: Invoice, form: ConsoleForm | None = None) -> HttpResponseBase:
    context = {
        **detail_context(
            row,
            lambda page, *args: reverse(f"console:staff_{page}", args=[row.pk, *args]),
            lambda *args: reverse("console:staff_credit_note_file", args=args),
        ),
        "staff": True,
        "back": reverse("console:staff_invoices"),
        "verify_command": "waypost staff invoices verify",
        "buttons": buttons_as_command.verify_invoice_staff(row.pk),
        "actions": _next_actions(row, form),
    }
    return scope.render("staff/invoice.html", context, form_status(form))


def _done(scope: StaffScope, row: Invoice, text: str) -> HttpResponseBase:
    messages.success(scope.request, text)
    return redirect("console:staff_invoice", row.id)


def _next_actions(row: Invoice, form: ConsoleForm | None) -> list[NextAction]:
    """Return the actions that the invoice's state allows; [] if it allows none.

    ``form`` is the submitted form that was refused, or None. The action with this form's class
    shows it; if the state allows no such action any more, the form is dropped.
    """
    again = NextAction(
        "Close again", "Collects the samples again, recomputes and compares.", _url("close", row)
    )
    # Functions, so that only the forms of this state are built: a payment form needs the invoice's
    # currency, and an invoice without a document has none.
    offered: dict[str, Callable[[], list[NextAction]]] = {
        _State.HELD: lambda: [again, *_release(row, form)],
        _State.DRAFT: lambda: [_approval(row, form), again],
        _State.APPROVED: lambda: [_issue(row)],
        **dict.fromkeys(
            [_State.ISSUED, _State.PARTLY_PAID],
            lambda: [*_payment(row, form), *_taking_back(row, form)],
        ),
        _State.OVERDUE: lambda: [
            *_payment(row, form),
            *_taking_back(row, form),
            _writing_off(row, form),
        ],
        _State.PAID: lambda: _taking_back(row, form),
    }
    # Other states allow nothing: the period is still open, a worker closes or issues the invoice,
    # or it is voided or written off.
    actions = offered.get(row.state, list)()
    for n, action in enumerate(actions):
        if isinstance(action.form, ConsoleForm):
            # Several forms of the page have a field of one name, and an id must be unique.
            action.form.auto_id = f"id_{n}_%s"
    return actions


def _release(row: Invoice, form: ConsoleForm | None) -> list[NextAction]:
    if not releases.releasable(row.held_reasons):
        return []
    return [
        NextAction(
            "Release",
            "Only if the missing samples are gone for good: bills what was seen, and closes the "
            "invoice again. The invoice states your reason.",
            _url("release", row),
            form if isinstance(form, ReasonForm) else ReasonForm(),
        )
    ]


def _approval(row: Invoice, form: ConsoleForm | None) -> NextAction:
    return NextAction(
        "Approve",
        "Close validation found no problem. Read the invoice before you approve it. "
        + _payable_words(row),
        _url("approve", row),
        form if isinstance(form, ReasonForm) else ReasonForm(),
    )


def _issue(row: Invoice) -> NextAction:
    return NextAction(
        "Issue",
        "Assigns the next number and posts it to the ledger. Its content never changes afterwards. "
        + _payable_words(row),
        _url("issue", row),
    )


def _payable_words(row: Invoice) -> str:
    """Say what is to pay if the invoice is issued now; credit is used at the issue only."""
    if row.total_minor <= 0:
        return "Nothing is to be paid."
    has = previewing.credit_minor(row.tenant_id, row.legal_entity, row.currency, timezone.now())
    used = min(has, row.total_minor)
    if not used:
        return "The tenant has no credit that could pay it."
    paid, left = (money.display(n, row.currency) for n in (used, row.total_minor - used))
    return f"Issued now, credit pays {paid} of it, and {left} are left to pay."


def _payment(row: Invoice, form: ConsoleForm | None) -> list[NextAction]:
    due = receiving.outstanding_minor(row)
    if not due:
        return []
    refused = form if isinstance(form, PaymentForm) else None
    return [
        NextAction(
            "Record payment",
            "Records money received for this invoice.",
            _url("pay", row),
            refused or PaymentForm(invoice=row, due_minor=due),
        )
    ]


def _taking_back(row: Invoice, form: ConsoleForm | None) -> list[NextAction]:
    if row.total_minor <= 0:
        return []
    refused = form if isinstance(form, CreditNoteForm) else None
    part = NextAction(
        "Issue a credit note",
        "Takes back a part of a line, with its tax. What was paid already becomes credit.",
        _url("credit", row),
        refused or CreditNoteForm(invoice=row),
    )
    whole = NextAction(
        "Void",
        "Takes back all that is left by a credit note. It cannot be undone.",
        _url("void", row),
        form if isinstance(form, VoidForm) else VoidForm(),
        is_final=True,
    )
    return [part, whole] if row.net_minor > 0 else [whole]


def _writing_off(row: Invoice, form: ConsoleForm | None) -> NextAction:
    return NextAction(
        "Write off",
        "Books what is due to bad debt. It cannot be undone.",
        _url("write_off", row),
        form if isinstance(form, WriteOffForm) else WriteOffForm(),
        is_final=True,
    )


def _url(name: str, row: Invoice) -> Any:
    return reverse(f"console:staff_invoice_{name}", args=[row.id])
