"""`waypost credit` and `waypost staff credit`: discounts, coupons, credit and credit notes."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from controlplane.cli import calls, listing, login_store, output, slow, tokens
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import benefits, coupons, credit_movements, credit_notes, staff
from controlplane.core.errors import Invalid
from controlplane.rest_client import Json
from plans.invoice_formats import CREDIT_NOTE_FORMATS, INFO, InvoiceFormat, format_of
from plans.rating import money

app = typer.Typer(no_args_is_help=True, help="Discounts, coupons, credit and credit notes.")
staff_app = typer.Typer(no_args_is_help=True, help="Discounts, coupons and credit of tenants.")
_SUFFIXES = ", ".join(f".{kind}" for kind in CREDIT_NOTE_FORMATS)
NoteFile = Annotated[
    Path, typer.Option("--to", help=f"Where to write it; its suffix is one of {_SUFFIXES}.")
]
Slug = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant's short name.")]
# A text: a float cannot hold every percentage of twelve decimal places.
Percent = Annotated[str, typer.Option(help="How much cheaper, such as 12.5.")]
Amount = Annotated[int, typer.Option(help="Or an amount a month, in minor units.")]
Months = Annotated[int, typer.Option(help="Billing months, the running one included; 0: all.")]
Meters = Annotated[
    list[str] | None, typer.Option("--meter", help="Only lines of this meter; repeat it.")
]

Reason = Annotated[str, typer.Option(help="Why, for the audit log.")]
Expires = Annotated[str, typer.Option(help="When it ends: 30d, a date or a time; never.")]
_MOVEMENTS = ["booked_at", "text", "kind", "change_minor", "after_minor", "legal_entity"]


@dataclass(frozen=True)
class CouponUse:
    """Who may redeem a coupon."""

    currency: Annotated[str, typer.Option(help="Of the amount; default: the main one.")] = ""
    limit: Annotated[int, typer.Option(help="How many tenants may redeem it; 0: any.")] = 0
    expires: Expires = "never"


@dataclass(frozen=True)
class GrantNotes:
    """What is recorded with granted credit."""

    reference: Annotated[str, typer.Option(help="Identifies it: a reference counts once.")]
    reason: Reason
    expires: Expires = "never"


@dataclass(frozen=True)
class Cheaper:
    """How much cheaper a month gets, and why."""

    reason: Reason
    percent: Percent = ""
    amount: Amount = 0
    months: Months = 0


@app.command()
def show(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show the tenant's discounts, commitments and credit."""
    api, tenant = login_store.connect(tenant)
    answer = benefits.get_discounts_and_credit.sync_detailed(tenant, client=api.client)
    _show(calls.body(api, answer), form)


@app.command()
def redeem(code: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Redeem a coupon; its discount begins with the running billing month."""
    api, tenant = login_store.connect(tenant)
    answer = coupons.redeem_coupon.sync_detailed(
        tenant,
        client=api.client,
        body=models.RedeemRequest(code=code),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@app.command()
@slow.change
def notes(*, how: listing.TenantRows) -> None:
    """List the tenant's credit notes, the newest first."""
    columns = ["number", "invoice", "issued_at", "total_minor", "reason"]
    listing.show(how, calls.tenant_list(credit_notes.list_credit_notes.sync_detailed), columns)


@app.command()
def download(number: str, file: NoteFile, tenant: Tenant = None) -> None:
    """Write a credit note to a file: as PDF, Factur-X, UBL, CII or JSON."""
    kind = kind_of_note(file)
    api, tenant = login_store.connect(tenant)
    operation: Any = getattr(credit_notes, INFO[kind].note_operation)
    answer = operation.sync_detailed(tenant, calls.named(number), client=api.client)
    file.write_bytes(answer.content)
    output.say(f"wrote {file}")


def kind_of_note(file: Path) -> InvoiceFormat:
    """Return the format of credit notes that the suffix of ``file`` names.

    Raises:
        Invalid: ``credit_note.format``: the suffix is no format of credit notes.
    """
    kind = format_of(file.name)
    if kind not in CREDIT_NOTE_FORMATS:
        raise Invalid(
            f"The name {file} does not end with a format of credit notes: end it with one of "
            f"{_SUFFIXES}.",
            code="credit_note.format",
        )
    return kind


@app.command("movements")
@slow.change
def list_movements(*, how: listing.TenantRows) -> None:
    """List each grant, use and end of the tenant's credit, the newest first."""
    read = calls.tenant_list(credit_movements.list_credit_movements.sync_detailed)
    listing.show(how, read, _MOVEMENTS)


@staff_app.command("movements")
@slow.change
def list_movements_of_tenant(slug: Slug, *, how: listing.Rows) -> None:
    """List each grant, use and end of a tenant's credit, the newest first."""
    page = partial(staff.list_credit_movements_tenant.sync_detailed, calls.named(slug))
    listing.show_shared(how, calls.shared_list(page), _MOVEMENTS)


@staff_app.command("show")
def show_of_tenant(slug: Slug, form: Output = Format.TABLE) -> None:
    """Show the discounts, commitments and credit of a tenant."""
    api = login_store.connect_staff()
    answer = staff.get_discounts_and_credit_tenant.sync_detailed(
        calls.named(slug), client=api.client
    )
    _show(calls.body(api, answer), form)


@staff_app.command()
@slow.change
def grant(
    slug: Slug,
    kind: Annotated[str, typer.Argument(help="`prepaid` or `promotional`.")],
    amount: Annotated[int, typer.Argument(min=1, help="In minor units, such as cents.")],
    form: Output = Format.TABLE,
    *,
    notes: Annotated[Any, GrantNotes],
) -> None:
    """Grant credit to a tenant, which its next invoices use."""
    body = {
        "kind": kind,
        "amount_minor": amount,
        "reference": notes.reference,
        "reason": notes.reason,
        "expires_at": tokens.expiry(notes.expires),
    }
    api = login_store.connect_staff()
    answer = staff.grant_credit.sync_detailed(
        calls.named(slug),
        client=api.client,
        body=models.CreditCreateRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@staff_app.command()
@slow.change
def pay_back(
    slug: Slug,
    credit: Annotated[str, typer.Argument(help="Its id, as `show -o json` prints it.")],
    amount: Annotated[int, typer.Argument(min=1, help="In minor units, such as cents.")],
    reference: Annotated[
        str, typer.Option(help="That of your bank transfer; it counts once for a credit.")
    ],
    reason: Reason,
    form: Output = Format.TABLE,
) -> None:
    """Book that prepaid credit goes back to the tenant; make the bank transfer yourself."""
    api = login_store.connect_staff()
    answer = staff.pay_prepaid_credit_back.sync_detailed(
        calls.named(slug),
        calls.named(credit),
        client=api.client,
        body=models.CreditPayBackRequest(amount_minor=amount, reference=reference, reason=reason),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@staff_app.command()
@slow.change
def discount(
    slug: Slug,
    title: str,
    meters: Meters = None,
    *,
    cheaper: Annotated[Any, Cheaper],
) -> None:
    """Give a tenant a discount, from the running billing month on."""
    api = login_store.connect_staff()
    answer = staff.give_discount.sync_detailed(
        calls.named(slug),
        client=api.client,
        body=models.ReductionRequest.from_dict(_reduction(title, cheaper, meters)),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), Format.TABLE)


@staff_app.command()
@slow.change
def coupon(
    code: str,
    title: str,
    *,
    cheaper: Annotated[Any, Cheaper],
    use: Annotated[Any, CouponUse],
) -> None:
    """Create a coupon."""
    body = {
        **_reduction(title, cheaper, None),
        "code": code,
        "currency": use.currency,
        # 0 on the command line is null in the API: no limit.
        "limit": use.limit or None,
        "expires_at": tokens.expiry(use.expires),
    }
    api = login_store.connect_staff()
    answer = staff.create_coupon.sync_detailed(
        client=api.client,
        body=models.CouponCreateRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), Format.TABLE)


@staff_app.command()
def commit(
    slug: Slug,
    title: str,
    minimum: Annotated[int, typer.Argument(min=1, help="Least a month, in minor units.")],
    reason: Reason,
    form: Output = Format.TABLE,
) -> None:
    """Agree on a minimum commitment, from the first day of the running billing month on.

    This month counts from its first day even if the tenant's plan began later.
    """
    api = login_store.connect_staff()
    answer = staff.agree_on_commitment.sync_detailed(
        calls.named(slug),
        client=api.client,
        body=models.CommitmentCreateRequest.from_dict(
            {"title": title, "minimum_minor": minimum, "reason": reason}
        ),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@staff_app.command()
def end_discount(
    slug: Slug,
    discount: Annotated[str, typer.Argument(help="Its id, as `show -o json` prints it.")],
    reason: Reason,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="The running month does not have it any more.")
    ] = False,
    form: Output = Format.TABLE,
) -> None:
    """End a discount with the running billing month."""
    api = login_store.connect_staff()
    answer = staff.end_discount.sync_detailed(
        calls.named(slug),
        calls.named(discount),
        client=api.client,
        body=models.DiscountEndRequest(reason=reason, at_once=at_once),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@staff_app.command()
def end_commitment(
    slug: Slug,
    commitment: Annotated[str, typer.Argument(help="Its id, as `show -o json` prints it.")],
    reason: Reason,
    at: Annotated[str, typer.Option(help="When: a date or a time; default: with the month.")] = "",
    form: Output = Format.TABLE,
) -> None:
    """End a minimum commitment; the month of its end counts by its seconds."""
    calls.named(slug)
    body = {"reason": reason, "ends_at": tokens.expiry(at) if at else None}
    api = login_store.connect_staff()
    answer = staff.end_commitment.sync_detailed(
        calls.named(slug),
        calls.named(commitment),
        client=api.client,
        body=models.CommitmentEndRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@staff_app.command()
def end_coupon(code: str, reason: Reason, form: Output = Format.TABLE) -> None:
    """Let nobody redeem a coupon any more."""
    api = login_store.connect_staff()
    answer = staff.end_coupon.sync_detailed(
        calls.named(code),
        client=api.client,
        body=models.CouponEndRequest(reason=reason),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@staff_app.command("coupons")
@slow.change
def list_coupons(*, how: listing.Rows) -> None:
    """List all coupons, and how many tenants have redeemed them."""
    columns = ["code", "title", "percent", "amount_minor", "months", "limit", "redeemed"]
    listing.show_shared(how, calls.shared_list(staff.list_coupons.sync_detailed), columns)


def _reduction(title: str, cheaper: Cheaper, meters: list[str] | None) -> dict[str, Any]:
    return {
        "title": title,
        # An option that is not given is empty or 0, which the API would refuse.
        "percent": cheaper.percent or None,
        "amount_minor": cheaper.amount or None,
        "months": cheaper.months or None,
        "meters": meters or [],
        "reason": cheaper.reason,
    }


def _show(found: Json, form: Format) -> None:
    if form.is_document:
        output.show_document(found, form)
        return
    rows = [
        {**one, "what": "credit now", "title": one["legal_entity"],
         "left_minor": one["available_minor"]}
        for one in found.get("balances", [])
    ]  # fmt: skip
    if trial := found.get("trial"):
        days = f"{trial['plan']}, {trial['days_left']} days left"
        rows.append({**trial, "what": "trial", "title": days})
    if progress := found.get("progress"):
        charged = progress["charged_minor"]
        amount = money.display(charged, progress["currency"])
        earlier = f", {amount} charged by earlier invoices" if charged else ""
        title = f"{progress['percent']} % of this month{earlier}"
        rows.append(
            {**progress, "what": "minimum", "title": title,
             "amount_minor": progress["minimum_minor"], "left_minor": progress["missing_minor"]}
        )  # fmt: skip
    rows += [{**one, "what": "discount"} for one in found["discounts"]]
    rows += [
        {**one, "what": "commitment", "amount_minor": one["minimum_minor"]}
        for one in found["commitments"]
    ]
    rows += [{**one, "what": one["kind"], "title": one["reference"]} for one in found["credits"]]
    columns = [
        "what", "title", "percent", "amount_minor", "left_minor", "starts_at", "ends_at",
        "expires_at",
    ]  # fmt: skip
    blank = dict.fromkeys(columns)
    output.show_rows([{**blank, **row} for row in rows], columns, form)
