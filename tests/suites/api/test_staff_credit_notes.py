"""Staff list, read, download and verify credit notes of a tenant that they are no member of."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from rest_framework.test import APIClient

from plans.invoice_formats import CREDIT_NOTE_FORMATS
from plans.invoicing import credit_notes, issuing
from plans.models import CreditNote, Invoice
from tests.suites.api.conftest import Cast, problem
from tests.support import command
from tests.support.command import Ended
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db
PATH = "/api/v1/staff/credit-notes"
COMMAND = ("staff", "credit-notes")
OTHERS = ("owner", "viewer", "outsider")


@pytest.fixture
def note(draft: Invoice) -> CreditNote:
    """A credit note over 1.00 of the tenant's plan fee, before tax."""
    invoice = issuing.issue(invoice=issuing.approve(invoice=draft, by=STAFF), by=STAFF)
    fee = invoice.lines.get(meter="plan_fee").position
    return credit_notes.issue(invoice=invoice, wanted={fee: 100}, reason="an outage", by=STAFF)


@pytest.fixture
def run(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    return partial(command.as_people(cast.people, cast.tenant.slug, monkeypatch), by="staff")


def alter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every verification find a difference."""
    found = credit_notes.CreditNoteVerification(False, ("ledger: the entry differs",))
    monkeypatch.setattr(credit_notes, "verify", lambda note: found)


def test_staff_read_what_the_tenant_reads(
    cast: Cast, owner: APIClient, staff: APIClient, note: CreditNote
) -> None:
    of_tenant = owner.get(cast.path(f"/credit-notes/{note.number}")).json()

    found = staff.get(f"{PATH}/{note.number}")

    assert (found.status_code, found.json()) == (200, {**of_tenant, "tenant": "acme"})
    for other in OTHERS:
        problem(cast.call(other).get(f"{PATH}/{note.number}"), 404, "missing")
    assert cast.call("anonymous").get(f"{PATH}/{note.number}").status_code == 401


def test_staff_list_those_that_the_filters_select(
    cast: Cast, staff: APIClient, note: CreditNote
) -> None:
    def found(**query: str) -> list[str]:
        return [row["number"] for row in staff.get(PATH, query).json()["items"]]

    at = note.issued_at.isoformat()
    later = (note.issued_at + timedelta(seconds=1)).isoformat()

    row = staff.get(PATH).json()["items"][0]

    assert (row["tenant"], row["legal_entity"], row["net_minor"]) == ("acme", "waypost", 100)
    assert found(tenant="acme", legal_entity=row["legal_entity"], since=at) == [note.number]
    assert found(until=later) == [note.number]
    for other in ({"tenant": "x"}, {"legal_entity": "x"}, {"until": at}, {"since": later}):
        assert found(**other) == []
    for who in OTHERS:
        problem(cast.call(who).get(PATH), 404, "missing")


@pytest.mark.parametrize("kind", CREDIT_NOTE_FORMATS)
def test_staff_get_the_same_file_as_the_tenant(
    cast: Cast, owner: APIClient, staff: APIClient, note: CreditNote, kind: str
) -> None:
    wanted = owner.get(cast.path(f"/credit-notes/{note.number}.{kind}"))

    found = staff.get(f"{PATH}/{note.number}.{kind}")

    assert (found.status_code, found.content) == (200, wanted.content)
    assert found.headers["Content-Type"] == wanted.headers["Content-Type"]
    assert f'"{note.number}.{kind}"' in found.headers["Content-Disposition"]
    for other in OTHERS:
        problem(cast.call(other).get(f"{PATH}/{note.number}.{kind}"), 404, "missing")


def test_staff_verify(
    cast: Cast, staff: APIClient, note: CreditNote, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{PATH}/{note.number}/verify"

    assert staff.post(path).json() == {"same": True, "differences": []}
    for other in OTHERS:
        problem(cast.call(other).post(path), 404, "missing")
    alter(monkeypatch)
    assert staff.post(path).json()["differences"] == ["ledger: the entry differs"]


def test_the_command_shows_downloads_and_verifies(
    run: Callable[..., Ended], note: CreditNote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bill = tmp_path / "note.ubl.xml"
    tomorrow = (note.issued_at + timedelta(days=1)).date().isoformat()

    listed = run(*COMMAND, "list", "--until", tomorrow)
    later = run(*COMMAND, "list", "--since", tomorrow)
    shown = run(*COMMAND, "show", note.number)
    written = run(*COMMAND, "download", note.number, "--to", str(bill))
    same = run(*COMMAND, "verify", note.number)
    wrong = run(*COMMAND, "download", note.number, "--to", str(tmp_path / "note.csv"))
    alter(monkeypatch)
    differs = run(*COMMAND, "verify", note.number)

    assert [one.code for one in (listed, later, shown, written, same)] == [0] * 5
    assert (note.number in listed.stdout, note.number in later.stdout) == (True, False)
    for words in ("acme", "an outage", "1.00 EUR"):
        assert words in shown.stdout
    assert f">{note.number}</cbc:ID>" in bill.read_text()
    assert f"{note.number}: document, amounts and ledger are the same" in same.stdout
    assert (wrong.code, wrong.error) == (1, "credit_note.format")
    assert (differs.code, differs.error) == (1, "credit_note.differs")


@pytest.mark.parametrize("who", OTHERS)
def test_the_command_shows_nothing_to_others(
    run: Callable[..., Ended], note: CreditNote, tmp_path: Path, who: str
) -> None:
    to = ("--to", str(tmp_path / "note.pdf"))
    asked = [("show",), ("verify",), ("download", *to)]

    ended = [run(*COMMAND, verb, note.number, *more, by=who) for verb, *more in asked]
    ended.append(run(*COMMAND, "list", by=who))

    assert [one.error for one in ended] == ["missing"] * 4
    assert list(tmp_path.iterdir()) == []
