"""Prices by the API: drafts, schedule, back-tests, and the choice to follow a plan."""

import pytest

from plans.catalog import publishing
from plans.models import BackTest, CatalogDraft
from tests.suites.api.conftest import Cast
from workers.metering import back_tests

DRAFTS = "/api/v1/staff/catalog/drafts"
DEARER = publishing.default_yaml().replace("monthly_fee_minor: 4900", "monthly_fee_minor: 5900")

pytestmark = pytest.mark.django_db


def test_draft_back_test_and_publication(cast: Cast) -> None:
    staff = cast.call("staff")

    made = staff.post(DRAFTS, {"yaml": DEARER, "note": "dearer"}, format="json").json()
    draft = f"{DRAFTS}/{made['id']}"
    test = staff.post(f"{draft}/back-tests", {"months": 1}, format="json")
    back_tests.run(test.json()["id"])
    path = f"/api/v1/staff/back-tests/{test.json()['id']}"
    done, months = staff.get(path).json(), staff.get(f"{path}/months?plan=team").json()
    lines = staff.get(f"{path}.csv").content.decode().splitlines()
    at = {"effective_at": "2099-01-01T00:00:00Z", "at_period": False}
    scheduled = staff.post(f"{draft}/publish", at, format="json").json()
    second = staff.post("/api/v1/staff/catalog", {"yaml": DEARER}, format="json")
    canceled = staff.post(f"{draft}/cancel").json()
    published = staff.post("/api/v1/staff/catalog", {"yaml": DEARER}, format="json").json()
    versions = staff.get("/api/v1/staff/catalog/versions").json()["items"]

    assert (test.status_code, made["state"], made["number"]) == (202, "draft", None)
    assert made["differences"][0]["sentences"] == ["Monthly fee: 49.00 EUR → 59.00 EUR."]
    assert (done["state"], done["n_rated"], done["n_tenants"]) == ("succeeded", 2, 2)
    assert months["items"] == []  # nobody had a plan in the last month
    assert lines == [lines[0]]
    assert (scheduled["state"], scheduled["at_period"]) == ("scheduled", False)
    assert (second.status_code, second.json()["code"]) == (409, "catalog.already_scheduled")
    assert canceled["state"] == "canceled"
    assert (published["number"], len(versions)) == (2, 2)
    # The refused publication left no draft behind.
    assert CatalogDraft.objects.count() == 2


def test_publishing_later_schedules(cast: Cast) -> None:
    answer = cast.call("staff").post(
        "/api/v1/staff/catalog",
        {"yaml": DEARER, "effective_at": "2099-01-01T00:00:00Z"},
        format="json",
    )

    assert answer.json()["number"] is None
    draft = CatalogDraft.objects.get(pk=answer.json()["draft"])
    assert draft.state == CatalogDraft.State.SCHEDULED


def test_following_keeps_the_version_until_the_move(cast: Cast) -> None:
    path, owner = cast.path("/plan-subscription"), cast.call("owner")
    cast.call("staff").post("/api/v1/staff/catalog", {"yaml": DEARER}, format="json")

    wanted = {"plan": "business", "follows": True}
    body = owner.put(path, wanted, format="json", headers={"If-Match": "*"}).json()

    assert (body["plan"], body["version"], body["follows"]) == ("business", 1, True)


@pytest.mark.parametrize("caller", ["owner", "outsider", "viewer"])
def test_only_staff_see_drafts_and_back_tests(cast: Cast, caller: str) -> None:
    staff = cast.call("staff")
    made = staff.post(DRAFTS, {"yaml": DEARER}, format="json").json()
    staff.post(f"{DRAFTS}/{made['id']}/back-tests", {}, format="json")
    test = BackTest.objects.get()

    for path in (DRAFTS, f"{DRAFTS}/{made['id']}", f"/api/v1/staff/back-tests/{test.pk}.csv"):
        assert cast.call(caller).get(path).status_code == 404
