"""The lists of `waypost` against the API: formats, filters, contexts, staff, roles."""

import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.utils import timezone
from typer.testing import CliRunner

from controlplane.cli import login_store, output
from controlplane.cli.app import app
from plans.models import PlanSubscription
from tenants.models import (
    Address,
    AddressSpace,
    ApiToken,
    MaintenanceWindow,
    MessagingUser,
    Role,
)
from tenants.permissions import NOT_FOR_LIMITED_TOKENS, Permission
from tests.suites.api.conftest import Cast
from tests.support import command
from tests.support.command import Ended
from tests.support.notifications import mails

Run = Callable[..., Ended]


@pytest.fixture
def run(cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run `waypost …` as somebody of the cast, the owner by default."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return command.as_people(cast.people, cast.tenant.slug, monkeypatch)


@pytest.mark.usefixtures("queue")
def test_every_format_of_a_list(run: Run, space: AddressSpace) -> None:
    table = run("spaces", "list").stdout
    wide = run("spaces", "list", "-o", "wide").stdout
    names = run("spaces", "list", "-o", "name").stdout
    plain = json.loads(run("spaces", "list", "-o", "json").stdout)
    document = yaml.safe_load(run("spaces", "list", "-o", "yaml").stdout)

    assert table.splitlines()[0].split() == [
        *("name", "type", "plan", "phase", "send", "withdrawn", "labels"),
    ]
    assert space.pk not in table
    assert space.pk in wide
    assert names == "main\n"
    assert [row["name"] for row in plain] == ["main"]
    assert document == plain


@pytest.mark.usefixtures("queue")
def test_a_filter_selects_rows_by_any_field(run: Run) -> None:
    run("addresses", "create", "main", "jobs")
    names = ("addresses", "list", "main", "-o", "name")

    assert run(*names).stdout.split() == ["jobs", "orders/new"]
    assert run(*names, "--filter", "phase=Active").stdout.split() == ["jobs"]
    assert run(*names, "--filter", "phase!=Active").stdout.split() == ["orders/new"]
    assert run(*names, "--filter", "address~NEW").stdout.split() == ["orders/new"]
    assert run(*names, "--filter", "generation>0", "--filter", "address=jobs").stdout == "jobs\n"
    assert run(*names, "--filter", "generation>5").stdout == ""
    assert run(*names, "--filter", "live.depth>0").stdout == ""
    assert run(*names, "--filter", "phse=Active").error == "filter.invalid"
    assert run(*names, "--filter", "phase").error == "filter.invalid"


def test_plans_follow_from_type_and_space(run: Run) -> None:
    assert run("spaces", "create", "orders").code == 0
    assert run("addresses", "create", "orders", "jobs").code == 0
    assert run("addresses", "create", "orders", "news", "--type", "topic").code == 0

    made = {row.address: row.address_plan.key for row in Address.objects.all()}
    assert AddressSpace.objects.get().space_plan.key == "brokered-small"
    assert made["jobs"] == "brokered-small-queue"
    assert made["news"] == "brokered-small-topic"
    refused = run("addresses", "create", "orders", "x", "--type", "anycast")
    assert (refused.code, refused.error) == (4, "plan.none")


def test_the_cheapest_plan_is_one_that_the_tenant_may_use(run: Run, cast: Cast) -> None:
    row = PlanSubscription.objects.get(tenant=cast.tenant, ends_at__isnull=True).plan
    kept = {
        part: [key for key in row.definition[part] if key not in cheapest]
        for part, cheapest in (
            ("space_plans", ["brokered-small"]),
            ("address_plans", ["brokered-small-queue", "brokered-small-topic"]),
        )
    }
    type(row).objects.filter(pk=row.pk).update(definition={**row.definition, **kept})

    assert run("spaces", "create", "orders").code == 0
    assert AddressSpace.objects.get().space_plan.key == "brokered-medium"
    assert run("addresses", "create", "orders", "jobs").code == 0
    assert Address.objects.get(address="jobs").address_plan.key != "brokered-small-queue"
    none = {**row.definition, "space_plans": [], "address_plans": []}
    type(row).objects.filter(pk=row.pk).update(definition=none)
    refused = run("spaces", "create", "more")
    assert (refused.code, refused.error) == (3, "plan.not_included")


def test_plans_list_with_their_prices(run: Run) -> None:
    rows = json.loads(run("plans", "addresses", "--type", "queue", "-o", "json").stdout)
    table = run("plans", "spaces").stdout

    assert {row["address_type"] for row in rows} == {"queue"}
    assert "brokered-small" in table
    assert "0.0" in table
    assert "business" in run("plans", "list", "-o", "name").stdout.split()
    assert "EUR" in run("plans", "list").stdout


def test_a_token_expires_after_ninety_days_unless_told_otherwise(run: Run) -> None:
    def issued(*options: str) -> Any:
        name = f"ci{ApiToken.objects.count()}"
        answer = json.loads(run("tokens", "issue", name, *options, "-o", "json").stdout)
        return answer["expires_at"] and datetime.fromisoformat(answer["expires_at"])

    now = datetime.now(UTC)
    assert now + timedelta(days=90) <= issued() <= now + timedelta(days=90, minutes=5)
    assert issued("--expires", "never") is None
    assert issued("--expires", "2199-01-31") == datetime(2199, 1, 31, tzinfo=UTC)
    count = ApiToken.objects.count()
    assert run("tokens", "issue", "ci", "--expires", "soon").error == "expires.invalid"
    assert run("tokens", "issue", "ci", "--expires", "2020-01-01").error == "expires.invalid"
    assert ApiToken.objects.count() == count


def test_a_token_is_revoked_by_its_id_or_its_name(run: Run) -> None:
    run("tokens", "issue", "by-name")
    run("tokens", "issue", "by-id")
    row = ApiToken.objects.get(name="by-id")

    assert run("tokens", "revoke", "by-name").code == 0
    assert run("tokens", "revoke", str(row.pk)).code == 0
    assert not ApiToken.objects.filter(name__startswith="by-", revoked_at=None).exists()
    assert run("tokens", "revoke", "nope").error == "api_token.missing"


@pytest.mark.usefixtures("space")
def test_a_token_of_a_space_that_does_not_exist_comes_with_a_warning(run: Run) -> None:
    known = run("tokens", "issue", "a", "--only", "space:main")
    unknown = run("tokens", "issue", "b", "--only", "space:nope", "--only", "space:main")

    assert "there is no space" not in known.stderr
    assert "there is no space nope yet" in " ".join(unknown.stderr.split())
    assert ApiToken.objects.filter(name="b").exists()


def test_the_help_lists_the_permissions_to_which_a_token_can_be_limited() -> None:
    said = " ".join(command.run("tokens", "issue", "--help").stdout.replace("│", " ").split())

    assert [name for name in Permission if (name in NOT_FOR_LIMITED_TOKENS) == (name in said)] == []


@pytest.mark.usefixtures("queue")
def test_quotas_audit_and_operations(run: Run) -> None:
    quotas = json.loads(run("quotas", "list", "-o", "json").stdout)
    audit = json.loads(run("audit", "list", "--limit", "2", "-o", "json").stdout)
    operation = json.loads(run("operations", "list", "-o", "json").stdout)[0]
    ended = json.loads(run("operations", "wait", operation["id"], "-o", "json").stdout)

    assert {"spaces"} <= {row["resource"] for row in quotas}
    assert [row["action"] for row in audit] == ["address.create", "address_space.create"]
    assert (operation["kind"], operation["state"]) == ("address.create", "Running")
    assert ended["state"] == "Succeeded"
    assert run("audit", "list", by=Role.VIEWER).code == 3
    assert run("operations", "show", operation["id"], by="outsider").code == 4


def test_windows_are_added_and_removed_one_at_a_time(run: Run) -> None:
    run("windows", "add", "sunday", "2:00", "60")
    run("windows", "add", "wed", "23:30")
    twice = run("windows", "add", "sunday", "02:00", "90", "-o", "json")

    assert json.loads(twice.stdout) == [
        {"weekday": "wednesday", "starts_at": "23:30", "minutes": 120},
        {"weekday": "sunday", "starts_at": "02:00", "minutes": 90},
    ]
    assert run("windows", "remove", "sun", "02:00").error == "confirmation.missing"
    assert run("windows", "remove", "sun", "02:00", "--yes").code == 0
    assert MaintenanceWindow.objects.get().weekday == 2
    assert "wednesday" in run("windows", "list").stdout
    assert run("windows", "add", "t", "02:00").error == "window.day"
    assert run("windows", "add", "sunday", "25:00").error == "window.time"
    assert run("windows", "add", "sunday", "03:00", by=Role.VIEWER).code == 3
    assert run("windows", "list", by="outsider").code == 4


def test_the_budget_is_set_shown_and_removed(run: Run) -> None:
    budget = ("notifications", "budget")

    made = json.loads(run(*budget, "12500", "-o", "json").stdout)
    table = run(*budget)

    assert made == {"budget_minor": 12500, "currency": "EUR"}
    assert "125.00 EUR" in table.stdout
    assert run(*budget, "100", "--none").code == 2
    assert json.loads(run(*budget, "--none", "-o", "json").stdout)["budget_minor"] is None
    assert run(*budget, "100", by=Role.VIEWER).code == 3


def test_operators_override_quotas_and_others_may_not(run: Run) -> None:
    quotas = ("staff", "quotas")
    put = (*quotas, "set", "acme", "spaces", "7", "--reason", "launch", "--expires", "30d")

    assert run(*put, by="owner").code == 4  # the API shows the operators' area to nobody else
    assert run(*put, by="staff").code == 0
    (row,) = [
        row
        for row in json.loads(run(*quotas, "list", "acme", "-o", "json", by="staff").stdout)
        if row["resource"] == "spaces"
    ]
    assert (row["limit"], row["override"], row["reason"]) == (7, 7, "launch")
    assert run(*quotas, "clear", "acme", "spaces", by="staff").error == "confirmation.missing"
    assert run(*quotas, "clear", "acme", "spaces", "--yes", by="staff").code == 0
    assert "launch" not in run(*quotas, "list", "acme", by="staff").stdout
    listed = run("staff", "tenants", "list", "--search", "acm", "-o", "name", by="staff")
    assert listed.stdout == "acme\n"
    assert run("staff", "invoices", "list", by="staff").code == 0
    assert run("staff", "volumes", "list", by="staff").code == 0


def test_whoami_and_open(run: Run) -> None:
    whoami = json.loads(run("whoami", "-o", "json").stdout)

    assert (whoami["name"], whoami["kind"]) == ("owner@a.test", "person")
    assert whoami["tenants"] == [{"slug": "acme", "name": "Acme", "role": "owner"}]
    assert "acme (owner)" in run("whoami").stdout
    assert run("open", "main").stdout == "http://testserver/t/acme/spaces/main/\n"


def _completed(typed: str) -> list[str]:
    """Return what bash gets for the last word of ``typed``."""
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
    environment = {"_WAYPOST_COMPLETE": "complete_bash", **words}
    ended = CliRunner().invoke(app, prog_name="waypost", env=environment)
    return ended.stdout.split()


@pytest.mark.usefixtures("queue")
def test_the_shell_completes_names(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("users", "create", "main", "worker")

    assert _completed("waypost spaces show m") == ["main"]
    assert _completed("waypost spaces show x") == []
    assert _completed("waypost addresses show main ") == ["orders/new"]
    assert _completed("waypost receive main ord") == ["orders/new"]
    assert _completed("waypost users revoke main ") == ["worker"]
    assert _completed("waypost users revoke none ") == []
    assert "operations" in _completed("waypost o")
    monkeypatch.delenv("WAYPOST_TOKEN")
    assert _completed("waypost spaces show m") == []


def test_members_come_change_and_go(run: Run, cast: Cast) -> None:
    outsider = cast.people["outsider"].email

    assert run("invitations", "send", outsider, "--role", "viewer").code == 0
    secret = mails.newest_link("/invitations/").rpartition("/")[2]
    assert outsider in run("invitations", "list").stdout
    cast.call("outsider").post("/api/v1/invitations/accept", {"token": secret})
    assert run("members", "role", outsider, "developer").code == 0
    shown = run("members", "list", "-o", "name", "--filter", "role=developer").stdout.split()
    assert outsider in shown
    assert run("members", "role", outsider, "owner", by=Role.DEVELOPER).code == 3
    assert run("members", "remove", outsider).error == "confirmation.missing"
    assert run("members", "remove", outsider, "--yes").code == 0
    assert outsider not in run("members", "list").stdout
    assert run("members", "list", by="outsider").code == 4


@pytest.mark.usefixtures("queue")
def test_a_user_gets_other_rights_or_another_password(run: Run) -> None:
    run("users", "create", "main", "worker", "--recv", "orders/#")
    row = MessagingUser.objects.get()
    before = (row.permissions, row.verifiers)

    assert run("users", "update", "main", "worker").error == "user.unchanged"
    assert run("users", "password", "main", "worker", "--password", "a-new-long-password").code == 0
    row.refresh_from_db()
    assert row.permissions == before[0]
    assert row.verifiers != before[1]
    changed = row.verifiers
    assert run("users", "update", "main", "worker", "--send", "orders/#").code == 0
    row.refresh_from_db()
    assert row.permissions == [{"addresses": ["orders/#"], "operations": ["send"]}]
    assert row.verifiers == changed
    refused = run("users", "update", "main", "worker", "--send", "x", by=Role.VIEWER)
    assert refused.code == 3


def test_operators_close_a_period_and_record_payments(run: Run) -> None:
    invoices = ("staff", "invoices")
    # A period has at least a second.
    PlanSubscription.objects.update(starts_at=timezone.now() - timedelta(seconds=2))

    assert run(*invoices, "close-now", "acme", by="staff").error == "confirmation.missing"
    assert run(*invoices, "close-now", "acme", "--yes", by="owner").code == 4
    begun = run(*invoices, "close-now", "acme", "--yes", "-o", "json", by="staff")
    invoice = json.loads(begun.stdout)["subject_id"]

    assert run(*invoices, "list", "-o", "json", by="staff").stdout.count(invoice) == 1
    assert run(*invoices, "close", invoice, by="staff").code == 0
    paid = ("pay", invoice, "100", "--reference", "SEPA 1", "--received", "2026-11-30")
    assert run(*invoices, *paid, by="staff").code == 5  # it is not issued yet
    assert run(*invoices, *paid, by="owner").code == 4


def test_contexts_keep_several_logins(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYPOST_URL")
    add = ("contexts", "add")
    run(*add, "trial", "--url", "http://trial.test", "--token", "wp_t", "--tenant", "acme")
    run(*add, "live", "--url", "http://live.test", "--token", "wp_l")

    assert stat.S_IMODE(login_store.path().stat().st_mode) == 0o600
    rows = json.loads(run("contexts", "list", "-o", "json").stdout)
    assert [(row["name"], row["current"]) for row in rows] == [("live", True), ("trial", False)]
    assert "wp_" not in run("contexts", "list", "-o", "wide").stdout
    assert run("open").stdout == "http://live.test/t/acme/\n"
    assert run("--context", "trial", "open").stdout == "http://trial.test/t/acme/\n"
    assert run("open").stdout == "http://live.test/t/acme/\n"
    assert run("contexts", "use", "trial").code == 0
    assert run("open").stdout == "http://trial.test/t/acme/\n"
    assert run("contexts", "remove", "trial").code == 0
    assert run("open").error == "login.missing"  # and not the other one by surprise
    assert run("--context", "none", "open").error == "context.missing"
    assert run("contexts", "use", "trial").code == 4


def test_watch_reads_a_list_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt
        run("windows", "add", "sunday", "02:00")

    monkeypatch.setattr(output, "pause", wait)

    ended = run("windows", "list", "--watch")

    assert ended.code == 130
    assert ended.stdout.count("weekday") == 2
    assert ended.stdout.count("sunday") == 1


def test_a_spend_cap_is_tried_set_and_removed(run: Run) -> None:
    tried = json.loads(run("spend-cap", "simulate", "10", "-o", "json").stdout)
    made = run("spend-cap", "set", "10", "--action", "notify")
    again = run("spend-cap", "set", "20", "--action", "notify")
    shown = json.loads(run("spend-cap", "show", "-o", "json").stdout)
    cleared = run("spend-cap", "clear", "--yes")

    assert tried["action"] == "withdraw_send"
    assert (made.code, again.code, cleared.code) == (0, 0, 0)
    assert (shown["amount_minor"], shown["action"]) == (20, "notify")
    assert run("spend-cap", "clear").error == "confirmation.missing"
