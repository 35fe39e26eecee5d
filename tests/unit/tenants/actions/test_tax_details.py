"""Checks of tax ids and certificates of exemption, and what they do to an invoice."""

import json
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from controlplane.core.errors import Invalid, Missing
from controlplane.core.models import AuditEvent
from plans.catalog import parsing, publishing
from plans.invoicing import document, rendering
from plans.models import TaxIdCheck
from tenants.account_rules import BillingDetails
from tenants.actions import tax_details, tenants
from tenants.actions.tax_details import Exemption, TaxIdNotValid
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db
APRIL = date(2026, 4, 1), date(2026, 4, 30)
FRENCH = "FR40303265045"


def under_vat() -> None:
    made = json.loads(rows.CATALOG)
    made["seller"]["tax_regime"] = "vat"
    publishing.publish(parsing.parse(json.dumps(made)), by=STAFF)


def taxed(owner: Tenant) -> dict[str, Any]:
    found = document.loaded(rows.drafted(owner).document)
    (tax,) = found["taxes"]
    assert tax.get("note", "") in rendering.html(found)
    return dict(tax)


def saved(owner: Tenant, **changes: str) -> Tenant:
    details = {
        "billing_name": "Example Ltd", "billing_email": "bills@example.org",
        "billing_address": "Rue 1", "billing_country": "FR", "tax_id": FRENCH, **changes,
    }  # fmt: skip
    return tenants.update_billing(tenant=owner, details=BillingDetails(**details), by=STAFF)


def test_the_form_is_checked_when_the_id_or_the_country_changes() -> None:
    owner = rows.tenant()

    saved(owner)
    saved(owner, billing_name="Example plc")
    saved(owner, tax_id="FR1")

    checks = TaxIdCheck.objects.order_by("pk").values_list("tax_id", "status", "confirmed_by")
    assert list(checks) == [(FRENCH, "valid", ""), ("FR1", "invalid", "")]
    with pytest.raises(IntegrityError), transaction.atomic():
        TaxIdCheck.objects.update(status="valid")


def test_an_id_that_the_register_does_not_know_pays_vat_until_it_changes() -> None:
    owner = saved(rows.tenant())
    under_vat()
    tax_details.record_answer(tenant=owner, is_registered=False, reference="W1", by=STAFF)
    owner = saved(owner, billing_name="Example plc")

    assert owner.tax_id_status == "refused"
    assert taxed(owner)["percent"] == "20"
    event = AuditEvent.objects.get(action="tenant.confirm_tax_id")
    assert event.after["reference"] == "W1"
    owner.refresh_from_db()
    found = tax_details.record_answer(tenant=owner, is_registered=True, reference="W2", by=STAFF)
    assert (found.status, found.confirmed_by) == ("valid", STAFF.name)


def test_a_registered_id_is_reverse_charged() -> None:
    owner = saved(rows.tenant())
    under_vat()
    tax_details.record_answer(tenant=owner, is_registered=True, reference="W1", by=STAFF)

    assert taxed(owner)["category"] == "AE"


def test_only_an_id_of_a_valid_form_can_be_in_the_register() -> None:
    owner = rows.tenant()

    with pytest.raises(TaxIdNotValid):
        tax_details.record_answer(tenant=owner, is_registered=True, reference="x", by=STAFF)


@pytest.mark.parametrize("category", ["E", "Z"])
@pytest.mark.parametrize("regime", ["flat", "vat"])
def test_a_certificate_counts_under_both_regimes_and_is_printed(category: str, regime: str) -> None:
    owner = rows.tenant(billing_country="DE")
    if regime == "vat":
        under_vat()
    wanted = Exemption(category, "2026-0815", "Section 4 no. 21 UStG", *APRIL)
    tax_details.set_exemption(tenant=owner, wanted=wanted, by=STAFF)

    found = taxed(owner)

    assert (found["percent"], found["tax_minor"], found["category"]) == ("0", 0, category)
    assert found["note"] == "Section 4 no. 21 UStG (certificate 2026-0815)"
    assert AuditEvent.objects.get(action="tax_exemption.set").after["certificate"] == "2026-0815"


@pytest.mark.parametrize(
    ("days", "percent"),
    [
        ((APRIL[1], None), "0"),
        ((date(2000, 1, 1), APRIL[1]), "0"),
        ((APRIL[0], APRIL[1] - timedelta(days=1)), "19"),
        ((APRIL[1] + timedelta(days=1), None), "19"),
    ],
)
def test_the_last_day_of_the_period_decides(days: tuple[date, date | None], percent: str) -> None:
    owner = rows.tenant()
    wanted = Exemption("E", "1", "Section 4", *days)
    tax_details.set_exemption(tenant=owner, wanted=wanted, by=STAFF)

    assert taxed(owner)["percent"] == percent


def test_a_certificate_ends_or_never_counts() -> None:
    owner = rows.tenant()
    wanted = Exemption("E", "1", "Section 4", *APRIL)
    row = tax_details.set_exemption(tenant=owner, wanted=wanted, by=STAFF)
    never = APRIL[0] - timedelta(days=1)

    for wrong in (never - timedelta(days=1), APRIL[1] + timedelta(days=1)):
        with pytest.raises(Invalid):
            tax_details.end_exemption(
                tenant=owner, exemption_id=row.pk, ends_on=wrong, reason="x", by=STAFF
            )
    for _ in range(2):
        tax_details.end_exemption(
            tenant=owner, exemption_id=row.pk, ends_on=never, reason="x", by=STAFF
        )
    assert taxed(owner)["percent"] == "19"
    assert AuditEvent.objects.filter(action="tax_exemption.end").count() == 1
    with pytest.raises(Missing):
        tax_details.end_exemption(
            tenant=rows.tenant(), exemption_id=row.pk, ends_on=never, reason="x", by=STAFF
        )


def test_a_wrong_certificate_is_refused_with_its_fields() -> None:
    wrong = Exemption("S", " ", "", APRIL[1], APRIL[0])

    with pytest.raises(Invalid) as refused:
        tax_details.set_exemption(tenant=rows.tenant(), wanted=wrong, by=STAFF)

    assert set(refused.value.fields) == {"category", "certificate", "text", "ends_on"}
