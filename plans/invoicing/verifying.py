"""Recompute an invoice from its pinned inputs and compare bytes.

The caller (``workers.metering``) reads the usage at the table versions in the manifest; everything
else is gathered here again from rows that never change.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from controlplane.core.errors import Conflict
from plans import ledger
from plans.invoicing import catalogue_prices, corrections, credit, document, earlier, facts, rating
from plans.invoicing.lived import Lived
from plans.models import Invoice
from plans.periods import Period
from plans.usage import UsageCell

_SHOWN = 20


@dataclass(frozen=True)
class Verification:
    """``same``: the recomputed bytes equal the stored ones (and the sample hash, where given)."""

    same: bool
    stored_sha256: str
    recomputed_sha256: str
    differences: tuple[str, ...]


class NothingToVerify(Conflict):
    """The invoice has no document yet."""

    code = "invoice.no_document"


def verify(
    *, invoice: Invoice, cells: Iterable[UsageCell], sample_hash: str | None = None
) -> Verification:
    """Build the document again from ``cells`` (the tenant's usage from
    ``usage_since`` on, any order) and compare.

    ``sample_hash`` is the hash of the sample ids as they are found now, compared if given. Nothing
    is written.

    Raises:
        NothingToVerify: the invoice was never a draft.
    """
    if not invoice.document:
        raise NothingToVerify("Only an invoice with a document can be verified: close it first.")
    stored = document.loaded(invoice.document)
    engine = stored["manifest"]["engine_version"]
    if engine != document.ENGINE_VERSION:
        words = (
            f"made by engine {engine}, this is {document.ENGINE_VERSION}: use the Waypost of then"
        )
        return Verification(
            False, document.digest(invoice.document), "", (f"manifest.engine_version: {words}",)
        )
    again = _rebuilt(invoice, stored, cells)
    text = document.canonical(again)
    differences = list(_differences("", stored, again))
    if sample_hash is not None and sample_hash != stored["manifest"]["sample_hash"]:
        differences.append("manifest.sample_hash: the samples of the period are not the same")
    if _has_moved(invoice, stored):
        differences.append("manifest.month_before: the earlier invoice of the month ends elsewhere")
    if text != invoice.document and not differences:
        differences.append("the stored text is not the canonical form of its content")
    return Verification(
        not differences,
        document.digest(invoice.document),
        document.digest(text),
        tuple(differences[:_SHOWN]),
    )


def _has_moved(invoice: Invoice, stored: dict[str, Any]) -> bool:
    """Whether the month before this invoice is not what the earlier one says it left."""
    period = Period(invoice.starts_at, invoice.ends_at)
    before = earlier.find(invoice.tenant_id, period, document.month_of(stored))
    left = earlier.so_far(before)
    return left is not None and left.plain() != stored["manifest"]["month_before"]


def _rebuilt(
    invoice: Invoice, stored: dict[str, Any], cells: Iterable[UsageCell]
) -> dict[str, Any]:
    manifest = stored["manifest"]
    frozen = facts.Frozen(
        stored["buyer"],
        manifest["catalogue_number"],
        stored["period"]["time_zone"],
        Lived.from_plain(manifest["lived"]),
        catalogue_prices.month_so_far(manifest["month_before"]),
        corrections.pinned(manifest),
    )
    period = Period(invoice.starts_at, invoice.ends_at)
    found = facts.gather(invoice.tenant, period, frozen=frozen)
    rated = rating.rate(found, rating.from_cells(cells, invoice.tenant_id))
    made = document.build(
        found,
        rated,
        manifest=invoice.manifest,
        quality=invoice.quality,
        as_of=datetime.fromisoformat(stored["as_of"]),
    )
    if invoice.number and invoice.issued_at and invoice.due_at:
        before = _credit_before(invoice)
        issue = document.Issue(invoice.number, invoice.issued_at, invoice.due_at, before)
        return document.numbered(made, issue)
    return made


def _credit_before(invoice: Invoice) -> int:
    """Read from the ledger the credit that the tenant had when the invoice was booked."""
    entry = ledger.entry_of(invoice.pk)
    return credit.before(invoice.tenant_id, invoice.legal_entity, invoice.currency, entry=entry)


def _differences(path: str, stored: Any, again: Any) -> Iterator[str]:
    """Name each place where two documents differ: ``lines.2.amount_minor: 1200, now 1201``."""
    if isinstance(stored, dict) and isinstance(again, dict):
        for key in sorted({*stored, *again}):
            yield from _differences(f"{path}{key}.", stored.get(key), again.get(key))
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        for number, (one, other) in enumerate(zip(stored, again, strict=True), start=1):
            yield from _differences(f"{path}{number}.", one, other)
    elif stored != again:
        yield f"{path.rstrip('.')}: {_short(stored)}, now {_short(again)}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} entries"
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
