"""What enforcement writes: every field of alerts, audit events, notices and reasons."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from structlog.testing import capture_logs

from controlplane.core import audit
from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from plans.models import Plan, QuotaAlert, QuotaOverride, UsageTail
from plans.quotas import enforcement, standings
from plans.quotas.resources import AtQuota
from tenants.actions import closures, spend_caps, suspensions
from tenants.models import AddressSpace, Tenant, UnpaidStage
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans import usage_tails
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
NOW = STARTS_AT + timedelta(days=5)
LATER = NOW + timedelta(hours=1)
MESSAGES = "messages_per_month"
END = "this ends by itself at 2026-05-01T00:00:00+00:00, or when the limit is raised"


def tenant(action: str = "withdraw_send") -> Tenant:
    """Return a tenant with one space and a limit of 1,000 messages a month."""
    plan = rows.plan("free")
    Plan.objects.filter(pk=plan.pk).update(definition={**plan.definition, "at_quota": action})
    plan.refresh_from_db()
    owner = rows.tenant(to=plan)
    rows.space(owner)
    return owner


def sent(owner: Tenant, n: int, **later: Any) -> None:
    usage_tails.evaluate(owner.id, {"messages_in": n}, later.get("now", NOW))


def reasons() -> list[str]:
    events = AuditEvent.objects.filter(subject_type="address_space", actor="system")
    return list(events.order_by("id").values_list("reason", flat=True))


def test_an_alert_has_the_numbers_of_its_quota() -> None:
    owner = tenant()
    rows.used(rows.cell(AddressSpace.objects.get(tenant=owner), "messages_in", 300))

    sent(owner, 850)

    assert QuotaAlert.objects.values().get() == {
        "id": QuotaAlert.objects.get().pk,
        "tenant_id": owner.id,
        "resource": MESSAGES,
        "period_starts_at": STARTS_AT,
        "level_percent": 80,
        "used": 850,
        "tail": 550,
        "limit": 1000,
        "currency": "",
        "action": "notify",
        "raised_at": NOW,
        "lifted_at": None,
    }


def test_an_alert_that_is_raised_again_has_the_new_numbers() -> None:
    owner = tenant()
    sent(owner, 850)
    sent(owner, 1, now=NOW + timedelta(minutes=5))
    [lifted] = QuotaAlert.objects.all()

    sent(owner, 890, now=LATER)

    [again] = QuotaAlert.objects.all()
    assert (lifted.lifted_at, lifted.used) == (NOW + timedelta(minutes=5), 850)
    assert (again.pk, again.used, again.raised_at, again.lifted_at) == (
        lifted.pk, 890, LATER, None,
    )  # fmt: skip


def test_a_limit_of_nothing_is_reached_without_use() -> None:
    owner = tenant()
    QuotaOverride.objects.create(
        tenant=owner, resource=MESSAGES, amount=0, reason="closed", set_by="x"
    )

    sent(owner, 0)

    assert list(QuotaAlert.objects.values_list("used", "limit")) == [(0, 0)] * 3


def test_an_alert_is_lifted_once() -> None:
    owner = tenant()
    sent(owner, 850)
    sent(owner, 0, now=LATER)

    sent(owner, 0, now=LATER + timedelta(hours=1))

    assert QuotaAlert.objects.get().lifted_at == LATER
    assert AuditEvent.objects.filter(action="quota.lift").count() == 1


def test_the_alerts_of_another_tenant_stay() -> None:
    owner, other = tenant(), rows.tenant(to=rows.plan("free"))
    sent(other, 850)

    sent(owner, 0)

    assert QuotaAlert.objects.get().lifted_at is None


def test_alerts_are_audited_when_they_are_raised_and_lifted() -> None:
    owner = tenant("notify")
    sent(owner, 850)
    sent(owner, 0, now=LATER)

    events = AuditEvent.objects.filter(action__startswith="quota.").order_by("id")

    assert [event.action for event in events] == ["quota.alert", "quota.lift"]
    for event in events:
        assert (event.actor, event.tenant_id, event.reason) == ("system", owner.id, "")
        assert (event.subject_type, event.subject_id, event.subject_name) == (
            "tenant", owner.id, owner.name,
        )  # fmt: skip
        assert event.before == {}
        assert event.after == {
            "resource": MESSAGES,
            "level_percent": 80,
            "used": 850,
            "limit": 1000,
            "action": "notify",
        }


def test_a_notice_says_what_is_used_and_what_to_do() -> None:
    owner = tenant()

    sent(owner, 850)

    event = Event.objects.get(kind="quota.threshold")
    alert = QuotaAlert.objects.get()
    assert event.dedup_key == f"quota.threshold:{alert.pk}:{NOW.isoformat()}"
    assert (event.tenant, event.occurred_at) == (owner, NOW)
    assert event.fields == {
        "resource": MESSAGES,
        "resource_words": "messages a month",
        "level_percent": 80,
        "used": 850,
        "limit": 1000,
        "used_words": "850",
        "limit_words": "1,000",
        "consequence": "You can raise the limit with a bigger plan.",
        "tenant": owner.slug,
        "organization": owner.name,
    }


@pytest.mark.parametrize("action", ["notify", "throttle", "withdraw_send", "refuse_connections"])
def test_the_notice_of_a_full_quota_says_what_happens_now(action: str) -> None:
    sent(tenant(action), 1000)

    event = Event.objects.get(kind="quota.threshold")
    assert event.fields["level_percent"] == 100
    assert event.fields["consequence"] == enforcement.CONSEQUENCES[
        AtQuota(action)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cap", "consequence", "limit_words"),
    [
        (1400, "You can raise the cap on the page Usage.", "14.00 EUR"),
        (
            1190,
            "Clients can no longer send until the month ends or the limit is raised.",
            "11.90 EUR",
        ),
    ],
)
def test_the_notice_of_a_spend_cap_has_amounts_of_money(
    cap: int, consequence: str, limit_words: str
) -> None:
    """Ten messages at one euro, with 19 % tax."""
    owner = rows.tenant(to=rows.plan("bulk"))
    rows.space(owner, active_since=None)
    spend_caps.set_cap(tenant=owner, amount_minor=cap, action="withdraw_send", by=STAFF)

    sent(owner, 10)

    fields = Event.objects.get(kind="quota.threshold").fields
    assert (fields["resource_words"], fields["used_words"]) == ("monthly spend cap", "11.90 EUR")
    assert (fields["limit_words"], fields["consequence"]) == (limit_words, consequence)
    assert set(QuotaAlert.objects.values_list("currency", flat=True)) == {"EUR"}


def test_a_quota_that_does_something_else_now_is_raised_again() -> None:
    owner = tenant("notify")
    sent(owner, 1000)
    plan = Plan.objects.get(subscriptions__tenant=owner)
    Plan.objects.filter(pk=plan.pk).update(
        definition={**plan.definition, "at_quota": "refuse_connections"}
    )

    sent(owner, 1000, now=LATER)

    alerts = QuotaAlert.objects.order_by("level_percent")
    assert [(row.level_percent, row.action, row.raised_at) for row in alerts] == [
        (80, "notify", NOW),
        (90, "notify", NOW),
        (100, "refuse_connections", LATER),
    ]


def test_a_restriction_says_what_is_used_and_until_when() -> None:
    owner = tenant()
    sent(owner, 1001)
    sent(owner, 0, now=ENDS_AT)

    assert reasons() == [
        f"1,001 of 1,000 messages a month are used; {END}",
        "usage is below the limit in force",
    ]


def test_a_restriction_of_a_spend_cap_says_amounts_of_money() -> None:
    owner = rows.tenant(to=rows.plan("bulk"))
    rows.space(owner, active_since=None)
    spend_caps.set_cap(tenant=owner, amount_minor=1000, action="withdraw_send", by=STAFF)

    sent(owner, 10)

    assert reasons() == [f"11.90 EUR of 10.00 EUR monthly spend cap are used; {END}"]


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"suspended_at": NOW}, "the tenant is suspended"),
        ({"erase_at": NOW}, "the tenant is being closed"),
        ({"unpaid_stage": UnpaidStage.LIMITED}, "invoices are unpaid"),
        ({"unpaid_stage": UnpaidStage.SUSPENDED, "erase_at": NOW}, "invoices are unpaid"),
    ],
)
def test_the_state_of_the_tenant_is_a_reason_of_its_own(state: dict[str, Any], reason: str) -> None:
    owner = tenant()
    Tenant.objects.filter(pk=owner.pk).update(**state)

    sent(owner, 1000)

    assert set(reasons()) == {reason}


def test_the_reason_to_lift_a_restriction_is_what_ended() -> None:
    owner = tenant()
    suspensions.suspend(tenant=owner, reason="Abuse.", by=STAFF)
    suspensions.restore(tenant=owner, by=STAFF)
    sent(owner, 0)
    closures.request(tenant=owner, by=STAFF)
    closures.undo(tenant=owner, by=STAFF)
    sent(owner, 0)
    sent(owner, 1001)
    sent(owner, 0, now=ENDS_AT)

    lifted = AuditEvent.objects.filter(action="address_space.restore_send").order_by("id")
    assert [event.reason for event in lifted] == [
        "the suspension has ended",
        "the organization is not being closed any more",
        "usage is below the limit in force",
    ]


def ended(owner: Tenant, *events: tuple[str, timedelta]) -> str:
    """Return the reason to lift a restriction after audit ``events``: actions with their times."""
    AddressSpace.objects.filter(tenant=owner).update(send_withdrawn=True)
    for action, after in events:
        with patch("django.utils.timezone.now", return_value=NOW + after):
            audit.record(SYSTEM, action, audit.Subject("tenant", owner.pk, "", owner.pk))
    sent(owner, 0)
    return AuditEvent.objects.get(action="address_space.restore_send").reason


def test_a_restriction_that_nothing_recorded_ends_with_the_general_reason() -> None:
    assert ended(tenant()) == "usage is below the limit in force"


def test_the_newest_end_is_the_reason_by_its_time_and_not_by_its_number() -> None:
    soon, late = timedelta(minutes=1), timedelta(minutes=2)

    reason = ended(tenant(), ("tenant.restore", late), ("tenant.keep", soon))

    assert reason == "the suspension has ended"


def test_of_ends_at_one_instant_the_last_one_that_was_recorded_is_the_reason() -> None:
    at_once = timedelta(0)
    events = [(action, at_once) for action in ("tenant.restore", "tenant.keep", "tenant.unpaid")]

    assert ended(tenant(), *events) == "no invoice is overdue for long any more"


def test_a_space_that_is_being_deleted_is_not_restricted_any_more() -> None:
    owner = tenant()
    gone = rows.space(owner, name="gone")
    AddressSpace.objects.filter(pk=gone.pk).update(deletion_requested_at=NOW)

    sent(owner, 1001)

    assert AddressSpace.objects.get(pk=gone.pk).send_withdrawn is False
    assert AddressSpace.objects.exclude(pk=gone.pk).get().send_withdrawn is True


def test_a_limit_of_nothing_is_named_as_it_is() -> None:
    owner = tenant()
    QuotaOverride.objects.create(tenant=owner, resource=MESSAGES, amount=0, reason="x", set_by="x")

    sent(owner, 1)

    assert reasons() == [f"1 of 0 messages a month are used; {END}"]


def test_amounts_of_meters_have_the_unit_of_the_meter() -> None:
    assert enforcement.amount_words("connection_ms_per_month", 5_400_000) == "1.5"


def test_the_first_of_two_quotas_is_the_reason() -> None:
    """Both withdraw the right to send; quotas have the order of the meters."""
    owner = tenant()
    QuotaOverride.objects.create(
        tenant=owner, resource="messages_in_per_month", amount=5, reason="fair", set_by="x"
    )

    sent(owner, 1000)

    assert [reason.partition(";")[0] for reason in reasons()] == [
        "1,000 of 5 messages in a month are used"
    ]


def test_a_throttle_takes_the_percentage_of_the_plan() -> None:
    plan = rows.plan("free")
    Plan.objects.filter(pk=plan.pk).update(
        definition={**plan.definition, "at_quota": "throttle", "throttle_percent": 25}
    )
    owner = rows.tenant(to=Plan.objects.get(pk=plan.pk))
    rows.space(owner)

    sent(owner, 1000)

    assert AddressSpace.objects.get().throttle_percent == 25


def test_only_the_spaces_and_the_tail_of_the_tenant_are_touched() -> None:
    owner, other = tenant(), rows.tenant(to=rows.plan("free"))
    space = rows.space(other)
    usage_tails.store(other.id, {"messages_in": 5000}, NOW)

    sent(owner, 1000)

    space.refresh_from_db()
    assert not space.send_withdrawn
    assert {row.tenant_id: row.evaluated_at for row in UsageTail.objects.all()} == {
        owner.id: NOW,
        other.id: None,
    }
    assert set(QuotaAlert.objects.values_list("tenant_id", flat=True)) == {owner.id}


def test_a_pass_names_the_tenants_that_failed_and_logs_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owners = [tenant().id, rows.tenant(to=rows.plan("free")).id]
    error = KeyError("definition")

    def of_tenant(*_: object) -> None:
        raise error

    monkeypatch.setattr(standings, "of_tenant", of_tenant)

    with capture_logs() as logs, pytest.raises(enforcement.PassIncomplete) as refused:
        enforcement.evaluate_all(owners, now=NOW)

    assert refused.value.message == (
        f"The quotas of {', '.join(owners)} were not evaluated; the log has the reasons. The "
        "quotas of all other tenants were evaluated, and the next pass tries again."
    )
    assert logs == [
        {
            "event": "quotas were not evaluated",
            "log_level": "error",
            "tenant": owner,
            "exc_info": error,
        }
        for owner in owners
    ]
