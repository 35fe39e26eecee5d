"""`waypost staff invoices`: an operator shows, downloads and verifies the invoice of a tenant."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controlplane.core import operations
from controlplane.core.models import Operation
from controlplane.rest_client import Api
from plans.invoicing import issuing
from plans.models import Invoice, Payment
from tests.suites.api.conftest import Cast
from tests.support import command
from tests.support.command import Ended
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db
INVOICES = ("staff", "invoices")


@pytest.fixture
def run(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    return partial(command.as_people(cast.people, cast.tenant.slug, monkeypatch), by="staff")


@pytest.fixture
def invoice(draft: Invoice) -> Invoice:
    """An issued invoice of the tenant."""
    return issuing.issue(invoice=issuing.approve(invoice=draft, by=STAFF), by=STAFF)


def ends(monkeypatch: pytest.MonkeyPatch, end: Callable[[Operation], object]) -> None:
    """Let ``end`` end an operation before the command waits for it."""
    really = Api.wait_at

    def wait_at(api: Api, path: str, **more: Any) -> Any:
        end(Operation.objects.get(pk=path.rpartition("/")[2]))
        return really(api, path, **more)

    monkeypatch.setattr(Api, "wait_at", wait_at)


def test_an_invoice_is_shown_by_number_and_by_id(
    run: Callable[..., Ended], invoice: Invoice
) -> None:
    shown = [run(*INVOICES, "show", str(name)) for name in (invoice.number, invoice.pk)]

    assert [one.code for one in shown] == [0, 0]
    assert shown[0].stdout == shown[1].stdout
    for words in ("acme", str(invoice.number), "Messages, in and out"):
        assert words in shown[0].stdout


def test_files_are_those_of_the_tenant(
    run: Callable[..., Ended], invoice: Invoice, tmp_path: Path
) -> None:
    bill, text = tmp_path / "b.ubl.xml", tmp_path / "document"

    first = run(*INVOICES, "download", str(invoice.number), "--to", str(bill))
    second = run(*INVOICES, "download", invoice.pk, "--to", str(text), "--format", "json")
    wrong = run(*INVOICES, "download", invoice.pk, "--to", str(tmp_path / "b.docx"))

    assert (first.code, second.code) == (0, 0)
    assert f">{invoice.number}</cbc:ID>" in bill.read_text()
    assert text.read_text() == invoice.document
    assert (wrong.code, wrong.error) == (1, "invoice.format")


def test_verify_waits_for_the_result(
    run: Callable[..., Ended], invoice: Invoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(monkeypatch, lambda one: operations.succeed(one.subject_type, one.subject_id,
                                                     up_to_generation=1))  # fmt: skip

    whole = run(*INVOICES, "verify", str(invoice.number), "--files")

    assert whole.code == 0
    assert f"{invoice.number}: verified, all bytes are identical" in whole.stdout
    assert Operation.objects.filter(kind="invoice.verify_files").exists()


def test_verify_says_what_differs(
    run: Callable[..., Ended], invoice: Invoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(monkeypatch, lambda one: operations.fail(one.subject_type, one.subject_id,
                                                  code="invoice.differs", message="x"))  # fmt: skip

    ended = run(*INVOICES, "verify", str(invoice.number))

    assert (ended.code, ended.error) == (1, "invoice.differs")
    assert "verified" not in ended.stdout


def test_verify_need_not_wait(run: Callable[..., Ended], invoice: Invoice) -> None:
    ended = run(*INVOICES, "verify", invoice.pk, "--no-wait", "-o", "json")

    assert ended.code == 0
    assert '"state": "Running"' in ended.stdout


def test_a_payment_takes_the_number_that_the_bank_reports(
    run: Callable[..., Ended], invoice: Invoice
) -> None:
    paid = ("1", "--reference", "bank-1", "--received", "2026-11-25")

    ended = run(*INVOICES, "pay", str(invoice.number), *paid)

    assert ended.code == 0, ended.stderr
    assert Payment.objects.get().invoice_id == invoice.pk
    assert "0.01 EUR" in ended.stdout
    assert "0.00 EUR" in ended.stdout  # nothing became credit


def test_a_held_invoice_is_released_with_a_reason(
    run: Callable[..., Ended], draft: Invoice
) -> None:
    held = [{"code": "samples.none", "message": "Space main has no sample."}]
    Invoice.objects.filter(pk=draft.pk).update(state=Invoice.State.HELD, held_reasons=held)

    without = run(*INVOICES, "release", draft.pk)
    ended = run(*INVOICES, "release", draft.pk, "--reason", "the disk is destroyed")

    draft.refresh_from_db()
    assert (without.code, ended.code) == (2, 0), ended.stderr
    assert draft.state == Invoice.State.CLOSING
    assert [row["because"] for row in draft.releases] == ["the disk is destroyed"]


@pytest.mark.parametrize("who", ["owner", "outsider"])
def test_nobody_else_may(
    run: Callable[..., Ended], invoice: Invoice, tmp_path: Path, who: str
) -> None:
    to = ("--to", str(tmp_path / "b.pdf"))
    asked = [("show",), ("verify",), ("download", *to)]

    ended = [run(*INVOICES, verb, invoice.pk, *more, by=who) for verb, *more in asked]

    assert [one.error for one in ended] == ["missing"] * 3
    assert list(tmp_path.iterdir()) == []
