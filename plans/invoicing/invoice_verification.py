"""Recomputes an invoice from its pinned inputs, and compares each place where its figures stand.

``request_verify`` runs in the caller's request (API, portal). The Celery task
``workers.verify_invoice`` then reads the usage at the table versions in the manifest and calls
``verify``. If this task gets lost, a periodic task finds the request with ``waiting``. ``verify``
reads all other inputs: from the manifest and the document, the ledger, and rows whose content for
the period is fixed (plan versions, subscriptions). ``comparisons.REGISTRY`` lists what is compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import QuerySet

from controlplane.core import audit, enqueue, operations
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Missing, WaypostError
from controlplane.core.models import Operation
from plans.invoicing import (
    billing_inputs,
    comparisons,
    corrections,
    document,
    engines,
    facts,
    pinned_sellers,
    rated_period,
    states,
)
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.invoicing.comparisons import Comparison, Proof
from plans.invoicing.document import Document
from plans.invoicing.engines import Engine
from plans.invoicing.facts import Correction, Facts
from plans.invoicing.findings import DIFFERS, Finding, LakeReading, Outcome, Place
from plans.invoicing.pinned_sellers import PinnedSeller
from plans.ledger import credit, grants, posting
from plans.models import Invoice
from plans.rating.periods import Period
from plans.rating.taxes import TaxRule
from plans.rating.terms import Terms
from plans.usage.reading import UsageCell

logger = structlog.get_logger(__name__)

SUBJECT_TYPE = "invoice_verification"
# The subject of a verification that checks whole files as well. It differs, so that the end of a
# verification without files does not end the operation of one with files.
FILES_SUBJECT_TYPE = "invoice_file_verification"
KINDS = {SUBJECT_TYPE: "invoice.verify", FILES_SUBJECT_TYPE: "invoice.verify_files"}
_SHOWN = 20  # differences in one result


@dataclass(frozen=True)
class Verification:
    """The result of ``verify``: ``same`` is true if no difference was found.

    ``findings`` are the first ``_SHOWN`` differences of each place. ``outcomes`` has each place
    that was compared. ``recomputed_sha256`` is empty if the document could not be made again.
    """

    stored_sha256: str
    recomputed_sha256: str
    findings: tuple[Finding, ...]
    outcomes: dict[Place, Outcome]

    @property
    def same(self) -> bool:
        return not self.findings

    @property
    def differences(self) -> tuple[str, ...]:
        """Return the texts of the findings, without their places; at most ``_SHOWN``."""
        return tuple(finding.what for finding in self.findings[:_SHOWN])

    @property
    def code(self) -> str:
        """Return the code of the result: ``DIFFERS``, or that of what prevented a comparison.

        There must be a finding.
        """
        codes = [finding.code for finding in self.findings]
        return DIFFERS if DIFFERS in codes else codes[0]

    def steps(self) -> list[dict[str, str]]:
        """Return a step for each place of the registry, as operations show it.

        Its state is ``done`` (the same), ``failed`` or ``waiting`` (not compared). The message
        names the differences, or what was compared.
        """
        return [self._step(comparison) for comparison in comparisons.REGISTRY]

    def _step(self, comparison: Comparison) -> dict[str, str]:
        place = comparison.place
        found = [finding.what for finding in self.findings if finding.place == place]
        compared = self.outcomes.get(place)
        state = "failed" if found else "done" if compared else "waiting"
        said = (compared.note or comparison.says) if compared else "not compared"
        message = "; ".join(found) or said
        return {"name": place.value, "state": state, "message": message}


class EngineUnknown(Conflict):
    """The version of the pricing engine that made the invoice is not in ``engines.BY_VERSION``."""

    code = "invoice.engine_unknown"


class NothingToVerify(Conflict):
    """The invoice has no document yet."""

    code = "invoice.no_document"


def require_document(invoice: Invoice) -> None:
    """Raise if the invoice has no document, which a verification would compare.

    Raises:
        NothingToVerify: the invoice has no document yet.
    """
    if not invoice.document:
        raise NothingToVerify("This invoice has no document yet: its period is not closed.")


def request_verify(*, invoice: Invoice, by: Actor, files: bool = False) -> Operation:
    """Return the running operation that verifies ``invoice``; start one if there is none.

    Starting one enqueues the Celery task that verifies. The operation succeeds if there is no
    difference, and fails with the differences otherwise. ``files``: compare whole files of samples
    with the hashes that were recorded at landing, too.

    Raises:
        NothingToVerify: the invoice has no document yet.
    """
    subject_type = FILES_SUBJECT_TYPE if files else SUBJECT_TYPE
    with transaction.atomic():
        # The invoice's lock makes two requests at once share one operation.
        current = states.locked(invoice)
        require_document(current)
        running = running_requests().filter(subject_id=current.pk, subject_type=subject_type)
        if found := running.first():
            return found
        subject = states.subject_of(current)
        audit.record(by, "invoice.verify", subject, after={"files": True} if files else None)
        enqueue.after_commit("workers.verify_invoice", invoice_id=current.pk)
        return operations.begin(
            tenant_id=current.tenant_id,
            kind=KINDS[subject_type],
            subject=(subject_type, current.pk, subject.name),
            generation=1,
            by=by,
        )


def get_request(invoice: Invoice, pk: str) -> Operation:
    """Return the operation ``pk``, which verifies ``invoice`` or has verified it.

    Raises:
        Missing: ``invoice`` has no such verification.
    """
    rows = Operation.objects.filter(subject_type__in=KINDS, subject_id=invoice.pk)
    row = rows.filter(pk=pk).first()
    if row is None:
        raise Missing("The invoice has no such verification; begin one.")
    return row


def waiting() -> list[str]:
    """Return the ids of the invoices whose verification runs or waits, the oldest request first."""
    ids = running_requests().order_by("created_at").values_list("subject_id", flat=True)
    return list(dict.fromkeys(ids))


def running_requests() -> QuerySet[Operation]:
    """Return the operations of all verifications that are requested but not finished."""
    return Operation.objects.filter(subject_type__in=KINDS, state=Operation.State.RUNNING)


def verify(
    *, invoice: Invoice, cells: Iterable[UsageCell] | None, lake: LakeReading | None = None
) -> Verification:
    """Build the invoice's document again and compare each place of the registry. Writes nothing.

    ``cells`` is the tenant's usage at the pinned table versions, from ``corrections.usage_since``
    to the end of the period, in any order; None if it cannot be read. ``lake`` is what a worker
    read besides; without it, the places of the lakehouse are not compared. An error of one place is
    a finding there, and the others are compared all the same.

    Raises:
        NothingToVerify: the invoice has no document.
    """
    require_document(invoice)
    found = list(lake.unreadable) if lake else []
    outcomes: dict[Place, Outcome] = {}
    try:
        stored = document.loaded(invoice.document)
        engine_of(stored)
    except (ValueError, TypeError, KeyError):  # the text was edited: it may be any JSON, or none
        text = "the stored text is not the JSON of an invoice"
        return _result(invoice, None, [*found, Finding(Place.DOCUMENT, DIFFERS, text)], outcomes)
    except WaypostError as error:
        finding = Finding(Place.DOCUMENT, error.error_code, error.message)
        return _result(invoice, None, [*found, finding], outcomes)
    proof = Proof(invoice, stored, None, None, lake)
    if cells is not None:
        try:
            inputs, again = recomputed(invoice, stored, cells)
            proof = replace(proof, facts=inputs, again=again)
        except facts.NoSubscription as error:
            found.append(Finding(Place.SUBSCRIPTIONS, DIFFERS, error.message))
        except Exception as error:  # noqa: BLE001 - changed rows can raise anything
            found.append(_failed(Place.DOCUMENT, error))
    for comparison in comparisons.REGISTRY:
        try:
            outcome = comparison.compare(proof)
        except Exception as error:  # noqa: BLE001 - as above; other places are compared
            found.append(_failed(comparison.place, error))
            continue
        if outcome is not None:
            outcomes[comparison.place] = outcome
            shown = outcome.differences[:_SHOWN]
            found += [Finding(comparison.place, DIFFERS, what) for what in shown]
    return _result(invoice, proof.again, found, outcomes)


def engine_of(stored: Document) -> Engine:
    """Return the engine that made the document ``stored``.

    Raises:
        EngineUnknown: this version of Waypost does not have it.
    """
    version = stored["manifest"]["engine_version"]
    if version not in engines.BY_VERSION:
        raise EngineUnknown(
            f"manifest.engine_version: made by engine {version}, but this Waypost has the engines "
            f"{', '.join(engines.BY_VERSION)}: verify with the Waypost version that made it"
        )
    return engines.BY_VERSION[version]


def _failed(place: Place, error: Exception) -> Finding:
    logger.error("a place of an invoice cannot be compared", place=place.value, exc_info=error)
    what = f"it cannot be compared ({type(error).__name__}); the worker's log has the reason"
    return Finding(place, "invoice.not_comparable", what)


def _result(
    invoice: Invoice,
    again: Document | None,
    found: Sequence[Finding],
    outcomes: dict[Place, Outcome],
) -> Verification:
    made = document.digest(document.canonical(again)) if again else ""
    return Verification(document.digest(invoice.document), made, tuple(found), outcomes)


def recomputed(
    invoice: Invoice, stored: Document, cells: Iterable[UsageCell]
) -> tuple[Facts, Document]:
    """Return the pinned inputs, and the document that its engine makes from them and ``cells``.

    ``stored`` is the stored document of ``invoice``.

    Raises:
        EngineUnknown: this version of Waypost does not have the engine.
        NoSubscription: the tenant has no plan in the period any more.
    """
    manifest, engine = stored["manifest"], engine_of(stored)
    found = pinned_facts(invoice, stored)
    rated = engine.rate(found, rated_period.from_cells(cells, invoice.tenant_id))
    made = engine.build(
        found,
        rated,
        manifest=manifest,
        quality=stored["quality"],
        as_of=datetime.fromisoformat(stored["as_of"]),
    )
    made["usage"] = listed_usage(made["usage"], stored["usage"])
    if old := invoice.replaces:
        made = document.replacing(made, old.number or "", document.instant(old.issued_at) or "")
    # An issued document also has number, dates and credit.
    if invoice.number and invoice.issued_at and invoice.due_at:
        # The credit as it was before this invoice was booked, not as it is now.
        owner = (invoice.tenant_id, invoice.legal_entity, invoice.currency)
        entry = posting.entry_of(invoice.pk)
        before = credit.before(*owner, entry=entry)
        left = grants.available(*owner, entry=entry)
        issue = document.Issue(invoice.number, invoice.issued_at, invoice.due_at, before, left)
        return found, document.numbered(made, issue)
    return found, made


def pinned_facts(
    invoice: Invoice, stored: Document, corrected: Sequence[Correction] | None = None
) -> Facts:
    """Return all inputs except usage that ``stored``, the document of ``invoice``, pins.

    ``corrected`` are the corrections to make again; None: all that ``stored`` has.

    Raises:
        NoSubscription: the tenant has no plan in the period any more.
        Missing: the catalog version has no such seller.
    """
    manifest = stored["manifest"]
    frozen = facts.Frozen(
        stored["buyer"],
        pinned_seller(stored),
        stored["period"]["time_zone"],
        KnownLifetimes.from_plain(manifest["lived"]),
        billing_inputs.month_so_far(manifest["month_before"], stored["currency"]),
        corrections.pinned(manifest, stored["currency"]) if corrected is None else tuple(corrected),
        Terms.from_plain(manifest.get("terms", {})),
        TaxRule.from_plain(manifest["tax"]) if "tax" in manifest else None,
        manifest["engine_version"],
    )
    period = Period(invoice.starts_at, invoice.ends_at)
    return facts.gather(invoice.tenant, period, frozen=frozen)


def pinned_seller(stored: Document) -> PinnedSeller:
    """Return the seller of a stored document as the pinned catalog version defines it.

    Raises:
        Missing: the catalog version has no such seller, or it sells in other currencies.
    """
    manifest = stored["manifest"]
    key = manifest.get("legal_entity", "")
    return pinned_sellers.seller(manifest["catalogue_number"], key, stored["currency"])


def listed_usage(made: Sequence[Document], stored: Sequence[Document]) -> Sequence[Document]:
    """Return the usage statement ``made`` without unused meters that ``stored`` does not list.

    A statement lists every meter that existed when it was made. So a meter that was added to the
    registry later makes no difference to older invoices.
    """
    listed = {meter for space in stored for meter in space["meters"]}
    return [
        {
            **space,
            "meters": {
                meter: quantity
                for meter, quantity in space["meters"].items()
                if quantity or meter in listed
            },
        }
        for space in made
    ]
