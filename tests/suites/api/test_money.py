"""Plans, billing details, usage, quotas, invoices: for tenants and for the operator."""

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.core.models import AuditEvent, Operation
from plans.catalog import publishing
from plans.models import Invoice, UsageRecord
from plans.usage import reading
from tenants.models import AddressSpace
from tests.suites.api.conftest import DETAILS, Cast, problem

NEW = {"If-None-Match": "*"}


def test_offers_are_public_and_the_newest(client: Client, catalog: None) -> None:
    keys = [row["key"] for row in client.get("/api/v1/plans").json()["items"]]
    spaces = client.get("/api/v1/space-plans").json()["items"]
    addresses = client.get("/api/v1/address-plans").json()["items"]

    assert keys == ["business", "free", "team"]
    assert {row["space_type"] for row in spaces} == {"standard", "brokered"}
    assert len({row["key"] for row in addresses}) == len(addresses) > 5


def test_plans_of_a_type_that_cannot_run_are_not_offered(
    client: Client, catalog: None, settings: Settings
) -> None:
    settings.STANDARD_SPACES_OFFERED = False

    for path in ("space-plans", "address-plans"):
        rows = client.get(f"/api/v1/{path}").json()["items"]
        assert {row["space_type"] for row in rows} == {"brokered"}


def test_billing_details_are_replaced_whole(cast: Cast, owner: APIClient) -> None:
    first = owner.put(cast.path("/billing-details"), {**DETAILS, "tax_id": "DE1"})
    second = owner.put(cast.path("/billing-details"), DETAILS)

    assert first.json()["tax_id"] == "DE1"
    assert second.json() == {**DETAILS, "tax_id": "", "billing_time_zone": "UTC"}
    assert owner.get(cast.path("/billing-details")).json() == second.json()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"billing_time_zone": "Mars/Olympus"}, "billing_details.invalid"),
        ({"billing_country": "Germany"}, "request.invalid"),
        ({"billing_email": "x"}, "request.invalid"),
    ],
)
def test_wrong_billing_details_change_nothing(
    cast: Cast, owner: APIClient, changes: dict[str, str], code: str
) -> None:
    problem(owner.put(cast.path("/billing-details"), {**DETAILS, **changes}), 422, code)

    assert owner.get(cast.path("/billing-details")).json()["billing_name"] == ""


def test_plan_can_change_unless_what_exists_does_not_fit(
    cast: Cast, owner: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    changed = owner.put(cast.path("/plan-subscription"), {"plan": "team"})
    make_spaces(cast.tenant, 10)
    refused = owner.put(cast.path("/plan-subscription"), {"plan": "free"})

    assert changed.json()["plan"] == "team"
    problem(refused, 403, "quota_exceeded")
    assert owner.get(cast.path("/plan-subscription")).json()["plan"] == "team"


def test_quotas_show_limit_and_use(
    cast: Cast, owner: APIClient, space: AddressSpace, used: list[reading.UsageCell]
) -> None:
    rows = {row["resource"]: row for row in owner.get(cast.path("/quotas")).json()["items"]}

    assert rows["spaces"]["used"] == 1
    assert rows["spaces"]["limit"] > 1
    assert rows["messages_per_month"]["used"] == 12
    assert rows["messages_per_month"]["as_of"]


def test_usage_is_the_tenants_own_with_names(
    cast: Cast, owner: APIClient, used: list[reading.UsageCell]
) -> None:
    body = owner.get(cast.path("/usage")).json()

    figures = {
        (row["space"], row["address"], row["meter"]): row["quantity"] for row in body["items"]
    }
    assert figures == {
        ("main", "orders", "messages_in"): 5,
        ("main", "orders", "messages_out"): 7,
    }
    assert (body["totals"]["messages_in"], body["totals"]["peak_connections"]) == (5, 0)
    assert body["as_of"]


def test_usage_csv_says_the_same(
    cast: Cast, owner: APIClient, used: list[reading.UsageCell]
) -> None:
    answer = owner.get(cast.path("/usage.csv"))

    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["space"], row["quantity"]) for row in rows] == [("main", "5"), ("main", "7")]
    assert "attachment" in answer["Content-Disposition"]
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_usage_csv_holds_no_formula(
    cast: Cast, owner: APIClient, used: list[reading.UsageCell], start: str
) -> None:
    AddressSpace.objects.update(name=f"{start}name()")
    UsageRecord.objects.update(address=Concat(Value(f"{start}cmd()"), F("address")))

    answer = owner.get(cast.path("/usage.csv"))

    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert {row["address"][: len(start) + 6] for row in rows} == {f"'{start}cmd()"}
    assert {row["space"] for row in rows} == {f"'{start}name()"}


def test_usage_window_is_half_open(
    cast: Cast, owner: APIClient, used: list[reading.UsageCell]
) -> None:
    begin = used[0].bucket_at
    window = {"starts_at": begin.isoformat(), "ends_at": (begin + timedelta(hours=1)).isoformat()}
    before = {"starts_at": (begin - timedelta(hours=1)).isoformat(), "ends_at": begin.isoformat()}

    assert owner.get(cast.path("/usage"), window).json()["totals"]["messages_in"] == 5
    assert owner.get(cast.path("/usage"), before).json()["totals"]["messages_in"] == 0


def test_series_steps_through_one_meter(
    cast: Cast, owner: APIClient, used: list[reading.UsageCell]
) -> None:
    body = owner.get(
        cast.path("/usage/series"), {"meter": "messages_out", "step": "day", "space": "main"}
    ).json()

    assert [point["quantity"] for point in body["items"]] == [7]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({}, 422),
        ({"meter": "magic"}, 422),
        ({"meter": "messages_in", "step": "year"}, 422),
        ({"meter": "messages_in", "space": "none"}, 404),
        ({"meter": "messages_in", "starts_at": "yesterday"}, 422),
        ({"meter": "messages_in", "starts_at": "0001-01-01T00:00:00Z"}, 422),
        ({"meter": "messages_in", "ends_at": "9999-12-31T23:59:59Z"}, 422),
        (
            {
                "meter": "messages_in",
                "starts_at": "2026-02-01T00:00:00Z",
                "ends_at": "2026-01-01T00:00:00Z",
            },
            422,
        ),
        ({"meter": "messages_in", "color": "red"}, 422),
    ],
)
def test_wrong_series_is_refused(
    cast: Cast, owner: APIClient, query: dict[str, Any], status: int
) -> None:
    answer = owner.get(cast.path("/usage/series"), query)

    assert answer.status_code == status, answer.content


def test_preview_prices_the_running_month(
    cast: Cast, owner: APIClient, used: list[reading.UsageCell]
) -> None:
    body = owner.get(cast.path("/invoices/preview")).json()

    assert body["document"]["number"] is None
    assert body["total_minor"] == body["document"]["total_minor"]
    assert body["credit_minor"] == 0
    assert not Invoice.objects.exists()


def test_invoice_goes_from_close_now_to_paid(
    cast: Cast, owner: APIClient, staff: APIClient, draft: Invoice
) -> None:
    path = f"/api/v1/staff/invoices/{draft.pk}"

    approved = staff.post(f"{path}/approve", {"reason": "looks right"})
    issued = staff.post(f"{path}/issue")
    again = staff.post(f"{path}/issue")
    total = issued.json()["total_minor"]
    payment = {"amount_minor": total, "reference": "bank-1", "received_on": "2026-01-02"}
    paid = staff.post(f"{path}/payments", payment)
    twice = staff.post(f"{path}/payments", payment)

    assert (approved.json()["state"], issued.json()["state"]) == ("approved", "issued")
    assert (issued.json()["credit_minor"], issued.json()["payable_minor"]) == (0, total)
    assert again.json()["number"] == issued.json()["number"]
    assert (paid.status_code, paid.json()) == (201, twice.json())
    assert len(staff.get(f"{path}/payments").json()["items"]) == 1
    number = issued.json()["number"]
    shown = owner.get(cast.path(f"/invoices/{number}")).json()
    assert (
        shown["state"],
        shown["document"]["number"],
        shown["tenant"] if "tenant" in shown else "",
    ) == (
        "paid",
        number,
        "",
    )
    assert AuditEvent.objects.get(action="invoice.approved").actor == "user:staff@op.test"


def test_invoice_is_found_by_number_and_id_and_lists_newest_first(
    cast: Cast, owner: APIClient, staff: APIClient, draft: Invoice
) -> None:
    by_id = owner.get(cast.path(f"/invoices/{draft.pk}")).json()
    listed = owner.get(cast.path("/invoices")).json()["items"]

    assert by_id["state"] == "draft"
    assert [row["id"] for row in listed] == [draft.pk]
    assert "document" not in listed[0]


def test_invoice_files_hold_the_lines(cast: Cast, owner: APIClient, draft: Invoice) -> None:
    as_csv = owner.get(cast.path(f"/invoices/{draft.pk}.csv"))
    as_pdf = owner.get(cast.path(f"/invoices/{draft.pk}.pdf"))
    as_json = owner.get(cast.path(f"/invoices/{draft.pk}.json"))

    assert as_json.content.decode() == draft.document
    assert as_json["Content-Type"] == "application/json"
    lines = list(csv.DictReader(io.StringIO(as_csv.content.decode())))
    assert len(lines) == draft.lines.count() > 0
    if as_pdf.status_code == 503:  # no Pango on this machine, and it says so
        problem(as_pdf, 503, "invoice.pdf_unavailable")
    else:
        assert as_pdf.content.startswith(b"%PDF-")
        assert as_pdf["Content-Type"] == "application/pdf"


def test_invoice_of_another_tenant_is_missing_by_every_name(
    cast: Cast, draft: Invoice, staff: APIClient
) -> None:
    staff.post(f"/api/v1/staff/invoices/{draft.pk}/approve", {})
    number = staff.post(f"/api/v1/staff/invoices/{draft.pk}/issue").json()["number"]
    outsider = cast.call("outsider")

    for name in (draft.pk, number, f"{number}.pdf", f"{number}.csv", f"{number}.json"):
        problem(outsider.get(f"/api/v1/tenants/other/invoices/{name}"), 404, "missing")
    problem(outsider.post(f"/api/v1/tenants/other/invoices/{number}/verify"), 404, "missing")


def test_verify_is_an_operation_that_runs_once(
    cast: Cast, owner: APIClient, draft: Invoice
) -> None:
    first = owner.post(cast.path(f"/invoices/{draft.pk}/verify"))
    second = owner.post(cast.path(f"/invoices/{draft.pk}/verify"))

    assert (first.status_code, first.json()["kind"]) == (202, "invoice.verify")
    assert first.json()["id"] == second.json()["id"]
    assert owner.get(first["Location"]).json()["state"] == "Running"


def test_open_invoice_has_nothing_to_verify_or_print(cast: Cast, owner: APIClient) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    row = Invoice.objects.create(
        tenant=cast.tenant, starts_at=now, ends_at=now + timedelta(days=31)
    )

    shown = owner.get(cast.path(f"/invoices/{row.pk}"))
    answers = [
        owner.post(cast.path(f"/invoices/{row.pk}/verify")),
        owner.get(cast.path(f"/invoices/{row.pk}.pdf")),
        owner.get(cast.path(f"/invoices/{row.pk}.csv")),
    ]

    assert shown.json()["document"] is None
    for answer in answers:
        problem(answer, 409, "invoice.no_document")
    assert not Operation.objects.filter(kind="invoice.verify").exists()


def test_states_that_do_not_follow_are_refused(staff: APIClient, draft: Invoice) -> None:
    path = f"/api/v1/staff/invoices/{draft.pk}"
    payment = {"amount_minor": 1, "reference": "r", "received_on": "2026-01-02"}

    problem(staff.post(f"{path}/issue"), 409, "invoice.wrong_state")
    problem(staff.post(f"{path}/payments", payment), 409, "invoice.wrong_state")


def test_close_now_of_nobody_is_missing(staff: APIClient) -> None:
    problem(staff.post("/api/v1/staff/invoices/close-now", {"tenant": "nobody"}), 404, "missing")


def test_closing_again_after_a_draft_is_another_operation(staff: APIClient, draft: Invoice) -> None:
    answer = staff.post(f"/api/v1/staff/invoices/{draft.pk}/close")

    assert (answer.status_code, answer.json()["kind"]) == (202, "invoice.close")


@pytest.mark.parametrize("state", ["lost", "draft\x00"])
def test_staff_are_told_of_states_that_there_are_not(staff: APIClient, state: str) -> None:
    answer = staff.get("/api/v1/staff/invoices", {"state": state})

    assert set(problem(answer, 422, "request.invalid")["fields"]) == {"state"}


def test_staff_filters_invoices_by_state(staff: APIClient, draft: Invoice) -> None:
    drafts = staff.get("/api/v1/staff/invoices", {"state": "draft"}).json()["items"]
    paid = staff.get("/api/v1/staff/invoices", {"state": "paid"}).json()["items"]

    assert [row["tenant"] for row in drafts] == ["acme"]
    assert paid == []


def test_override_raises_a_limit_until_it_is_dropped(
    cast: Cast, owner: APIClient, staff: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    make_spaces(cast.tenant, 200)
    wish = {"name": "x", "type": "brokered", "plan": "brokered-small"}
    path = "/api/v1/staff/tenants/acme/quotas"

    staff.put(f"{path}/brokers", {"amount": 500, "reason": "big launch"}, headers=NEW)
    answer = staff.put(f"{path}/spaces", {"amount": 201, "reason": "big launch"}, headers=NEW)
    made = owner.post(cast.path("/address-spaces"), wish)
    shown = staff.get(path).json()
    staff.delete(f"{path}/spaces")
    refused = owner.post(cast.path("/address-spaces"), {**wish, "name": "y"})

    assert answer.json()["set_by"] == "user:staff@op.test"
    assert made.status_code == 202
    assert {row["resource"]: row["amount"] for row in shown["overrides"]} == {
        "brokers": 500,
        "spaces": 201,
    }
    problem(refused, 403, "quota_exceeded")


@pytest.mark.parametrize(
    ("resource", "changes", "code"),
    [
        ("magic", {}, "quota_override.invalid"),
        ("spaces", {"amount": -1}, "request.invalid"),
        ("spaces", {"amount": 10**30}, "request.invalid"),
        ("spaces", {"reason": ""}, "request.invalid"),
        ("spaces", {"expires_at": "2020-01-01T00:00:00Z"}, "quota_override.invalid"),
    ],
)
def test_wrong_override_is_refused(
    cast: Cast, staff: APIClient, resource: str, changes: dict[str, Any], code: str
) -> None:
    body = {"amount": 5, "reason": "why", **changes}

    answer = staff.put(f"/api/v1/staff/tenants/acme/quotas/{resource}", body, headers=NEW)
    problem(answer, 422, code)


def test_catalog_dry_run_tells_and_publishes_nothing(cast: Cast, staff: APIClient) -> None:
    changed = publishing.default_yaml().replace("title: Business", "title: Enterprise")
    assert changed != publishing.default_yaml()

    dry = staff.post("/api/v1/staff/catalog", {"yaml": changed, "dry_run": True}).json()
    real = staff.post("/api/v1/staff/catalog", {"yaml": changed}).json()

    business = [row for row in dry["changes"] if row["key"] == "business"]
    assert (dry["number"], real["number"]) == (None, 2)
    assert [(row["kind"], row["n_subscribers"]) for row in business] == [("changed", 2)]


@pytest.mark.parametrize("text", ["- [", "plans: 3", "a: &a [*a]", "!!python/object:os.system {}"])
def test_malformed_catalog_is_refused(staff: APIClient, text: str) -> None:
    problem(staff.post("/api/v1/staff/catalog", {"yaml": text}), 422, "catalog.invalid")
