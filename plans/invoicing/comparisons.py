"""The registry of what a verification compares: each place where a figure of an invoice stands.

Each comparison takes a ``Proof`` and returns its ``Outcome``; None means that it has nothing to
compare, or that an input could not be read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plans.invoicing import (
    corrections,
    document,
    invoice_booking,
    pinned_sellers,
    priced_rows,
)
from plans.invoicing.close_validation import Differences
from plans.invoicing.document import Document
from plans.invoicing.evidence import UsageKey
from plans.invoicing.facts import Facts
from plans.invoicing.findings import LakeReading, Outcome, Place
from plans.ledger import posting
from plans.models import Invoice
from plans.rating.periods import Period
from plans.usage.reading import UsageCell, merged

_SHOWN = 3  # files and samples that one text names


@dataclass(frozen=True)
class Proof:
    """The inputs of all comparisons.

    ``stored`` is the stored document of ``invoice``. ``again`` is the document that its engine
    makes from the pinned inputs, and ``facts`` are these inputs; both are None if it could not be
    made. ``lake`` is None if the lakehouse was not read.
    """

    invoice: Invoice
    stored: Document
    again: Document | None
    facts: Facts | None
    lake: LakeReading | None


@dataclass(frozen=True)
class Comparison:
    """How ``place`` is compared; ``says`` names, for people, what is compared with what."""

    place: Place
    says: str
    compare: Callable[[Proof], Outcome | None]


def _files(proof: Proof) -> Outcome | None:
    if proof.lake is None or proof.lake.files is None:
        return None
    found = proof.lake.files
    texts = [
        f"{len(paths)} {'file is' if len(paths) == 1 else 'files are'} {what}: {_some(paths)}"
        for what, paths in (("altered", found.altered), ("missing", found.missing))
        if paths
    ]
    note = f"{found.n_same} files are as they landed"
    if found.n_without:
        note += f"; {found.n_without} landed before hashes were recorded and were not compared"
    return Outcome(tuple(texts), note)


def _samples(proof: Proof) -> Outcome | None:
    if proof.lake is None or proof.lake.samples is None:
        return None
    found, manifest = proof.lake.samples, proof.stored["manifest"]
    texts = []
    if found.hash != manifest["sample_hash"]:
        texts.append(
            "manifest.sample_hash: the samples of the period are not the same "
            f"({manifest['n_samples']} then, {found.n_samples} now)"
        )
    if found.doubled:
        texts.append(f"samples with two values: {_some(found.doubled)}")
    return Outcome(tuple(texts), f"{found.n_samples} samples, hash version {found.hash_version}")


def _gold(proof: Proof) -> Outcome | None:
    if proof.lake is None or proof.lake.spans is None:
        return None
    texts = []
    for usage in proof.lake.spans:
        found = Differences.between(usage.gold, usage.recomputed)
        if found:
            begun = usage.span.starts_at.isoformat()
            texts.append(f"usage from {begun} on differs from the samples: {found}")
    return Outcome(tuple(texts))


def _copy(proof: Proof) -> Outcome | None:
    if proof.lake is None or proof.lake.copy is None:
        return None
    found = proof.lake.copy
    period = Period(proof.invoice.starts_at, proof.invoice.ends_at)
    inside = [cell for cell in found.gold if period.contains(cell.bucket_at)]
    compared = (
        ("rows", _by_bucket(found.cells), _by_bucket(found.gold)),
        ("sums by address", found.by_address, figures(inside)),
        ("sums by space", found.by_space, figures(inside, by_space=True)),
    )
    pairs = [(what, Differences.between(copied, gold)) for what, copied, gold in compared]
    return Outcome(
        tuple(f"copied {what} differ from gold: {differ}" for what, differ in pairs if differ)
    )


def _prices(proof: Proof) -> Outcome | None:
    pinned: Mapping[str, str] | None = proof.stored["manifest"].get("prices")
    if pinned is None or proof.facts is None:
        return None  # an invoice of before the manifest had them
    now = priced_rows.digests(proof.facts)
    names = sorted(name for name in {*pinned, *now} if pinned.get(name) != now.get(name))
    return Outcome(
        tuple(f"{name} has other prices than the invoice was made with" for name in names)
    )


def _subscriptions(proof: Proof) -> Outcome | None:
    if proof.again is None:
        return None
    return Outcome(tuple(differences("plans.", proof.stored["plans"], proof.again["plans"])))


def _previous(proof: Proof) -> Outcome:
    invoice, stored = proof.invoice, proof.stored
    period = Period(invoice.starts_at, invoice.ends_at)
    before = corrections.previous_invoice(invoice.tenant_id, period, document.month_of(stored))
    left = corrections.month_after(before)
    texts = [
        f"manifest.corrections: {number} has another tax than its correction"
        for number in corrections.wrongly_taxed(invoice, stored)
    ]
    # None: the previous invoice is being closed again, so there is nothing to compare yet.
    if left is not None and left.plain() != stored["manifest"]["month_before"]:
        texts.append("manifest.month_before: the previous invoice has another state now")
    return Outcome(tuple(texts))


def _document(proof: Proof) -> Outcome:
    text, texts = proof.invoice.document, list[str]()
    recorded = (
        proof.invoice.events.exclude(document_sha256="").order_by("-id")
        .values_list("document_sha256", flat=True).first()
    )  # fmt: skip
    if recorded not in (None, document.digest(text)):
        texts.append("its SHA-256 is not the one that the invoice's history recorded")
    if proof.again is not None:
        again = proof.again
        pairs = ((key, proof.stored.get(key), again.get(key))
                 for key in sorted({*proof.stored, *again}) if key != "plans")  # fmt: skip
        texts += [one for key, was, now in pairs for one in differences(f"{key}.", was, now)]
        # Equal values in other bytes, such as reordered keys: only an edit of the row does this.
        if text != document.canonical(again) and proof.stored == again:
            texts.append("the stored text is not the canonical form of its content")
    return Outcome(tuple(texts))


def _row(proof: Proof) -> Outcome:
    invoice, stored = proof.invoice, proof.stored
    used = stored["total_minor"] - stored["payable_minor"] if stored["credit"] else 0
    manifest = stored["manifest"]
    seller = pinned_sellers.seller(manifest["catalogue_number"], manifest.get("legal_entity", ""))
    columns: dict[str, tuple[Any, Any]] = {
        "number": (stored["number"], invoice.number),
        "currency": (stored["currency"], invoice.currency),
        "legal_entity": (seller.key, invoice.legal_entity),
        "net_minor": (stored["net_minor"], invoice.net_minor),
        "tax_minor": (stored["tax_minor"], invoice.tax_minor),
        "total_minor": (stored["total_minor"], invoice.total_minor),
        "credit_minor": (used, invoice.credit_minor),
        "starts_at": (stored["period"]["starts_at"], invoice.starts_at.isoformat()),
        "ends_at": (stored["period"]["ends_at"], invoice.ends_at.isoformat()),
        "issued_at": (stored["issued_at"], document.instant(invoice.issued_at)),
        "due_at": (stored["due_at"], document.instant(invoice.due_at)),
        # Drafts of earlier versions of Waypost have the time zone in the document only.
        "time_zone": (stored["period"]["time_zone"],
                      invoice.time_zone or stored["period"]["time_zone"]),
        "manifest": (stored["manifest"], invoice.manifest),
        "quality": (stored["quality"], invoice.quality),
    }  # fmt: skip
    texts = [one for name, pair in columns.items() for one in differences(f"{name}.", *pair)]
    released = manifest.get("released", [])
    if any(release not in invoice.releases for release in released):
        texts.append("manifest.released has a release that the invoice's row does not have")
    codes = ", ".join(sorted({release["code"] for release in released}))
    note = f"the invoice's row with the document; staff released {codes}" if codes else ""
    return Outcome(tuple(texts), note)


def _lines(proof: Proof) -> Outcome:
    same = ("position", "meter", "description", "unit")
    stored = [
        {
            **{name: line[name] for name in same},
            "quantity": document.plain(Decimal(line["quantity"])),
            "unit_price": document.plain(Decimal(line["unit_price"])),
            "amount_minor": line["amount_minor"],
            "detail": {**line["detail"], "kind": line["kind"]},
        }
        for line in proof.stored["lines"]
    ]
    rows = [
        {
            **{name: getattr(row, name) for name in same},
            "quantity": document.plain(row.quantity),
            "unit_price": document.plain(row.unit_price),
            "amount_minor": row.amount_minor,
            "detail": row.detail,
        }
        for row in proof.invoice.lines.all()
    ]
    return Outcome(tuple(differences("", stored, rows)))


def _ledger(proof: Proof) -> Outcome:
    entry = posting.entry_of(proof.invoice.pk)
    if entry is None:
        missing = "the entry of the invoice is missing"
        return Outcome((missing,) if proof.stored["number"] else ())
    if not proof.stored["number"]:
        return Outcome(("there is an entry, but the invoice is not issued",))
    booking = invoice_booking.booking_of(proof.invoice, proof.stored)
    wanted = {account: amount for account, amount in booking.postings.items() if amount}
    rows = sorted(entry.postings.values_list("account", "amount_minor"))
    about = {"tenant": booking.tenant_id, "currency": booking.currency, "text": booking.text}
    kept = {"tenant": entry.tenant_id, "currency": entry.currency, "text": entry.text}
    if entry.legal_entity:  # entries of earlier versions have none
        about["legal_entity"], kept["legal_entity"] = booking.legal_entity, entry.legal_entity
    return Outcome(
        (
            *differences("", about, kept),
            *differences("", _by_account(sorted(wanted.items())), _by_account(rows)),
        )
    )


REGISTRY: tuple[Comparison, ...] = (
    Comparison(Place.FILES, "the files of bronze with the hashes recorded at landing", _files),
    Comparison(Place.SAMPLES, "the samples in bronze with the hash in the manifest", _samples),
    Comparison(Place.GOLD, "gold with the usage computed again from the samples", _gold),
    Comparison(Place.COPY, "usage in the database with the version of gold it copies", _copy),
    Comparison(Place.PRICES, "the prices of plans with the digests in the manifest", _prices),
    Comparison(Place.SUBSCRIPTIONS, "subscriptions with the plans in the document", _subscriptions),
    Comparison(Place.PREVIOUS, "what earlier invoices left, and their tax", _previous),
    Comparison(Place.DOCUMENT, "every byte of the document with the one made again", _document),
    Comparison(Place.ROW, "the invoice's row with the document", _row),
    Comparison(Place.LINES, "the rows of the lines with the document", _lines),
    Comparison(Place.LEDGER, "the postings in the ledger with the document", _ledger),
)


def figures(cells: Sequence[UsageCell], *, by_space: bool = False) -> dict[UsageKey, int]:
    """Return {space, address and meter: sum of the cells}; for a peak the largest of them.

    ``by_space``: over all addresses of a space, with an empty address.
    """
    found: dict[UsageKey, int] = {}
    for cell in cells:
        key = UsageKey(cell.space_id, "" if by_space else cell.address, cell.meter)
        found[key] = merged(cell.meter, found.get(key, 0), cell.quantity)
    return found


def differences(path: str, stored: Any, again: Any) -> Iterator[str]:
    """Yield each difference of two JSON values as text: ``lines.2.amount_minor: 1200, now 1201``.

    ``path`` is the beginning of each text, with a dot at its end.
    """
    if isinstance(stored, dict) and isinstance(again, dict):
        for key in sorted({*stored, *again}):
            yield from differences(f"{path}{key}.", stored.get(key), again.get(key))
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        for number, (one, other) in enumerate(zip(stored, again, strict=True), start=1):
            yield from differences(f"{path}{number}.", one, other)
    elif stored != again:
        yield f"{path.rstrip('.') or 'entries'}: {_short(stored)}, now {_short(again)}"


def _by_bucket(cells: Sequence[UsageCell]) -> dict[UsageKey, int]:
    return {
        UsageKey(cell.space_id, f"{cell.address or cell.space_id} at {cell.bucket_at.isoformat()}",
                 cell.meter): cell.quantity
        for cell in cells
    }  # fmt: skip


def _by_account(rows: Sequence[tuple[str, int]]) -> dict[str, str]:
    # Text, because two postings to one account are a difference, too.
    found: dict[str, list[str]] = {}
    for account, amount in rows:
        found.setdefault(account, []).append(str(amount))
    return {account: " and ".join(amounts) for account, amounts in found.items()}


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} entries"
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
