"""Dunning: reminders, then no sending, then no connections, each told before, lifted by payment."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from controlplane.core.errors import Invalid
from plans.invoicing import invoice_closing, issuing
from plans.models import DunningCase, DunningPause, Invoice
from plans.payments import dunning
from plans.quotas import enforcement
from tenants.actions import address_spaces
from tenants.models import AddressSpace, Tenant, UnpaidStage
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _schedule(settings: Settings) -> None:
    settings.DUNNING_REMINDER_DAYS = (3, 10, 17)
    settings.DUNNING_LIMIT_DAYS = 21
    settings.DUNNING_SUSPEND_DAYS = 30
    settings.DUNNING_NOTICE_DAYS = 7


@pytest.fixture
def invoice() -> Invoice:
    row = rows.issued(rows.tenant())
    rows.space(row.tenant)
    return row


def _enforced(invoice: Invoice) -> None:
    """Do what the task does that a change of the stage enqueues."""
    enforcement.evaluate(tenant_id=invoice.tenant_id, now=_due(invoice) + 31 * DAY)


def _due(invoice: Invoice) -> datetime:
    assert invoice.due_at is not None
    return invoice.due_at


def _day(invoice: Invoice, days: float) -> None:
    """Run the periodic tasks of the day that is so many days after the due time."""
    now = _due(invoice) + timedelta(days=days)
    issuing.mark_overdue(by=STAFF, now=now)
    dunning.advance_all(now)


def _stage(invoice: Invoice) -> str:
    return Tenant.objects.get(pk=invoice.tenant_id).unpaid_stage


def _written(kind: str) -> list[Event]:
    return list(Event.objects.filter(kind=kind).order_by("occurred_at"))


def _pay(invoice: Invoice, amount: int = 5831, reference: str = "bank-1") -> None:
    issuing.record_payment(
        invoice=invoice,
        amount_minor=amount,
        source="manual",
        reference=reference,
        received_on=_due(invoice).date(),
        by=STAFF,
    )


def test_reminders_say_what_happens_and_when_and_are_written_once(invoice: Invoice) -> None:
    for days in (1, 2, 3, 3.1, 4, 9.9, 10, 10.5, 17, 18):
        _day(invoice, days)

    reminders = _written("invoice.reminder")
    assert [(event.occurred_at - _due(invoice)).days for event in reminders] == [3, 10, 17]
    limit, suspend = _due(invoice) + 21 * DAY, _due(invoice) + 30 * DAY
    for event in reminders:
        text = event.fields["consequence"]
        assert f"From {limit:%Y-%m-%d %H:%M} UTC your clients can no longer send" in text
        assert f"From {suspend:%Y-%m-%d %H:%M} UTC their connections are refused" in text
        assert event.fields["outstanding"] == "58.31 EUR"
    assert _stage(invoice) == UnpaidStage.NONE


def test_sending_stops_then_connections_are_refused_and_a_payment_lifts_all(
    invoice: Invoice,
) -> None:
    for days in (3, 10, 17, 20.9):
        _day(invoice, days)
    assert _stage(invoice) == UnpaidStage.NONE
    _day(invoice, 21)
    _day(invoice, 29)
    space = AddressSpace.objects.get()
    assert (_stage(invoice), space.send_withdrawn) == ("limited", True)
    assert not space.connections_refused
    assert not Tenant.objects.get().is_frozen

    _day(invoice, 30)
    _day(invoice, 31)
    space.refresh_from_db()
    assert (_stage(invoice), space.connections_refused) == ("suspended", True)
    assert space.logins_generation == space.generation
    assert Tenant.objects.get().is_frozen

    _pay(invoice)
    dunning.advance(invoice.tenant_id, _due(invoice) + 31 * DAY)
    _enforced(invoice)
    space.refresh_from_db()
    assert (_stage(invoice), space.send_withdrawn) == ("", False)
    assert not space.connections_refused
    assert DunningCase.objects.get().ended_at is not None
    kinds = ("dunning.limited", "dunning.suspended", "dunning.lifted")
    assert [len(_written(kind)) for kind in kinds] == [1, 1, 1]


def test_a_part_of_the_payment_lifts_nothing(invoice: Invoice) -> None:
    for days in (3, 21):
        _day(invoice, days)

    _pay(invoice, 5830)
    dunning.advance(invoice.tenant_id, _due(invoice) + 21 * DAY)
    assert _stage(invoice) == "limited"


def test_nothing_happens_on_the_day_by_which_to_pay(invoice: Invoice, settings: Settings) -> None:
    settings.DUNNING_REMINDER_DAYS = (0,)
    _pay(invoice, 831)
    assert invoice.late_from is not None
    over = (invoice.late_from - _due(invoice)) / DAY

    _day(invoice, over - 0.001)
    assert (_written("invoice.reminder"), list(dunning.overdue(_due(invoice) + DAY))) == ([], [])
    _day(invoice, over)
    assert len(_written("invoice.reminder")) == 1


def test_a_part_paid_just_after_the_due_day_ends_no_case(
    invoice: Invoice, settings: Settings
) -> None:
    settings.DUNNING_REMINDER_DAYS = (0,)
    _day(invoice, 1)

    _pay(invoice, 831)
    dunning.advance_all(_due(invoice) + 1.01 * DAY)

    assert Invoice.objects.get().state == "partly_paid"
    assert DunningCase.objects.get().ended_at is None
    assert [row.pk for row in dunning.overdue(_due(invoice) + 1.01 * DAY)] == [invoice.pk]


def test_an_old_debt_is_told_before_anything_happens(invoice: Invoice) -> None:
    """Dunning was switched on long after the due time, or no worker ran."""
    _day(invoice, 100)

    case = DunningCase.objects.get()
    assert case.limit_at == case.suspend_at == _due(invoice) + 107 * DAY
    assert len(_written("invoice.reminder")) == 1
    assert _stage(invoice) == UnpaidStage.NONE
    _day(invoice, 106.9)
    assert _stage(invoice) == UnpaidStage.NONE
    _day(invoice, 107)
    assert _stage(invoice) == UnpaidStage.SUSPENDED


def test_the_worst_of_several_invoices_counts() -> None:
    owner = rows.tenant()
    first = rows.issued(owner)
    second = _of_may(owner)
    assert _due(second) > _due(first)
    for days in (3, 30):
        _day(first, days)
    assert _stage(first) == "suspended"

    _pay(second, reference="bank-2")
    dunning.advance(owner.pk, _due(first) + 30 * DAY)
    assert _stage(first) == "suspended"
    _pay(first)
    dunning.advance(owner.pk, _due(first) + 30 * DAY)
    assert _stage(first) == ""


def test_a_pause_lifts_and_after_it_the_tenant_is_told_again(invoice: Invoice) -> None:
    for days in (3, 30):
        _day(invoice, days)
    now = _due(invoice) + 31 * DAY

    dunning.pause(tenant=invoice.tenant, reason="talks", until=None, by=STAFF, now=now)
    assert _stage(invoice) == ""
    _enforced(invoice)
    assert not AddressSpace.objects.get().connections_refused
    before = len(_written("invoice.reminder"))
    _day(invoice, 60)
    assert (_stage(invoice), len(_written("invoice.reminder"))) == ("", before)

    dunning.resume(tenant=invoice.tenant, by=STAFF, now=_due(invoice) + 60 * DAY)
    assert DunningCase.objects.get().limit_at == _due(invoice) + 67 * DAY
    assert len(_written("invoice.reminder")) == before + 1
    _day(invoice, 66.9)
    assert _stage(invoice) == ""
    _day(invoice, 67)
    assert _stage(invoice) == "suspended"


def test_a_pause_with_an_end_ends_by_itself(invoice: Invoice) -> None:
    _day(invoice, 3)
    until = _due(invoice) + 40 * DAY
    dunning.pause(
        tenant=invoice.tenant, reason="talks", until=until, by=STAFF, now=_due(invoice) + 5 * DAY
    )

    _day(invoice, 39)
    assert DunningPause.objects.get().ended_at is None
    _day(invoice, 41)
    assert DunningPause.objects.get().ended_at is not None
    assert DunningCase.objects.get().limit_at == _due(invoice) + 48 * DAY


def test_a_pause_needs_a_reason_and_a_later_end_and_only_a_pause_is_resumed(
    invoice: Invoice,
) -> None:
    now = _due(invoice)
    tenant = invoice.tenant
    with pytest.raises(Invalid, match="why"):
        dunning.pause(tenant=tenant, reason=" ", until=None, by=STAFF, now=now)
    with pytest.raises(Invalid, match="later"):
        dunning.pause(tenant=tenant, reason="talks", until=now, by=STAFF, now=now)
    with pytest.raises(dunning.NotPaused):
        dunning.resume(tenant=tenant, by=STAFF, now=now)


def test_a_write_off_ends_dunning(invoice: Invoice) -> None:
    for days in (3, 30):
        _day(invoice, days)
    issuing.write_off(invoice=invoice, by=STAFF, reason="bankrupt")

    _day(invoice, 31)
    assert _stage(invoice) == ""


def test_switched_off_dunning_lifts_everything_and_sends_nothing(
    invoice: Invoice, settings: Settings
) -> None:
    for days in (3, 30):
        _day(invoice, days)
    settings.DUNNING_REMINDER_DAYS = ()

    _day(invoice, 40)
    assert _stage(invoice) == ""


def test_killed_between_cases_and_spaces_the_next_pass_does_all(
    invoice: Invoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    _day(invoice, 3)
    with monkeypatch.context() as crash:
        crash.setattr(address_spaces, "enqueue_reconcile", _killed)
        with pytest.raises(KeyboardInterrupt):
            _day(invoice, 30)
    assert (_stage(invoice), _written("dunning.suspended")) == ("", [])

    _day(invoice, 30)
    assert _stage(invoice) == "suspended"
    assert len(_written("dunning.suspended")) == 1


def test_tenants_without_debts_cost_nothing(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for _ in range(3):
        _pay(rows.issued(rows.tenant()), reference=f"bank-{_}")

    with django_assert_num_queries(3):
        dunning.advance_all(rows.AFTER_GRACE + 90 * DAY)


def _of_may(owner: Tenant) -> Invoice:
    ends_at = datetime(2026, 6, 1, tzinfo=UTC)
    now = ends_at + 3 * DAY
    asked, _ = invoice_closing.request_close(
        tenant=owner, starts_at=rows.ENDS_AT, ends_at=ends_at, by=STAFF, now=now
    )
    evidence = rows.evidence(as_of=ends_at, earlier=rows.earlier(asked))
    draft = invoice_closing.close(invoice=asked, evidence=evidence, by=STAFF)
    approved = issuing.approve(invoice=draft, by=STAFF)
    return issuing.issue(invoice=approved, by=STAFF, now=now)


def _killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
