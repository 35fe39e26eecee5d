"""`waypost apply` and `export` against the API: diff, order, prune, repetition, failures, roles."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.utils import timezone

from controlplane.cli.apply import DRIFT
from controlplane.rest_client import Api, OperationFailed
from plans.models import QuotaOverride
from tenants.models import (
    Address,
    AddressSpace,
    ApiToken,
    MaintenanceWindow,
    MessagingUser,
    Role,
)
from tenants.notifications.models import AddressAlarm
from tests.suites.api.conftest import Cast
from tests.support import command
from tests.support.command import Ended

Apply = Callable[..., Ended]
FILE: dict[str, Any] = {
    "tenant": "acme",
    "spaces": [
        {
            "name": "orders",
            "addresses": [
                {"address": "mine", "type": "subscription", "topic": "news"},
                {"address": "jobs/new", "max_delivery_attempts": 3, "dead_letter": "lost"},
                {"address": "news", "type": "topic"},
                {"address": "lost", "type": "deadletter"},
            ],
            "users": [
                {
                    "name": "worker",
                    "permissions": [{"addresses": ["jobs/#"], "operations": ["recv"]}],
                    "password_env": "WORKER_PASSWORD",
                }
            ],
            "alarms": [{"address": "jobs/new", "metric": "depth", "threshold": 100}],
        }
    ],
    "maintenance_windows": [{"weekday": "sunday", "starts_at": "02:00", "minutes": 60}],
    "tokens": [{"name": "ci", "role": "developer"}],
}


@pytest.fixture
def run(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Apply:
    """Run `waypost …` as somebody of the cast, the owner by default."""
    monkeypatch.setenv("WORKER_PASSWORD", "a-long-enough-password")
    return command.as_people(cast.people, cast.tenant.slug, monkeypatch)


@pytest.fixture
def apply(run: Apply, tmp_path: Path) -> Apply:
    """Run `waypost apply` with a file of the given content."""
    path = tmp_path / "tenant.yaml"

    def apply(content: Any, *options: str, **more: Any) -> Ended:
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return run("apply", "-f", str(path), *options, **more)

    return apply


def changed(**spaces: Any) -> Any:
    """Return ``FILE`` with other values in its space."""
    return {**FILE, "spaces": [{**FILE["spaces"][0], **spaces}]}


def test_a_file_is_applied_once_and_then_in_sync(apply: Apply) -> None:
    dry = apply(FILE, "--dry-run")
    assert (dry.code, AddressSpace.objects.count()) == (DRIFT, 0)
    assert "+ address orders/jobs/new" in dry.stdout

    first = apply(FILE)

    assert (first.code, first.error) == (0, "")
    assert "token (shown once): wp_" in first.stdout
    assert "applied: 9 of 9" in first.stdout
    row = Address.objects.get(address="jobs/new")
    assert (row.settings.max_delivery_attempts, row.settings.dead_letter) == (3, "lost")
    assert Address.objects.count() == 4  # none that the file does not name
    assert MessagingUser.objects.get().permissions[0]["addresses"] == ["jobs/#"]
    assert (ApiToken.objects.get(name="ci").role, MaintenanceWindow.objects.count()) == (
        "developer",
        1,
    )
    generations = list(Address.objects.values_list("generation", flat=True))
    for again in (apply(FILE), apply(FILE, "--dry-run"), apply(FILE, "--prune")):
        assert (again.code, again.stdout) == (0, "in sync: nothing to change\n")
    assert list(Address.objects.values_list("generation", flat=True)) == generations


def test_drift_is_shown_and_removed(apply: Apply, run: Apply) -> None:
    apply(FILE)
    run("addresses", "update", "orders", "jobs/new", "--max-delivery-attempts", "9")
    run("users", "revoke", "orders", "worker", "--yes")
    run("windows", "remove", "sunday", "02:00", "--yes")

    shown = apply(FILE, "--dry-run", "-o", "json")
    table = apply(FILE, "--dry-run")

    assert shown.code == table.code == DRIFT
    assert {(one["verb"], one["kind"], one["name"]) for one in json.loads(shown.stdout)} == {
        ("update", "address", "orders/jobs/new"),
        ("create", "user", "orders/worker"),
        ("update", "windows", "of the tenant"),
    }
    assert "~ address orders/jobs/new: max_delivery_attempts 9 → 3" in table.stdout
    assert apply(FILE).code == 0
    assert apply(FILE, "--dry-run").code == 0


def test_prune_deletes_what_is_not_named_after_a_yes(apply: Apply, run: Apply) -> None:
    apply(FILE)
    run("spaces", "create", "old")
    run("tokens", "issue", "old")
    fewer = changed(addresses=FILE["spaces"][0]["addresses"][2:], users=[], alarms=[])

    assert apply(fewer).stdout == "in sync: nothing to change\n"
    assert apply(fewer, "--prune").error == "confirmation.missing"
    declined = apply(fewer, "--prune", answered="n\n")
    assert declined.code == 1
    assert "- address orders/mine" in declined.stderr
    assert Address.objects.filter(deleted_at=None).count() > 2

    assert apply(fewer, "--prune", answered="y\n").code == 0

    left = Address.objects.filter(deleted_at=None, space__deleted_at=None)
    assert {row.address for row in left} == {"news", "lost"}
    assert not MessagingUser.objects.filter(deleted_at=None)
    assert [row.name for row in AddressSpace.objects.filter(deleted_at=None)] == ["orders"]
    assert [row.name for row in ApiToken.objects.filter(revoked_at=None)] == ["ci"]
    assert apply(fewer, "--prune").code == 0


def test_alarms_follow_the_file(apply: Apply, run: Apply) -> None:
    apply(FILE)
    only = {"address": "jobs/new", "metric": "depth"}

    higher = changed(alarms=[{**only, "threshold": 200, "for_seconds": 60}])
    shown = apply(higher, "--dry-run").stdout
    assert apply(higher).code == 0

    limits = "clear_below 80 → 160, for_seconds 0 → 60, threshold 100 → 200"
    assert shown == f"~ alarm orders/jobs/new depth: {limits}\n"
    row = AddressAlarm.objects.get()
    assert (row.threshold, row.for_seconds, row.clear_below) == (200, 60, 160)
    assert apply(higher).stdout == "in sync: nothing to change\n"
    exported = yaml.safe_load(run("export").stdout)
    assert exported["spaces"][0]["alarms"] == [
        {**only, "threshold": 200, "for_seconds": 60, "clear_below": 160}
    ]
    assert apply(exported, "--dry-run").code == 0
    # With two alarms of one metric, nothing says which of them the file means.
    two = changed(alarms=[{**only, "threshold": 300}, {**only, "threshold": 400}])
    assert apply(two).code == 0
    assert AddressAlarm.objects.count() == 3
    assert apply(two, "--prune", "--yes").code == 0
    assert {row.threshold for row in AddressAlarm.objects.all()} == {300, 400}
    twice = changed(alarms=[{**only, "threshold": 300}] * 2)
    assert (apply(twice).code, apply(twice).error) == (2, "tenant_file.invalid")


def test_an_alarm_without_a_lower_value_gets_the_default(apply: Apply) -> None:
    only = {"address": "jobs/new", "metric": "depth", "threshold": 100}
    apply(changed(alarms=[{**only, "clear_below": 70}]))

    dropped = apply(changed(alarms=[only]))

    assert dropped.stdout.startswith("~ alarm orders/jobs/new depth: clear_below 70 → 80\n")
    assert AddressAlarm.objects.get().clear_below == 80


def test_a_server_that_lacks_a_setting_has_no_difference(
    apply: Apply, run: Apply, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(FILE)
    pages = Api.pages

    def older(api: Api, path: str, **query: Any) -> Iterator[Any]:
        for row in pages(api, path, **query):
            yield {name: value for name, value in row.items() if name != "expiry"}

    monkeypatch.setattr(Api, "pages", older)

    assert apply(FILE, "--dry-run").stdout == "in sync: nothing to change\n"
    assert "expiry" not in run("export").stdout
    addresses = [*FILE["spaces"][0]["addresses"][:1], {"address": "jobs/new", "expiry": "lost"}]
    assert "expiry (default) → lost" in apply(changed(addresses=addresses), "--dry-run").stdout


def test_the_order_of_operations_is_no_difference(apply: Apply) -> None:
    both = [{"addresses": ["jobs/#"], "operations": ["recv", "send"]}]
    content = changed(users=[{"name": "worker", "permissions": both}])

    assert apply(content).code == 0

    assert apply(content, "--dry-run").stdout == "in sync: nothing to change\n"


def test_a_token_keeps_its_limits_and_its_end(apply: Apply, run: Apply) -> None:
    ends = "2099-01-31T00:00:00Z"
    limits = ("--only", "space:orders", "--only", "send_messages", "--only", "view")
    run("tokens", "issue", "ci", "--role", "developer", "--expires", ends, *limits)
    run("tokens", "issue", "free", "--expires", "never")
    issued = ApiToken.objects.get(name="ci")
    exported = yaml.safe_load(run("export", "--tokens").stdout)
    assert apply(exported, "--dry-run").code == 0
    for name in ("ci", "free"):
        run("tokens", "revoke", str(ApiToken.objects.get(name=name).pk))

    assert apply(exported).code == 0

    made = ApiToken.objects.get(name="ci", revoked_at=None)
    assert made.pk != issued.pk
    assert made.spaces == issued.spaces == ["orders"]
    assert made.permissions == issued.permissions
    assert made.expires_at == issued.expires_at
    assert ApiToken.objects.get(name="free", revoked_at=None).expires_at is None
    # The order of limits is no difference; other limits are.
    ci = next(token for token in exported["tokens"] if token["name"] == "ci")
    turned = {**ci, "permissions": ci["permissions"][::-1]}
    assert apply({"tokens": [turned]}, "--dry-run").code == 0
    for part in ("spaces", "permissions"):
        wider = {name: value for name, value in ci.items() if name != part}
        refused = apply({"tokens": [wider]})
        assert (refused.code, refused.error) == (5, "apply.fixed_at_creation")


def test_the_end_of_a_token_may_be_a_date(apply: Apply) -> None:
    past = apply("tokens: [{name: late, expires: 2001-01-31}]")
    assert apply("tokens: [{name: soon, expires: 2099-01-31}]").code == 0

    assert (past.code, past.error) == (1, "expires.invalid")
    assert ApiToken.objects.get().expires_at == datetime(2099, 1, 31, tzinfo=UTC)


def test_a_file_may_come_from_stdin(run: Apply) -> None:
    text = yaml.safe_dump({"spaces": [{"name": "orders"}]})

    assert run("apply", "-f", "-", "--dry-run", answered=text).code == DRIFT


def test_parts_that_the_file_lacks_are_not_touched(apply: Apply) -> None:
    apply(FILE)

    for content in ("", {"spaces": [{"name": "orders"}]}):
        assert apply(content, "--prune", "--yes").stdout == "in sync: nothing to change\n"


def test_the_token_of_the_command_is_not_revoked(
    apply: Apply, cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    token = cast.token(cast.tenant)
    monkeypatch.setenv("WAYPOST_TOKEN", token)
    path = tmp_path / "file.yaml"
    path.write_text("tokens: []")

    ended = command.run("apply", "-f", str(path), "--prune", "--yes")

    assert ended.stdout == "in sync: nothing to change\n"
    assert ApiToken.objects.get().revoked_at is None


def test_a_failure_says_what_is_done_and_the_file_can_be_applied_again(
    apply: Apply, cast: Cast
) -> None:
    limit = QuotaOverride.objects.create(
        tenant=cast.tenant, resource="addresses", amount=2, reason="test", set_by="test"
    )

    refused = apply(FILE)

    assert (refused.code, refused.error) == (6, "quota_exceeded")
    assert "3 of 9 done; failed: + address orders/mine" in refused.stderr
    assert "+ space orders" in refused.stdout
    limit.delete()
    assert "applied: 6 of 6" in apply(FILE).stdout
    assert apply(FILE, "--dry-run").code == 0


def test_a_failed_operation_leaves_the_rest_for_the_next_time(
    apply: Apply, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = Api.wait

    def wait(api: Api, tenant: str, operation: Any, **more: Any) -> Any:
        if operation["subject_name"] == "news":
            raise OperationFailed("It is stuck.", code="reconcile.failed")
        return really(api, tenant, operation, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Api, "wait", wait)
        refused = apply(FILE, "-o", "json")

    assert (refused.code, refused.error) == (1, "reconcile.failed")
    rows = json.loads(refused.stdout)
    done = {row["name"] for row in rows if row["done"]}
    assert done == {"orders", "orders/lost"}
    assert apply(FILE).code == 0


@pytest.mark.parametrize(
    ("content", "code", "error"),
    [
        ("[", 2, "tenant_file.invalid"),
        ("- a", 2, "tenant_file.invalid"),
        ("space: []", 2, "tenant_file.invalid"),
        ("spaces: [{name: a}, {name: a}]", 2, "tenant_file.invalid"),
        ("spaces: [{name: a, addresses: [{address: b, max_byte: 1}]}]", 2, "tenant_file.invalid"),
        ("spaces: [{name: a, addresses: [{address: b, type: que}]}]", 2, "usage"),
        ("maintenance_windows: [{weekday: t, starts_at: '1:00', minutes: 60}]", 2,
         "tenant_file.invalid"),
        ("tenant: other", 5, "apply.other_tenant"),
    ],
)  # fmt: skip
def test_a_wrong_file_changes_nothing(apply: Apply, content: str, code: int, error: str) -> None:
    ended = apply(content)

    assert (ended.code, ended.error) == (code, error)
    assert not AddressSpace.objects.exists()


def test_what_can_never_change_is_refused_before_anything_changes(apply: Apply) -> None:
    apply(FILE)
    other = [{"address": "news", "type": "queue"}, {"address": "more"}]

    refused = apply(changed(addresses=other))

    assert (refused.code, refused.error) == (5, "apply.fixed_at_creation")
    assert not Address.objects.filter(address="more").exists()


def test_export_writes_a_file_that_is_in_sync(apply: Apply, run: Apply, tmp_path: Path) -> None:
    apply(FILE)
    run("spaces", "create", "plain")

    exported = run("export", "--tokens").stdout
    run("export", "--to", str(tmp_path / "out.yaml"))

    assert apply(exported, "--prune", "--dry-run").stdout == "in sync: nothing to change\n"
    found = yaml.safe_load(exported)
    assert [space["name"] for space in found["spaces"]] == ["orders", "plain"]
    assert [(token["name"], token["role"]) for token in found["tokens"]] == [("ci", "developer")]
    assert "tokens" not in yaml.safe_load((tmp_path / "out.yaml").read_text())


def test_members_without_the_right_and_outsiders_change_nothing(apply: Apply, run: Apply) -> None:
    content = {name: value for name, value in FILE.items() if name != "tokens"}

    assert apply(content, "--dry-run", by=Role.VIEWER).code == DRIFT
    assert apply(content, by=Role.VIEWER).code == 3
    assert apply(content, by="outsider").code == 4
    assert run("export", by="outsider").code == 4
    assert not AddressSpace.objects.exists()


@pytest.mark.parametrize("model", [Address, MessagingUser, AddressSpace])
def test_what_is_being_deleted_is_not_in_sync(apply: Apply, model: Any) -> None:
    """It would be missing in a moment, and nobody would know."""
    apply(FILE)
    going = model.objects.filter(deleted_at__isnull=True).order_by("id").first()
    model.objects.filter(pk=going.pk).update(
        phase="Terminating", deletion_requested_at=timezone.now()
    )

    refused = apply(FILE, "--dry-run")

    assert (refused.code, refused.error) == (5, "apply.being_deleted")
