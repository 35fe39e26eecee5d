"""`waypost staff prices` against the API: the catalog in force, and a back-test without months."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from plans.catalog import parsing, publishing
from tests.suites.api.conftest import Cast
from tests.support import command
from tests.support.command import Ended
from workers.metering import back_tests

Run = Callable[..., Ended]
PRICES = ("staff", "prices")
NOTHING = "Done. No tenant has a month that has ended."
pytestmark = pytest.mark.django_db


@pytest.fixture
def run(cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run `waypost …` as somebody of the cast."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return command.as_people(cast.people, cast.tenant.slug, monkeypatch)


@pytest.mark.parametrize("form", ["table", "yaml"])
def test_the_catalog_in_force_is_printed_as_a_file_to_change(
    run: Run, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "catalog.yaml"
    shown = run(*PRICES, "show", "current", "-o", form, by="staff")
    file.write_text(shown.stdout)

    drafted = run(*PRICES, "draft", str(file), "-o", "json", by="staff")

    assert parsing.parse(shown.stdout).document == publishing.current().document
    assert json.loads(drafted.stdout)["differences"] == []


def test_the_catalog_in_force_as_json_has_document_and_text(run: Run) -> None:
    shown = json.loads(run(*PRICES, "show", "current", "-o", "json", by="staff").stdout)

    assert shown["document"]["seller"]["currency"] == "EUR"
    assert parsing.parse(shown["yaml"]).document == shown["document"]


def test_a_back_test_without_an_ended_month_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "catalog.yaml"
    file.write_text(publishing.default_yaml().replace("4900", "5900"))
    draft = json.loads(run(*PRICES, "draft", str(file), "-o", "json", by="staff").stdout)["id"]
    # In place of the worker.
    monkeypatch.setattr("controlplane.cli.prices.time.sleep", lambda _: _finish())

    done = run(*PRICES, "back-test", draft, by="staff")

    assert (done.code, done.stdout) == (0, "")
    assert NOTHING in done.stderr


def _finish() -> None:
    from plans.models import BackTest

    back_tests.run(BackTest.objects.get().pk)
