"""Period quotas: alerts, what happens at 100 %, and lifting by itself."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError
from structlog.testing import capture_logs

from controlplane.core.models import AuditEvent
from plans.models import PlanSubscription, QuotaAlert, QuotaOverride
from plans.quotas import enforcement, standings, watched
from tenants.actions import restrictions, suspensions
from tenants.models import AddressSpace, Tenant, UnpaidStage
from tests.support.plans import billing_rows as rows
from tests.support.plans import usage_tails
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
NOW = STARTS_AT + timedelta(days=5)


def tenant(plan: str = "free") -> Tenant:
    """Return a tenant with one space and a limit of 1,000 messages a month."""
    owner = rows.tenant(to=rows.plan(plan))
    rows.space(owner)
    return owner


def pass_over(owner: Tenant, sent: int, received: int = 0, now: datetime = NOW) -> None:
    counts = {"messages_in": sent, "messages_out": received, "connection_ms": 10**9}
    usage_tails.evaluate(owner.id, counts, now)


def alerts() -> list[tuple[int, str, bool]]:
    return [
        (alert.level_percent, alert.action, alert.lifted_at is not None)
        for alert in QuotaAlert.objects.order_by("period_starts_at", "level_percent")
    ]


def is_withdrawn() -> bool:
    return AddressSpace.objects.get(name="shop").send_withdrawn


@pytest.mark.parametrize(
    ("sent", "levels"),
    [(799, []), (800, [80]), (899, [80]), (900, [80, 90]), (999, [80, 90]), (1000, [80, 90, 100])],
)
def test_alerts_are_raised_at_their_levels(sent: int, levels: list[int]) -> None:
    pass_over(tenant(), sent)

    assert [level for level, _, _ in alerts()] == levels


def test_messages_in_and_out_and_the_copy_count_together() -> None:
    owner = tenant()
    space = AddressSpace.objects.get(tenant=owner)
    rows.used(
        rows.cell(space, "messages_in", 300),
        rows.cell(space, "messages_out", 300),
        rows.cell(space, "messages_in", 5_000, at=STARTS_AT - timedelta(minutes=15)),
    )

    # The sources counted the copied messages of the month too.
    found_standings = usage_tails.evaluate(owner.id, {"messages_in": 400, "messages_out": 400}, NOW)

    found = {quota.resource: quota for quota in found_standings}["messages_per_month"]
    assert (found.use.landed, found.use.tail) == (600, 200)
    assert (found.used, found.limit) == (800, 1000)


def test_at_the_limit_send_is_withdrawn_with_the_reason_once() -> None:
    owner = tenant()

    for _ in range(2):
        pass_over(owner, 600, 401)

    assert is_withdrawn()
    assert alerts()[-1] == (100, "withdraw_send", False)
    assert AuditEvent.objects.filter(action="quota.alert").count() == 3
    event = AuditEvent.objects.get(subject_type="address_space", actor="system")
    assert "1,001 of 1,000 messages a month are used" in event.reason


def test_a_plan_that_only_notifies_leaves_send() -> None:
    pass_over(tenant("notified"), 5000)

    assert not is_withdrawn()
    assert alerts()[-1] == (100, "notify", False)


def test_a_plan_without_the_limit_never_alerts() -> None:
    pass_over(tenant("unlimited"), 10**12)

    assert alerts() == []


def test_a_tenant_without_a_plan_has_no_limit() -> None:
    owner = tenant()
    PlanSubscription.objects.all().delete()

    pass_over(owner, 10**12)

    assert alerts() == []


def test_a_raise_lifts_by_itself_and_expires_by_itself() -> None:
    owner = tenant()
    pass_over(owner, 1000)
    QuotaOverride.objects.create(
        tenant=owner,
        resource="messages_per_month",
        amount=1200,
        reason="trade fair",
        expires_at=NOW + timedelta(days=1),
        set_by=STAFF.name,
    )

    pass_over(owner, 1000)
    raised = (is_withdrawn(), alerts())
    pass_over(owner, 1000, now=NOW + timedelta(days=2))

    assert raised == (
        False,
        [(80, "notify", False), (90, "notify", True), (100, "withdraw_send", True)],
    )
    assert is_withdrawn()
    assert [is_lifted for _, _, is_lifted in alerts()] == [False, False, False]


def test_an_alert_that_is_raised_again_says_when() -> None:
    owner = tenant()
    pass_over(owner, 800)
    first = QuotaAlert.objects.get().raised_at
    pass_over(owner, 850, now=NOW + timedelta(hours=1))
    still = QuotaAlert.objects.get().raised_at
    pass_over(owner, 700, now=NOW + timedelta(hours=2))

    pass_over(owner, 801, now=NOW + timedelta(hours=3))

    again = QuotaAlert.objects.get()
    assert (first, still) == (NOW, NOW)
    assert (again.raised_at, again.lifted_at) == (NOW + timedelta(hours=3), None)


def test_the_next_month_lifts_everything() -> None:
    owner = tenant()
    pass_over(owner, 1000)

    pass_over(owner, 0, now=ENDS_AT)

    assert not is_withdrawn()
    assert all(is_lifted for _, _, is_lifted in alerts())
    assert AuditEvent.objects.filter(action="quota.lift").count() == 3


def test_the_month_is_the_tenants_own() -> None:
    owner = tenant()
    Tenant.objects.update(billing_time_zone="America/Los_Angeles")
    pass_over(owner, 1000, now=ENDS_AT + timedelta(hours=6))

    assert QuotaAlert.objects.filter(period_starts_at=STARTS_AT + timedelta(hours=7)).count() == 3


def test_a_crash_after_the_alerts_is_repaired_by_the_next_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = tenant()

    def dies(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(restrictions, "restrict", dies)
    with pytest.raises(KeyboardInterrupt):
        pass_over(owner, 1000)
    monkeypatch.undo()
    left = (is_withdrawn(), len(alerts()))

    pass_over(owner, 1000)

    assert left == (False, 3)
    assert is_withdrawn()
    assert len(alerts()) == 3


def test_a_space_made_while_over_the_limit_loses_send_too() -> None:
    owner = tenant()
    pass_over(owner, 1000)
    late = rows.space(owner, name="late")

    pass_over(owner, 1000)

    late.refresh_from_db()
    assert late.send_withdrawn


def test_a_space_that_is_being_deleted_is_left_alone() -> None:
    owner = tenant()
    AddressSpace.objects.update(deletion_requested_at=NOW)

    pass_over(owner, 1000)

    assert not is_withdrawn()


def test_evaluate_all_takes_each_tenants_own_counts() -> None:
    busy, quiet = tenant(), rows.tenant(to=rows.plan("free"))

    usage_tails.store(busy.id, {"messages_in": 850}, NOW)

    enforcement.evaluate_all([busy.id, quiet.id], now=NOW)

    assert list(QuotaAlert.objects.values_list("tenant", flat=True)) == [busy.id]
    assert not QuotaAlert.objects.filter(tenant=quiet).exists()


def test_one_tenants_failure_stops_nobody_and_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, fine = tenant(), rows.tenant(to=rows.plan("free"))
    real = standings.of_tenant

    def of_tenant(owner: Tenant, *args: Any, **given: Any) -> list[standings.Standing]:
        if owner.id == broken.id:
            raise KeyError("definition")
        return real(owner, *args, **given)

    monkeypatch.setattr(standings, "of_tenant", of_tenant)
    for owner in (broken, fine):
        usage_tails.store(owner.id, {"messages_in": 850}, NOW)

    with capture_logs() as logs, pytest.raises(enforcement.PassIncomplete) as refused:
        enforcement.evaluate_all([broken.id, fine.id], now=NOW)

    assert list(QuotaAlert.objects.values_list("tenant", flat=True)) == [fine.id]
    assert [(log["log_level"], log["tenant"]) for log in logs] == [("error", broken.id)]
    assert refused.value.error_code == "quota.pass_incomplete"
    assert broken.id in refused.value.message


def test_a_database_that_is_away_ends_the_pass_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    owners = [tenant().id, rows.tenant(to=rows.plan("free")).id]
    asked: list[str] = []

    def evaluate(*, tenant_id: str, **_: object) -> None:
        asked.append(tenant_id)
        raise OperationalError("server closed the connection")

    monkeypatch.setattr(enforcement, "evaluate", evaluate)

    with pytest.raises(OperationalError):
        enforcement.evaluate_all(owners, now=NOW)

    assert len(asked) == 1


def test_a_suspended_tenant_may_not_send_until_it_is_restored() -> None:
    owner = tenant()
    suspensions.suspend(tenant=owner, reason="not paid", by=STAFF)
    pass_over(owner, 0)
    while_suspended = is_withdrawn()

    suspensions.restore(tenant=owner, by=STAFF)
    pass_over(owner, 0)

    assert while_suspended
    assert not is_withdrawn()


def test_a_pass_that_began_before_a_suspension_lifts_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = tenant()
    enforce = enforcement._enforce

    def late(*given: Any) -> None:
        suspensions.suspend(tenant=owner, reason="not paid", by=STAFF)
        enforce(*given)

    monkeypatch.setattr(enforcement, "_enforce", late)
    pass_over(owner, 0)

    assert is_withdrawn()


@pytest.mark.parametrize(
    ("state", "restricted"),
    [
        ({"suspended_at": NOW}, {"send_withdrawn": True}),
        ({"erase_at": NOW}, {"send_withdrawn": True}),
        ({"unpaid_stage": UnpaidStage.LIMITED}, {"send_withdrawn": True}),
        (
            {"unpaid_stage": UnpaidStage.SUSPENDED},
            {"send_withdrawn": True, "connections_refused": True},
        ),
    ],
)
def test_a_pass_repairs_a_space_that_lacks_the_restriction_of_its_tenant(
    state: dict[str, Any], restricted: dict[str, bool]
) -> None:
    owner = tenant("unlimited")
    Tenant.objects.update(**state)
    due = watched.always(NOW)

    pass_over(owner, 0)

    assert due == {owner.id}
    assert AddressSpace.objects.filter(**restricted).exists()


@pytest.mark.parametrize("state", [{}, {"suspended_at": NOW}])
def test_no_pass_looks_for_spaces_that_are_right_or_being_deleted(state: dict[str, Any]) -> None:
    tenant("unlimited")
    Tenant.objects.update(**state)
    if state:
        AddressSpace.objects.update(deletion_requested_at=NOW)

    assert watched.always(NOW) == set()
