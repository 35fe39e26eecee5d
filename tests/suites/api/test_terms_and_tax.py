"""Credit movements, ends of terms, sellers and tax over HTTP, and by the command."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from plans.catalog import selling
from plans.models import Commitment, PlanSubscription, SellerAssignment, TaxExemption
from tests.suites.api.conftest import DETAILS, Cast, problem
from tests.support.plans import term_rows, two_sellers

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(cast: Cast) -> APIClient:
    return cast.call("staff")


@pytest.fixture
def named(cast: Cast) -> dict[str, str]:
    """The rows of the tenant's terms, by the parameter of a path."""
    return term_rows.furnish(cast.tenant)


def at(cast: Cast, path: str) -> str:
    return f"/api/v1/staff/tenants/{cast.tenant.slug}{path}"


def test_each_movement_of_credit_is_listed(cast: Cast, staff: APIClient) -> None:
    for n in (1, 2):
        wish = {"kind": "prepaid", "amount_minor": 5000, "reference": f"bank-{n}", "reason": "x"}
        assert staff.post(at(cast, "/credits"), wish).status_code == 201

    owner = cast.call("owner")
    found = owner.get(cast.path("/credit-movements")).json()["items"]

    assert [(row["change_minor"], row["after_minor"]) for row in found] == [
        (5000, 10_000), (5000, 5000)]  # fmt: skip
    first = owner.get(cast.path("/credit-movements"), {"sort": "booked", "limit": "1"}).json()
    assert first["items"][0]["text"] == "Prepaid credit bank-1"
    assert first["next"]
    assert staff.get(at(cast, "/credit-movements")).json()["items"] == found
    benefits = owner.get(cast.path("/benefits")).json()
    assert benefits["balances"][0]["available_minor"] == 10_000
    assert (benefits["trial"], benefits["progress"]) == (None, None)
    assert cast.call("outsider").get(cast.path("/credit-movements")).status_code == 404


def test_staff_end_a_discount_a_commitment_and_a_coupon(
    cast: Cast, staff: APIClient, named: dict[str, str]
) -> None:
    discount = at(cast, f"/discounts/{named['discount']}/end")
    found = staff.post(discount, {"reason": "over", "at_once": True}).json()
    assert found["ends_at"] == found["starts_at"]
    commitment = at(cast, f"/commitments/{named['commitment']}/end")
    assert staff.post(commitment, {"reason": "over"}).json()["ends_at"]
    assert staff.post("/api/v1/staff/coupons/HALF/end", {"reason": "over"}).json()["expires_at"]

    owner = cast.call("owner")
    problem(owner.post(cast.path("/coupons"), {"code": "HALF"}), 409, "coupon.used_up")
    none = at(cast, "/discounts/none/end")
    problem(staff.post(none, {"reason": "x"}), 404, "discount.missing")
    none = at(cast, "/commitments/none/end")
    problem(staff.post(none, {"reason": "x"}), 404, "commitment.missing")
    late = {"reason": "x", "ends_at": "2199-01-01T00:00:00Z"}
    problem(staff.post(commitment, late), 422, "commitment.end")
    problem(owner.post(discount, {"reason": "x"}), 404, "missing")


@pytest.mark.parametrize(("given", "missing"), [("starts_at", "ends_at"), ("ends_at", "starts_at")])
def test_a_commitment_with_one_instant_is_refused(
    cast: Cast, staff: APIClient, given: str, missing: str
) -> None:
    wish = {"title": "Deal", "minimum_minor": 1, "reason": "x", given: "2199-01-01T00:00:00Z"}

    refused = staff.post(at(cast, "/commitments"), wish)

    problem(refused, 422, "request.invalid")
    assert list(refused.json()["fields"]) == [missing]
    assert not Commitment.objects.filter(tenant=cast.tenant).exists()


def test_an_instant_of_another_age_is_refused(cast: Cast, staff: APIClient) -> None:
    old, later = "0040-07-14T02:10:01Z", "2199-01-01T00:00:00Z"
    deal = {"title": "Deal", "minimum_minor": 1, "reason": "x", "starts_at": old, "ends_at": later}
    gift = {"kind": "promotional", "amount_minor": 1, "reference": "g", "reason": "x"}

    for path, body, name in (
        ("/commitments", deal, "starts_at"),
        ("/credits", {**gift, "expires_at": old}, "expires_at"),
    ):
        refused = staff.post(at(cast, path), body)
        problem(refused, 422, "request.invalid")
        assert list(refused.json()["fields"]) == [name]


def test_tax_details_of_a_tenant_are_kept_and_staff_alone_change_them(
    cast: Cast, staff: APIClient, named: dict[str, str]
) -> None:
    owner = cast.call("owner")
    answer = {"is_registered": False, "reference": "WAPI-1"}
    problem(staff.post(at(cast, "/tax-id-answers"), answer), 409, "tax_id.not_valid")
    details = {**DETAILS, "tax_id": term_rows.VAT_ID}
    owner.put(cast.path("/billing-details"), details, headers={"If-Match": "*"})
    assert staff.post(at(cast, "/tax-id-answers"), answer).status_code == 201

    found = owner.get(cast.path("/tax-details")).json()

    assert found["tax_id_status"] == "refused"
    assert [(row["status"], row["is_confirmed"]) for row in found["checks"]] == [
        ("refused", True), ("valid", False)]  # fmt: skip
    assert "confirmed_by" not in found["checks"][0]
    shown = staff.get(at(cast, "/tax-details")).json()
    assert shown["checks"][0]["confirmed_by"] == "user:staff@op.test"
    assert found["exemptions"][0]["certificate"] == "1"
    end = at(cast, f"/tax-exemptions/{named['exemption']}/end")
    problem(staff.post(end, {"ends_on": "2027-01-01", "reason": "x"}), 422, "tax_exemption.end")
    assert staff.post(end, {"ends_on": "2025-12-31", "reason": "x"}).status_code == 200
    assert TaxExemption.objects.get().ends_on is not None
    problem(owner.post(end, {"ends_on": "2025-12-31", "reason": "x"}), 404, "missing")


def test_sellers_are_offered_and_staff_change_a_tenants(cast: Cast, staff: APIClient) -> None:
    two_sellers.publish(key="waypost")
    PlanSubscription.objects.filter(tenant=cast.tenant).update(plan=two_sellers.newest_plan("team"))
    listed = cast.call("anonymous").get("/api/v1/sellers").json()["items"]
    assert [(row["legal_entity"], row["currencies"]) for row in listed] == [
        ("waypost", ["EUR", "CHF"]), ("wp-inc", ["USD"])]  # fmt: skip

    change = {"legal_entity": "wp-inc", "currency": "USD", "reason": "the contract"}
    assert staff.post(at(cast, "/seller"), change).json()["currency"] == "USD"
    wrong = {**change, "currency": "EUR"}
    problem(staff.post(at(cast, "/seller"), wrong), 422, "seller.unknown")
    owner = cast.call("owner")
    assert owner.get(cast.path("/seller")).json()["legal_entity"] == "wp-inc"
    assert owner.get(cast.path("/plan-subscription")).json()["currency"] == "USD"
    staff.post(at(cast, "/commitments"), {"title": "Deal", "minimum_minor": 1, "reason": "x"})
    problem(staff.post(at(cast, "/seller"), {**change, "legal_entity": "waypost",
                                             "currency": "EUR"}), 409, "seller.fixed")  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "value"),
    [
        ({}, "wp:EUR"),
        ({"currency": "CHF"}, "wp:CHF"),
        ({"legal_entity": "wp-inc"}, "wp-inc:USD"),
    ],
)
def test_a_new_tenant_chooses_its_seller(cast: Cast, wish: dict[str, Any], value: str) -> None:
    SellerAssignment.objects.all().delete()
    two_sellers.publish()

    made = cast.call("owner").post("/api/v1/tenants", {"organization": "Second", **wish})

    assert made.status_code == 201, made.content
    assert selling.of_tenant(made.json()["id"]).value == value
    refused = cast.call("owner").post(
        "/api/v1/tenants", {"organization": "Third", "legal_entity": "nobody"}
    )
    problem(refused, 422, "seller.unknown")
