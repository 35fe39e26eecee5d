"""The command over a running installation, as a person and as a script use it."""

import json
from pathlib import Path

import pytest

from controlplane.core.accounts import OPERATOR_EMAIL
from controlplane.embedded import installation as installations
from controlplane.embedded import stack
from controlplane.embedded.installation import Installation
from controlplane.rest_client import Api
from tests.suites.e2e.conftest import Waypost

pytestmark = [pytest.mark.stack, pytest.mark.slow]
PASSWORD = "a-long-enough-password"


@pytest.fixture(scope="module")
def tenant(running: Installation) -> str:
    """A tenant that signed up over REST; its short name."""
    api = Api(running.url)
    session = api.post(
        "/signup",
        {
            "email": "cli@customer.example",
            "password": PASSWORD,
            "organization": "Command Line",
            "plan": "team",
        },
    )
    api.close()
    slug: str = session["tenants"][0]["slug"]
    return slug


@pytest.fixture
def logged_in(
    running: Installation,
    tenant: str,
    waypost: Waypost,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Waypost:
    """The command, logged in as the tenant's owner."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    ended = waypost(
        "login", "--url", running.url, "--email", "cli@customer.example", "--password", PASSWORD
    )
    assert ended.returncode == 0, ended.stderr
    return waypost


def test_a_space_from_creation_to_deletion(logged_in: Waypost) -> None:
    created = logged_in("spaces", "create", "orders", "-o", "json")
    address = logged_in("addresses", "create", "orders", "jobs", "--plan", "brokered-small-queue")
    user = logged_in("users", "create", "orders", "worker", "--send", "jobs")
    listed = logged_in("spaces", "list", "-o", "json")
    trusted = logged_in("spaces", "trust", "orders")
    revoked = logged_in("users", "revoke", "orders", "worker", "--yes")
    deleted = logged_in("spaces", "delete", "orders", "--yes")

    assert json.loads(created.stdout)["state"] == "Succeeded"
    assert address.returncode == user.returncode == revoked.returncode == 0
    assert "password (shown once)" in user.stdout
    assert [space["phase"] for space in json.loads(listed.stdout)] == ["Active"]
    assert trusted.stdout.startswith("-----BEGIN CERTIFICATE-----")
    assert deleted.returncode == 0
    assert json.loads(logged_in("spaces", "list", "-o", "json").stdout) == []


def test_no_wait_answers_with_the_operation(logged_in: Waypost) -> None:
    asked = logged_in("spaces", "create", "later", "--no-wait", "-o", "json")

    assert asked.returncode == 0
    assert json.loads(asked.stdout)["kind"] == "address_space.create"
    assert logged_in("spaces", "delete", "later", "--yes").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "slug"),
    [
        (["spaces", "show", "nothing"], 4, "missing"),
        pytest.param(
            *(["spaces", "list", "--tenant", "somebody-else"], 4, "missing"),
            marks=pytest.mark.drill,
        ),
        (["spaces", "create", "x", "--plan", "no-such-plan"], 1, "plan"),
        pytest.param(
            *(["addresses", "create", "nothing", "#", "--plan", "brokered-small-queue"], 4),
            "missing",
            marks=pytest.mark.drill,
        ),
        (["spaces", "create"], 2, ""),
    ],
)
def test_refusals_have_codes_for_scripts(
    logged_in: Waypost, arguments: list[str], code: int, slug: str
) -> None:
    refused = logged_in(*arguments)

    assert refused.returncode == code, refused.stderr
    assert slug in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_wrong_password_is_refused(running: Installation, waypost: Waypost) -> None:
    refused = waypost(
        "login",
        "--url",
        running.url,
        "--email",
        "cli@customer.example",
        "--password",
        "not-the-password",
    )

    assert refused.returncode == 3
    assert "credentials.invalid" in refused.stderr


def test_nobody_listening_is_said(waypost: Waypost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYPOST_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("WAYPOST_TOKEN", "wp_x")
    monkeypatch.setenv("WAYPOST_TENANT", "t")

    refused = waypost("spaces", "list")

    assert refused.returncode == 7
    assert "api.unreachable" in refused.stderr


def test_the_operator_may_log_in(
    running: Installation, waypost: Waypost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    ended = waypost(
        "login",
        "--url",
        running.url,
        "--email",
        OPERATOR_EMAIL,
        "--password",
        running.secrets.operator_password,
    )

    assert ended.returncode == 0, ended.stderr


def test_a_broken_catalog_is_refused_with_its_place(
    running: Installation, waypost: Waypost, tmp_path: Path
) -> None:
    broken = tmp_path / "catalog.yaml"
    broken.write_text("seller:\n  key: [unclosed\n")

    refused = waypost("catalog", "publish", broken, "--state", running.root)

    assert refused.returncode == 1
    assert "catalog" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_dry_run_of_the_default_catalog_changes_nothing(
    running: Installation, waypost: Waypost
) -> None:
    from plans.catalog import publishing

    default = Path(str(publishing.__file__)).parent / "default.yaml"

    shown = waypost("catalog", "publish", default, "--dry-run", "--state", running.root)

    assert shown.returncode == 0, shown.stderr
    assert "business" in shown.stdout
    assert "changed" not in shown.stdout
    asked = ("catalog", "publish", default, "--dry-run", "-o", "json", "--state", running.root)
    rows = json.loads(waypost(*asked).stdout)
    assert {"business"} <= {row["key"] for row in rows}


def test_demo_leaves_alone_what_runs_already(running: Installation, waypost: Waypost) -> None:
    refused = waypost("demo", "--exit", "--state", running.root)

    assert refused.returncode == 5
    assert "stack.running" in refused.stderr
    assert installations.load(running.root) == running
    assert stack.status(running.root).is_up
