"""The operator's pages of a tenant's credit, discounts, commitments, seller and tax; of coupons.

Each page has several forms. The hidden field ``step`` of a POST names the form that was sent.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from controlplane.console import credit_reads
from controlplane.console.access import staff_page
from controlplane.console.forms import staff_terms as forms
from controlplane.console.forms.base import ConsoleForm, form_status
from controlplane.console.scope import StaffScope
from controlplane.core.audit import Actor
from plans.catalog import publishing, selling
from plans.invoicing import discounting, ending, granting
from plans.ledger import movements
from plans.models import Coupon, TaxExemption
from plans.rating import money
from tenants import queries
from tenants.actions import sellers, tax_details
from tenants.models import Tenant


@dataclass(frozen=True)
class Step:
    """One thing that a page does: its form, the action, and what the page says afterwards.

    ``run`` gets the cleaned form and returns the result of the action.
    """

    name: str
    title: str
    words: str
    verb: str
    done: str
    form: Callable[..., ConsoleForm]
    run: Callable[[Any], object]
    arguments: Mapping[str, Any]

    def bound(self, data: Any) -> ConsoleForm:
        """Return the form, with ``data`` if it was sent; its ids are unique on the page."""
        sent = data if data is not None and data.get("step") == self.name else None
        return self.form(sent, auto_id=f"{self.name}_%s", **self.arguments)


def taken(scope: StaffScope, steps: Sequence[Step]) -> tuple[bool, list[dict[str, Any]], int]:
    """Run the step whose form was sent; return (whether it was done, forms to show, status)."""
    data = scope.request.POST if scope.request.method == "POST" else None
    shown = [(step, step.bound(data)) for step in steps]
    for step, form in shown:
        if form.is_bound and form.is_valid() and form.attempted(step.run, form=form):
            messages.success(scope.request, step.done)
            return True, [], 200
    cards = [{"step": step, "form": form} for step, form in shown]
    return False, cards, form_status(*(form for _, form in shown))


@staff_page
def terms(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Show a tenant's credit, discounts, commitments and trial; on POST give or end one."""
    row, now = queries.get_tenant(tenant), timezone.now()
    done, cards, status = taken(scope, _steps_of_terms(scope, row, now))
    if done:
        return redirect("console:staff_terms", row.slug)
    context = {
        **credit_reads.credit(row, now),
        "row": row,
        "discounts": credit_reads.discounts(row),
        "commitments": credit_reads.commitments(row),
        "terms_zone": row.billing_time_zone,
        "page": scope.page_of(movements.of_tenant(row.pk).order_by("-pk")),
        "cards": cards,
    }
    return scope.render("staff/terms.html", context, status)


def _steps_of_terms(scope: StaffScope, row: Tenant, now: datetime) -> list[Step]:
    return [*_begins(scope, row, now), *_ends(scope, row, now)]


def _begins(scope: StaffScope, row: Tenant, now: datetime) -> list[Step]:
    by, money_in = scope.actor, {"currency": selling.currency_of(row.pk)}
    return [
        Step(
            "grant", "Grant credit",
            "It pays the next invoices. Promotional credit is used first, prepaid credit last.",
            "Grant", "The credit is granted.", forms.GrantForm,
            lambda form: granting.grant(tenant=row, wish=form.wish(), by=by), money_in,
        ),
        Step(
            "discount", "Give a discount", "It begins with the running billing month.", "Give",
            "The discount is given.", forms.ReductionForm,
            lambda form: discounting.give(
                tenant=row, reduction=form.reduction(), by=by, reason=form.cleaned_data["reason"],
            ), money_in,
        ),
        Step(
            "commit", "Agree on a minimum",
            "It begins with the running billing month, which counts from its first day even if the "
            "tenant's plan began later.", "Agree", "The commitment is agreed.",
            forms.CommitmentForm,
            lambda form: discounting.commit(
                tenant=row, title=form.cleaned_data["title"],
                minimum_minor=form.cleaned_data["amount"], reason=form.cleaned_data["reason"],
                span=form.span(row.billing_time_zone, now), by=by,
            ), money_in,
        ),
    ]  # fmt: skip


def _ends(scope: StaffScope, row: Tenant, now: datetime) -> list[Step]:
    by, steps = scope.actor, list[Step]()
    running = [one for one in credit_reads.discounts(row) if not one.ends_at or one.ends_at > now]
    agreed = [one for one in credit_reads.commitments(row) if not one.ends_at or one.ends_at > now]
    steps.extend(_pay_back(row, now, by))
    if running:
        steps.append(Step(
            "end_discount", "End a discount",
            "It ends with the running billing month, or before it if no invoice was priced with "
            "it.", "End it", "The discount ends.", forms.EndDiscountForm,
            lambda form: ending.end_discount(
                tenant=row, discount_id=form.cleaned_data["discount"],
                at_once=form.cleaned_data["at_once"], reason=form.cleaned_data["reason"], by=by,
            ), {"discounts": running},
        ))  # fmt: skip
    if agreed:
        steps.append(Step(
            "end_commitment", "End a commitment",
            "The month of its end counts by its seconds. It cannot end before an invoice that was "
            "priced with it.", "End it", "The commitment ends.", forms.EndCommitmentForm,
            lambda form: ending.end_commitment(
                tenant=row, commitment_id=form.cleaned_data["commitment"],
                ends_at=form.ends_at(row.billing_time_zone), reason=form.cleaned_data["reason"],
                by=by,
            ), {"commitments": agreed},
        ))  # fmt: skip
    return steps


def _pay_back(row: Tenant, now: datetime, by: Actor) -> Iterator[Step]:
    """Yield a form for each currency in which the tenant has prepaid credit left."""
    found = credit_reads.returnable(row, now)
    for currency in sorted({one.grant.currency for one in found}):
        credits = [
            (one.grant.pk, f"{one.grant.reference}: {money.display(one.left_minor, currency)}")
            for one in found
            if one.grant.currency == currency
        ]
        yield Step(
            f"pay_back_{currency}", f"Pay prepaid credit in {currency} back",
            "Waypost books it and sends no money: make the bank transfer yourself.", "Book it",
            "The credit is booked as paid back.", forms.PayBackForm,
            lambda form: granting.pay_back(
                tenant=row, grant_id=form.cleaned_data["credit"], wish=form.wish(), by=by,
            ), {"currency": currency, "credits": credits},
        )  # fmt: skip


@staff_page
def tax(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Show from which seller a tenant buys, and what decides its tax; on POST change it."""
    row = queries.get_tenant(tenant)
    done, cards, status = taken(scope, _steps_of_tax(scope, row))
    if done:
        return redirect("console:staff_tax", row.slug)
    offer = selling.of_tenant(row.pk)
    context = {
        **credit_reads.tax(row),
        "row": row,
        "offer": offer,
        "tax_words": credit_reads.tax_words(offer.seller),
        "cards": cards,
    }
    return scope.render("staff/tax.html", context, status)


def _steps_of_tax(scope: StaffScope, row: Tenant) -> list[Step]:
    by, offers = scope.actor, selling.offers()
    answer = credit_reads.answer_words(selling.of_tenant(row.pk).seller)
    kept = list(TaxExemption.objects.filter(tenant=row).order_by("-starts_on", "-pk"))
    steps = [
        Step(
            "exempt", "Set an exemption",
            "Invoices that are closed from now on charge no tax if their last day is in its time, "
            "and print text and number.", "Set it", "The exemption is set.", forms.ExemptionForm,
            lambda form: tax_details.set_exemption(tenant=row, wanted=form.wanted(), by=by), {},
        )
    ]  # fmt: skip
    if kept:
        steps.append(Step(
            "end_exemption", "End an exemption",
            "The day before its first one: it never counts. Issued invoices do not change.",
            "End it", "The exemption ends.", forms.EndExemptionForm,
            lambda form: tax_details.end_exemption(
                tenant=row, exemption_id=form.cleaned_data["exemption"],
                ends_on=form.cleaned_data["ends_on"], reason=form.cleaned_data["reason"], by=by,
            ), {"exemptions": kept},
        ))  # fmt: skip
    if row.tax_id:
        steps.append(Step(
            "answer", "Record what the register says",
            f"Ask the register of VAT ids (VIES) and record its answer. {answer}",
            "Record", "The answer is recorded.", forms.RegisterAnswerForm,
            lambda form: tax_details.record_answer(tenant=row, by=by, **form.cleaned_data), {},
        ))  # fmt: skip
    if len(offers) > 1:
        steps.append(Step(
            "seller", "Change the seller",
            "Possible until the first invoice is priced.", "Change it", "The seller is changed.",
            forms.SellerForm,
            lambda form: sellers.change(
                tenant=row, wanted=form.wanted(), reason=form.cleaned_data["reason"], by=by
            ), {"offers": offers, "present": selling.of_tenant(row.pk)},
        ))  # fmt: skip
    return steps


@staff_page
def coupons(scope: StaffScope) -> HttpResponseBase:
    """List the coupons, and how many tenants redeemed each; on POST create or end one."""
    by, now = scope.actor, timezone.now()
    rows = Coupon.objects.annotate(n_redeemed=Count("redemptions")).order_by("-created_at", "-pk")
    codes = [row.code for row in rows if row.expires_at is None or row.expires_at > now]
    steps = [
        Step(
            "create", "Create a coupon", "Each tenant can redeem it once.", "Create it",
            "The coupon is created.", forms.CouponCreateForm,
            lambda form: discounting.create_coupon(
                code=form.cleaned_data["code"], reduction=form.reduction(), use=form.use(), by=by,
                reason=form.cleaned_data["reason"],
            ), {"currencies": publishing.current().currencies},
        )
    ]  # fmt: skip
    if codes:
        steps.append(Step(
            "end", "End a coupon", "Nobody can redeem it any more. Discounts that it gave go on.",
            "End it", "The coupon has ended.", forms.EndCouponForm,
            lambda form: ending.end_coupon(**form.cleaned_data, by=by), {"codes": codes},
        ))  # fmt: skip
    done, cards, status = taken(scope, steps)
    if done:
        return redirect("console:staff_coupons")
    context = {"page": scope.page_of(rows), "cards": cards, "now": now}
    return scope.render("staff/coupons.html", context, status)
