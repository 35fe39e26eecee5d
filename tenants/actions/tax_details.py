"""Keeps what decides a tenant's tax: checks of its tax id, and certificates of exemption.

The form of a tax id is checked whenever it or the billing country changes. Staff ask the register
of VAT ids (VIES) and record its answer; they also set certificates. Drafts keep the tax they were
closed with: close a draft again to change it.
"""

from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from plans.models import TaxExemption, TaxIdCheck
from plans.rating import vat_ids
from plans.rating.vat_ids import Status
from tenants import admission
from tenants.models import Tenant


class TaxIdNotValid(Conflict):
    """The tenant's tax id has no valid form, so no register can know it."""

    code = "tax_id.not_valid"


@dataclass(frozen=True)
class Exemption:
    """A certificate: ``text`` says by which law nothing is charged, and invoices print it.

    It counts for services completed from ``starts_on`` to ``ends_on``, both included; None: no end.
    """

    category: str
    certificate: str
    text: str
    starts_on: date
    ends_on: date | None = None


def check_form(tenant: Tenant, now: datetime) -> None:
    """Check the form of the tax id in the unsaved ``tenant``; set its status and store the check.

    Nothing changes if neither the id nor the country changed since the last check: what staff
    recorded of the register stays. Call it in the transaction that saves ``tenant``.
    """
    last = TaxIdCheck.objects.filter(tenant=tenant).order_by("-pk").first()
    if last and (last.tax_id, last.country) == (tenant.tax_id, tenant.billing_country):
        return
    tenant.tax_id_status = vat_ids.check(tenant.billing_country, tenant.tax_id).value
    _store(tenant, now)


def record_answer(
    *, tenant: Tenant, is_registered: bool, reference: str, by: Actor, now: datetime | None = None
) -> TaxIdCheck:
    """Record what the register answered about the tenant's VAT id.

    ``reference`` identifies the answer. If the register does not know the id, invoices charge VAT
    from the next close on.

    Raises:
        TaxIdNotValid: the id is missing or its form is wrong.
    """
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        if vat_ids.check(locked.billing_country, locked.tax_id) is not Status.VALID:
            raise TaxIdNotValid("Only a tax id whose form is valid can be in the register.")
        before = {"tax_id_status": locked.tax_id_status}
        locked.tax_id_status = (Status.VALID if is_registered else Status.REFUSED).value
        locked.save(update_fields=["tax_id_status", "updated_at"])
        row = _store(locked, now or timezone.now(), by.name, reference)
        after = {"tax_id_status": row.status, "tax_id": row.tax_id, "reference": reference}
        subject = audit.Subject("tenant", locked.pk, locked.name, locked.pk)
        audit.record(by, "tenant.confirm_tax_id", subject, before=before, after=after)
    return row


def set_exemption(*, tenant: Tenant, wanted: Exemption, by: Actor) -> TaxExemption:
    """Store a certificate of the tenant. On a day with several, the one that began last counts.

    Raises:
        Invalid: a text is empty, there is no such category, or the end is before the beginning.
    """
    wrong: dict[str, list[str]] = {}
    for name in ("certificate", "text"):
        if not getattr(wanted, name).strip():
            wrong[name] = ["It must not be empty: invoices print it."]
    if wanted.category not in TaxExemption.Category.values:
        wrong["category"] = ["E (exempt) or Z (zero rate)."]
    if wanted.ends_on is not None and wanted.ends_on < wanted.starts_on:
        wrong["ends_on"] = ["Not before the first day."]
    if wrong:
        raise Invalid(
            f"The exemption is not valid: {', '.join(sorted(wrong))}.",
            code="tax_exemption.invalid",
            **wrong,
        )
    with transaction.atomic():
        row = TaxExemption.objects.create(tenant=tenant, set_by=by.name, **asdict(wanted))
        subject = audit.Subject("tax_exemption", row.pk, row.certificate, row.tenant_id)
        audit.record(by, "tax_exemption.set", subject, after=_shown(row))
    return row


def end_exemption(
    *, tenant: Tenant, exemption_id: str, ends_on: date, reason: str, by: Actor
) -> TaxExemption:
    """Make ``ends_on`` the last day of a certificate.

    If ``ends_on`` is the day before its first day, the certificate never counts. Idempotent. Issued
    invoices do not change.

    Raises:
        Missing: the tenant has no such certificate.
        Invalid: ``ends_on`` is earlier than the day before the first, or later than the last day.
    """
    with transaction.atomic():
        rows = TaxExemption.objects.select_for_update()
        row = rows.filter(tenant=tenant, pk=exemption_id).first()
        if row is None:
            raise Missing("There is no such exemption.", code="tax_exemption.missing")
        if row.ends_on == ends_on:
            return row
        first = row.starts_on - timedelta(days=1)
        if ends_on < first or (row.ends_on is not None and ends_on > row.ends_on):
            raise Invalid(
                "End an exemption between its first and its last day.",
                code="tax_exemption.end",
                ends_on=[f"From {first} on, and not after its last day."],
            )
        before = _shown(row)
        row.ends_on = ends_on
        row.save(update_fields=["ends_on", "updated_at"])
        subject = audit.Subject("tax_exemption", row.pk, row.certificate, row.tenant_id)
        after = _shown(row)
        audit.record(by, "tax_exemption.end", subject, before=before, after=after, reason=reason)
    return row


def _store(tenant: Tenant, now: datetime, by: str = "", reference: str = "") -> TaxIdCheck:
    return TaxIdCheck.objects.create(
        tenant=tenant,
        tax_id=tenant.tax_id,
        country=tenant.billing_country,
        status=tenant.tax_id_status,
        checked_at=now,
        confirmed_by=by,
        reference=reference,
    )


def _shown(row: TaxExemption) -> dict[str, Any]:
    return {
        "category": row.category,
        "certificate": row.certificate,
        "starts_on": row.starts_on.isoformat(),
        "ends_on": row.ends_on.isoformat() if row.ends_on else None,
    }
