"""Labels of spaces and addresses in the API and the command: change, filter, file, costs."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.core.models import AuditEvent
from plans.invoicing import month_costs
from plans.models import Invoice, PlanSubscription
from plans.rating import periods
from tenants.models import Address, AddressSpace
from tests.suites.api.conftest import Cast
from tests.support import command
from tests.support.command import Ended

Run = Callable[..., Ended]
SHOP = {"team": "shop", "cost.center": "42"}


@pytest.fixture
def run(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `waypost …` as somebody of the cast, the owner by default."""
    return command.as_people(cast.people, cast.tenant.slug, monkeypatch)


def paths(cast: Cast) -> list[str]:
    """Return the paths of a space and of an address in it."""
    space = cast.path("/address-spaces/main")
    return [space, f"{space}/addresses/orders/new"]


def send(client: APIClient, path: str, body: Any, tag: str = "*", method: str = "patch") -> Any:
    """Return the answer to a change with this ETag in If-Match."""
    return getattr(client, method)(path, body, format="json", headers={"If-Match": tag})


@pytest.mark.usefixtures("queue")
def test_labels_change_at_once_under_if_match_and_restart_nothing(
    cast: Cast, owner: APIClient
) -> None:
    for path in paths(cast):
        before = owner.get(path)
        changed = send(owner, path, {"labels": SHOP}, before.headers["ETag"])

        assert (changed.status_code, changed.json()["labels"]) == (200, SHOP)
        assert changed.json()["generation"] == before.json()["generation"]
        assert changed.headers["ETag"] == owner.get(path).headers["ETag"]
        # Somebody who read the row before must not take the label away again.
        late = send(owner, path, {"labels": {}}, before.headers["ETag"])
        assert (late.status_code, late.json()["code"]) == (412, "generation.changed")
        assert owner.get(path).json()["labels"] == SHOP
    kinds = AuditEvent.objects.filter(action__endswith=".labels").values_list("action", flat=True)
    assert sorted(kinds) == ["address.labels", "address_space.labels"]


@pytest.mark.usefixtures("queue")
def test_a_change_of_something_else_keeps_labels_and_takes_the_generation_alone(
    cast: Cast, owner: APIClient
) -> None:
    space, address = paths(cast)
    for path in (space, address):
        send(owner, path, {"labels": SHOP})
    shown = owner.get(address).json()
    spec = {"type": shown["type"], "plan": shown["plan"], "max_delivery_attempts": 3}
    tag = f'"{shown["generation"]}"'

    changed = send(owner, address, spec, tag, "put")

    assert changed.status_code == 202, changed.content
    assert owner.get(address).json()["labels"] == SHOP
    both = send(owner, address, {**spec, "labels": {}}, tag, "put")
    assert both.status_code == 412  # labels change too, so their state counts
    fresh = owner.get(address).headers["ETag"]
    assert send(owner, address, {**spec, "labels": {}}, fresh, "put").status_code == 200
    moved = send(owner, space, {"plan": "brokered-medium", "labels": {"team": "pay"}})
    assert moved.status_code == 202, moved.content
    assert owner.get(space).json()["labels"] == {"team": "pay"}


@pytest.mark.usefixtures("queue")
def test_lists_filter_by_label(cast: Cast, owner: APIClient) -> None:
    for path in paths(cast):
        send(owner, path, {"labels": SHOP})
        rows = path.rpartition("/orders")[0] or path.rpartition("/")[0]
        found = {
            wanted: len(owner.get(rows, {"label": wanted}).json()["items"])
            for wanted in ("team", "team=shop", "team=pay", "cost.center=42", "env")
        }
        assert found == {"team": 1, "team=shop": 1, "team=pay": 0, "cost.center=42": 1, "env": 0}


@pytest.mark.parametrize(
    "labels",
    [
        {"Team": "x"}, {"team": "a b"}, {"": "x"}, {"t": None}, ["team"], "team=shop",
        {f"k{n}": "" for n in range(17)},
    ],
)  # fmt: skip
@pytest.mark.usefixtures("queue")
def test_wrong_labels_are_refused_and_nothing_of_the_request_remains(
    cast: Cast, owner: APIClient, labels: Any
) -> None:
    for path in paths(cast):
        answer = send(owner, path, {"labels": labels})
        assert (answer.status_code, next(iter(answer.json()["fields"]))[:6]) == (422, "labels")
    body = {"name": "two", "type": "brokered", "plan": "brokered-small", "labels": labels}
    assert owner.post(cast.path("/address-spaces"), body, format="json").status_code == 422
    assert send(owner, paths(cast)[0], {}).status_code == 422
    assert AddressSpace.objects.count() == 1


@pytest.mark.usefixtures("queue")
def test_labels_are_for_those_who_change_spaces_of_this_tenant(cast: Cast) -> None:
    statuses = {
        name: [
            send(cast.call(name), path, {"labels": {"by": name}}).status_code
            for path in paths(cast)
        ]
        for name in ("developer", "viewer", "billing", "outsider", "other_token", "anonymous")
    }
    assert statuses == {
        "developer": [200, 200], "viewer": [403, 403], "billing": [403, 403],
        "outsider": [404, 404], "other_token": [404, 404], "anonymous": [401, 401],
    }  # fmt: skip
    assert set(AddressSpace.objects.values_list("labels__by", flat=True)) == {"developer"}


def test_the_command_creates_with_labels_changes_and_filters_them(run: Run) -> None:
    assert run("spaces", "create", "orders", "--label", "team=shop").code == 0
    made = run("addresses", "create", "orders", "jobs", "--label", "a.b-c=x", "--label", "env=")
    assert made.code == 0, made.stderr
    assert AddressSpace.objects.get().labels == {"team": "shop"}

    changed = run("spaces", "label", "orders", "env=prod", "team-")
    assert changed.stdout == "labels: env=prod\n"
    assert "env=prod" in run("spaces", "list").stdout
    run("addresses", "label", "orders", "jobs", "env=test")
    assert Address.objects.get(address="jobs").labels == {"a.b-c": "x", "env": "test"}
    names = ("addresses", "list", "orders", "-o", "name", "--filter")
    assert run(*names, "labels.a.b-c=x").stdout == "jobs\n"
    assert run(*names, "labels.env=prod").stdout == ""
    assert run(*names, "labels.nobody-has-it=1").stdout == ""
    assert run("spaces", "label", "orders", "team").error == "labels.invalid"
    assert run("spaces", "label", "orders", "Team=1").error == "labels.invalid"
    assert run("spaces", "label", "orders", "a=b", by="viewer").code == 3


def test_a_file_with_labels_is_applied_exported_and_in_sync(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "tenant.yaml"

    def apply(labels: Any, *options: str) -> Ended:
        entry = {"address": "jobs", "max_delivery_attempts": 3} | labels
        space = {"name": "orders", "addresses": [entry]} | labels
        path.write_text(yaml.safe_dump({"spaces": [space]}))
        return run("apply", "-f", str(path), *options)

    assert apply({"labels": {"team": "shop", "center": 42}}).code == 0
    changed = apply({"labels": {"team": "pay"}}, "--dry-run")
    assert "~ space orders: labels center=42 team=shop → team=pay" in changed.stdout
    assert apply({"labels": {"team": "pay"}}).code == 0

    for model in (AddressSpace, Address):
        assert set(model.objects.values_list("labels__team", flat=True)) == {"pay"}
    assert "in sync" in apply({}, "--dry-run").stdout  # absent labels are not touched
    exported = yaml.safe_load(run("export").stdout)["spaces"][0]
    assert exported["labels"] == exported["addresses"][0]["labels"] == {"team": "pay"}
    assert apply({"labels": {}}).code == 0
    assert "labels" not in yaml.safe_load(run("export").stdout)["spaces"][0]
    assert "tenant_file.invalid" == apply({"labels": {"a": True}}).error


@pytest.mark.usefixtures("used")
def test_costs_by_label_are_those_of_the_portal_and_add_up(
    cast: Cast, owner: APIClient, run: Run, space: AddressSpace
) -> None:
    month = timezone.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    PlanSubscription.objects.update(starts_at=month)
    bare = AddressSpace.objects.create(
        tenant=cast.tenant, name="bare", type=space.type, space_plan=space.space_plan
    )
    both = AddressSpace.objects.filter(pk__in=[space.pk, bare.pk])
    both.update(created_at=month - timedelta(days=1), active_since=month)
    AddressSpace.objects.filter(pk=space.pk).update(labels={"team": "shop"})
    url = cast.path("/usage/costs")

    by_space, by_label = (owner.get(url, query).json() for query in ({}, {"label": "team"}))

    assert [row["cause"] for row in by_space["items"]][-1] == "shared"
    assert {row["name"] for row in by_space["items"]} >= {"main", "bare"}
    assert [row["cause"] for row in by_label["items"]].count("unlabeled") == 1
    shop = next(row for row in by_label["items"] if row["cause"] == "label")
    main = next(row for row in by_space["items"] if row["name"] == "main")
    assert (shop["name"], shop["amount_minor"]) == ("team=shop", main["amount_minor"])
    for costs in (by_space, by_label):
        assert sum(row["amount_minor"] for row in costs["items"]) == costs["net_minor"]
        assert (costs["labels"], costs["is_running"]) == (["team"], True)
    table = run("usage", "costs", "--by", "team")
    assert table.code == 0, table.stderr
    assert "team=shop" in table.stdout
    assert json.loads(run("usage", "costs", "-o", "json").stdout)["divided_by"] == ""
    assert run("usage", "costs", "--by", "nobody").error == "labels.missing"
    empty = owner.get(url, {"month": "2020-01"}).json()
    assert (empty["currency"], empty["items"], empty["is_running"]) == (None, [], False)
    assert owner.get(url, {"month": "2020-13"}).status_code == 422
    assert [cast.call(name).get(url).status_code for name in ("billing", "viewer", "outsider")] == [
        200, 403, 404,
    ]  # fmt: skip


def test_costs_of_a_closed_month_are_those_of_its_invoice(cast: Cast, draft: Invoice) -> None:
    cast.tenant.refresh_from_db()
    month = periods.month_of(draft.starts_at, cast.tenant.billing_time_zone)
    costs = month_costs.of_month(cast.tenant, month, "", month.ends_at)
    assert costs is not None
    assert costs.preview is None
    assert costs.net_minor == draft.net_minor
