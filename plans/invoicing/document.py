"""Builds the invoice document: a plain dict whose canonical JSON bytes are the invoice. Pure.

The page and all formats are rendered from this dict. ``invoice_verification`` builds the dict again
and compares the bytes, so equal inputs must always give equal keys and values.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from plans.invoicing import priced_rows
from plans.invoicing.evidence import Evidence
from plans.invoicing.facts import Facts
from plans.invoicing.rated_period import RatedPeriod
from plans.ledger import credit
from plans.rating import money
from plans.rating.billable import Segment
from plans.rating.credits import PROMOTIONAL, Grant, Use, burn
from plans.rating.periods import Period
from plans.rating.pricing import Line, Rating, TaxLine
from plans.usage import reading
from plans.usage.reading import Figure

SCHEMA = "waypost.invoice.v1"
Document = dict[str, Any]
# What only an issued document has; see ``numbered``.
NUMBERED = ("number", "issued_at", "due_at", "credit", "payable_minor")


def build(
    facts: Facts,
    rated: RatedPeriod,
    *,
    manifest: Mapping[str, Any],
    quality: Mapping[str, Any],
    as_of: datetime | None,
) -> Document:
    """Return the document of a draft or preview.

    Number, dates, credit and amount to pay are None; issuing fills them in with ``numbered``.
    ``as_of`` is the time up to which usage is complete, None if no usage was copied yet.
    """
    rating = rated.rating
    return {
        "schema": SCHEMA,
        **dict.fromkeys(NUMBERED),
        "period": {
            "starts_at": facts.period.starts_at.isoformat(),
            "ends_at": facts.period.ends_at.isoformat(),
            "time_zone": facts.time_zone,
            "month_starts_at": facts.month.starts_at.isoformat(),
            "month_ends_at": facts.month.ends_at.isoformat(),
        },
        "seller": dict(facts.seller),
        "buyer": dict(facts.buyer),
        "currency": facts.seller_rule.currency,
        "minor_digits": money.minor_digits(facts.seller_rule.currency),
        "rounding": facts.seller_rule.rounding.value,
        "plans": plans_of(facts.segments),
        "lines": lines_of(rating),
        "taxes": [tax_of(tax) for tax in rating.taxes],
        "net_minor": rating.net_minor,
        "tax_minor": rating.tax_minor,
        "total_minor": rating.net_minor + rating.tax_minor,
        "usage": usage_of(facts, rated.figures),
        "month_so_far": rating.so_far.plain(),
        "corrections": [
            {**correction.plain(), "month_so_far": state.plain()}
            for correction, state in zip(facts.corrections, rated.corrected, strict=True)
        ],
        "quality": dict(quality),
        "as_of": as_of.isoformat() if as_of else None,
        "manifest": dict(manifest),
    }


def tax_of(tax: TaxLine) -> Document:
    """Return the JSON values of the tax at one rate; amounts are in minor units.

    Category and note are left out if they are empty, as in the documents of engine 3.
    """
    words = {"category": tax.category, "note": tax.note}
    return {
        "percent": plain(tax.percent),
        "taxable_minor": tax.taxable_minor,
        "tax_minor": tax.tax_minor,
        **{name: text for name, text in words.items() if text},
    }


@dataclass(frozen=True)
class Issue:
    """What issuing adds to a document, with ``numbered``.

    ``credit_before_minor`` is the tenant's credit before this invoice, in minor units. ``grants``
    is the promotional and prepaid credit of which something is left.
    """

    number: str
    issued_at: datetime
    due_at: datetime
    credit_before_minor: int
    grants: tuple[Grant, ...] = ()


def numbered(document: Document, issue: Issue) -> Document:
    """Return a copy of the document with number, dates, credit and amount to pay.

    If the total is negative, the credit grows by as much, and nothing is left to pay.
    """
    settled = settlement(document["total_minor"], issue)
    before, used = issue.credit_before_minor, settled.credit_minor
    listed = [
        {"id": use.grant.id, "kind": use.grant.kind, "used_minor": use.used_minor,
         "left_minor": use.grant.left_minor - use.used_minor}
        for use in settled.uses
    ]  # fmt: skip
    moved = {"before_minor": before, "used_minor": used, "after_minor": before - used}
    return {
        **document,
        "number": issue.number,
        "issued_at": issue.issued_at.isoformat(),
        "due_at": issue.due_at.isoformat(),
        # Left out without a grant, as in the documents of engine 3.
        "credit": {**moved, **({"grants": listed} if listed else {})},
        "payable_minor": settled.payable_minor,
    }


@dataclass(frozen=True)
class Settlement:
    """How credit pays a total: by grants, and by credit from earlier invoices."""

    uses: tuple[Use, ...]
    credit_minor: int
    payable_minor: int


def settlement(total_minor: int, issue: Issue) -> Settlement:
    """Return how credit pays ``total_minor``: promotional, then earlier invoices', then prepaid.

    A negative total uses no grant and adds to the credit from earlier invoices.
    """
    promotional = [row for row in issue.grants if row.kind == PROMOTIONAL]
    prepaid = [row for row in issue.grants if row.kind != PROMOTIONAL]
    first = burn(total_minor, promotional, issue.issued_at)
    left = total_minor - sum(use.used_minor for use in first)
    used = credit.used(left, issue.credit_before_minor)
    last = burn(left - used, prepaid, issue.issued_at)
    payable = left - used - sum(use.used_minor for use in last)
    return Settlement((*first, *last), used, payable)


def replacing(document: Document, number: str, issued_at: str) -> Document:
    """Return a copy of the document that names the invoice in whose place it is issued.

    That is the preceding invoice of EN 16931 (BG-3). ``issued_at`` is in ISO 8601.
    """
    return {**document, "replaces": {"number": number, "issued_at": issued_at}}


def instant(value: datetime | None) -> str | None:
    """Return an instant as documents have it, in ISO 8601; None stays None."""
    return value.isoformat() if value else None


def canonical(document: Document) -> str:
    """Return the canonical JSON text of a document: sorted keys, no spaces, unescaped UTF-8."""
    # The bytes of issued invoices depend on these options: never change them.
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def loaded(text: str) -> Document:
    """Return the document of a canonical text, such as ``Invoice.document``."""
    found: Document = json.loads(text)
    return found


def digest(text: str) -> str:
    """Return the hex SHA-256 of a canonical text."""
    return hashlib.sha256(text.encode()).hexdigest()


def manifest_of(facts: Facts, evidence: Evidence) -> dict[str, Any]:
    """Return the manifest: the pinned inputs from which the same engine makes the same bytes.

    The manifest holds versions of tables, catalog, pipeline and engine, and digests of the prices.
    It also holds values that rows may lose: lifetimes, and the states of the month and of corrected
    months before this invoice.
    """
    return {
        "engine_version": facts.engine,
        "pipeline_version": evidence.pipeline_version,
        "catalogue_number": facts.catalogue_number,
        # Manifests without this key, of engine 3, are of the catalog's main seller.
        "legal_entity": facts.legal_entity,
        "rounding": facts.seller_rule.rounding.value,
        "tables": {
            name: {"id": pin.table_id, "version": pin.version}
            for name, pin in evidence.tables.items()
        },
        # Manifests without this key have version 1.
        "sample_hash_version": evidence.hash_version,
        "sample_hash": evidence.sample_hash,
        "n_samples": evidence.n_samples,
        "prices": priced_rows.digests(facts),
        "lived": facts.known_lifetimes.plain(),  # persisted key: never rename it
        "month_before": facts.so_far.plain(),
        "corrections": [
            {**row.plain(), "month_before": row.before.plain()} for row in facts.corrections
        ],
        # Left out if there are none, as in the documents of engine 3.
        **({"terms": facts.terms.plain()} if facts.terms else {}),
        **({"tax": facts.tax.plain()} if facts.tax else {}),
    }


def month_of(document: Document) -> Period:
    """Return the billing month that contains the period of the document."""
    period = document["period"]
    starts_at, ends_at = (period[f"month_{name}"] for name in ("starts_at", "ends_at"))
    return Period(datetime.fromisoformat(starts_at), datetime.fromisoformat(ends_at))


def plain(value: Decimal) -> str:
    """Return a decimal as text without exponent or trailing zeros: ``0.000001``, ``12``."""
    text = f"{value:f}"
    # Only after a decimal point: 100 must not become 1.
    return text.rstrip("0").rstrip(".") if "." in text else text


def plans_of(segments: Sequence[Segment]) -> list[dict[str, Any]]:
    """Return the plan version of each segment, and when it was in force, as JSON values."""
    return [
        {
            "plan": segment.plan_key,
            "version": segment.plan_version,
            "title": segment.plan_title,
            "starts_at": segment.period.starts_at.isoformat(),
            "ends_at": segment.period.ends_at.isoformat(),
        }
        for segment in segments
    ]


def lines_of(rating: Rating) -> list[dict[str, Any]]:
    """Return the JSON values of the lines of a rating.

    If it has several taxes, ``tax`` of each line is the number of its entry in ``taxes``, from 1.
    """
    numbers = {entry.tax.key: n for n, entry in enumerate(rating.taxes, start=1)}
    lines = [line_of(n, line) for n, line in enumerate(rating.lines, start=1)]
    if len(numbers) == 1:  # left out, as in the documents of engine 4
        return lines
    # A line without a tax of its own bears the first one.
    taxed = zip(lines, rating.lines, strict=True)
    return [{**made, "tax": numbers[line.tax.key] if line.tax else 1} for made, line in taxed]


def line_of(position: int, line: Line) -> dict[str, Any]:
    """Return the JSON values of one invoice line; positions begin at 1."""
    return {
        "position": position,
        "kind": line.kind,
        "meter": line.meter,
        "description": line.description,
        "quantity": plain(line.quantity),
        "unit": line.unit,
        "unit_price": plain(line.unit_price),
        "amount_minor": line.amount_minor,
        "detail": line.detail,
    }


def usage_of(facts: Facts, figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Return the usage statement: of each space the quantities of all sampled meters.

    Meters without a price and spaces without usage are included.
    """
    names = {space.id: (space.name, space.type) for space in facts.spaces}
    found = []
    # Spaces without usage are listed, and so is usage whose space is not among the facts.
    for space_id in sorted({*names, *(figure.space_id for figure in figures)}):
        name, kind = names.get(space_id, (space_id, ""))
        meters = reading.combine(figure for figure in figures if figure.space_id == space_id)
        found.append({"space_id": space_id, "space": name, "type": kind, "meters": meters})
    return found
