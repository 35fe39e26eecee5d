"""Usage that landed after its invoice was issued: which months a later invoice corrects.

An issued invoice never changes. Each close looks at the tenant's newest invoices: a month that
ended, and the earlier part of the running one, whose usage is not what was billed is priced anew
with the usage of now (``rating``), and the difference is this invoice's correction lines. The
document keeps the state of the month after it, so that the next correction goes on from there.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from plans.invoicing import catalogue_prices, document, rating, states
from plans.invoicing.document import Document
from plans.invoicing.earlier import AGREED, EarlierInvoiceOpen
from plans.invoicing.facts import Correction, Facts
from plans.invoicing.rating import Reader
from plans.models import Invoice
from plans.periods import Period

_LOOKED_AT = 12  # the newest agreed invoices of the tenant


def agreed(tenant_id: str, but: str = "") -> list[tuple[Invoice, Document]]:
    """Return the tenant's newest approved or issued invoices but one, oldest first."""
    rows = Invoice.objects.filter(tenant_id=tenant_id, state__in=AGREED).exclude(pk=but)
    newest = list(rows.order_by("-ends_at")[:_LOOKED_AT])
    return [(row, document.loaded(row.document)) for row in reversed(newest)]


def find(
    facts: Facts, known: Iterable[tuple[Invoice, Document]], before: Invoice | None, read: Reader
) -> tuple[Correction, ...]:
    """Return the months to correct, oldest first; ``before`` is the month's earlier invoice.

    Months of another seller or currency, and of engines that kept no usage, are left.
    """
    same = [
        (row, made)
        for row, made in known
        if (row.legal_entity, row.currency) == (facts.legal_entity, facts.seller_rule.currency)
    ]
    found = list(_ended(same, facts.period.starts_at))
    if before is not None and before.state in states.NUMBERED:
        found.append(Correction(facts.month, before.number or "", 1, facts.so_far))
    return tuple(each for each in found if rating.with_usage_of_now(each, read) != each.before)


def require_current(invoice: Invoice) -> None:
    """Return when no other agreed invoice has corrected the same months since the draft.

    Raises:
        EarlierInvoiceOpen: one has: close this one again.
    """
    pinned = invoice.manifest.get("corrections", [])
    known = agreed(invoice.tenant_id, but=invoice.pk) if pinned else []
    last = {_key(each.month): each.n for each in _ended(known, invoice.starts_at)}
    for entry in pinned:
        if entry["n"] != last.get(entry["month_starts_at"], entry["n"]):
            raise EarlierInvoiceOpen(
                f"Another invoice has corrected {entry['number']} since: close this one again, "
                "for it would bill the same usage twice."
            )


def _ended(known: Iterable[tuple[Invoice, Document]], until: datetime) -> Iterator[Correction]:
    """Yield each month that is invoiced to its end, in the state after its newest correction."""
    known = list(known)
    for row, made in known:
        month = document.month_of(made)
        if row.ends_at != month.ends_at or row.ends_at > until or row.state not in states.NUMBERED:
            continue
        carried = [each for _, other in known for each in _carried(other, month)]
        newest = max(carried, key=lambda each: each["n"], default=None)
        left = (newest or made)["month_so_far"]
        if "segments" in left:
            n = newest["n"] + 1 if newest else 1
            state = catalogue_prices.month_so_far(left)
            yield Correction(month, row.number or "", n, state)


def _carried(made: Document, month: Period) -> list[Document]:
    """Return the corrections of an ended month in a document of a later one."""
    if document.month_of(made) == month:
        return []
    found = made.get("corrections", [])
    return [each for each in found if each["month_starts_at"] == _key(month)]


def _key(month: Period) -> str:
    return month.starts_at.isoformat()


def pinned(manifest: Document) -> tuple[Correction, ...]:
    """Return the corrections that a manifest pins, to price them again."""
    return tuple(
        Correction(
            Period(
                *(datetime.fromisoformat(each[f"month_{end}_at"]) for end in ("starts", "ends"))
            ),
            each["number"],
            each["n"],
            catalogue_prices.month_so_far(each["month_before"]),
        )
        for each in manifest.get("corrections", [])
    )


def usage_since(invoice: Invoice) -> datetime:
    """Return from when on an invoice's price depends on usage: it may correct earlier months."""
    months = [datetime.fromisoformat(each["month_starts_at"])
              for each in invoice.manifest.get("corrections", [])]  # fmt: skip
    return min([invoice.starts_at, *months])
