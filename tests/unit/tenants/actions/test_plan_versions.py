"""Followers and stayers: notice, moves at a month or an instant, and those that do not fit."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from controlplane.core.errors import Conflict
from controlplane.core.models import AuditEvent
from plans.catalog import publishing
from plans.invoicing import facts
from plans.models import CatalogDraft, PlanSubscription
from plans.rating.periods import Period
from tenants.actions import catalog_drafts, plan_subscriptions, plan_versions
from tenants.actions.catalog_drafts import Timing
from tenants.models import Tenant
from tenants.notifications import deliveries, outbox
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 5, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
DEARER = rows.CATALOG.replace('"monthly_fee_minor": 4900', '"monthly_fee_minor": 5900')


def follower(**fields: Any) -> Tenant:
    owner = rows.tenant(**fields)
    plan_versions.choose(tenant=owner, follows=True, by=rows.STAFF, now=NOW)
    return owner


def scheduled(
    text: str = DEARER, *, at: datetime | None = None, at_period: bool = True
) -> CatalogDraft:
    if publishing.newest_version() is None:
        rows.plan()
    draft = catalog_drafts.prepare(yaml=text, by=rows.STAFF)
    timing = Timing(at, at_period)
    return catalog_drafts.publish(draft=draft, timing=timing, by=rows.STAFF, now=NOW)


def announced(now: datetime = NOW) -> list[dict[str, Any]]:
    while plan_versions.announce(now):
        pass
    return list(Event.objects.filter(kind="plan.version").values_list("fields", flat=True))


def moved(now: datetime) -> None:
    catalog_drafts.publish_due(now)
    announced(now)
    while plan_versions.move_due(now):
        pass


def open_of(owner: Tenant) -> PlanSubscription:
    return PlanSubscription.objects.select_related("plan").get(tenant=owner, ends_at__isnull=True)


def test_a_follower_moves_with_its_month_after_notice_and_a_stayer_stays() -> None:
    stayer, owner = rows.tenant(), follower()
    scheduled()

    first = announced()
    again = announced()
    moved(JUNE - timedelta(seconds=1))
    assert open_of(owner).plan.version == 1
    moved(JUNE)
    moved(JUNE)

    assert (open_of(owner).plan.version, open_of(stayer).plan.version) == (2, 1)
    assert (open_of(owner).starts_at, open_of(owner).follows) == (JUNE, True)
    assert first == again
    texts = {fields["tenant"]: fields["consequence"] for fields in first}
    assert "moves on 2026-06-01" in texts[owner.slug]
    assert "sold from 2026-05-05 on. You stay with your version." in texts[stayer.slug]
    assert {fields["changes"] for fields in first} == {"Monthly fee: 49.00 EUR → 59.00 EUR."}
    assert AuditEvent.objects.filter(action="plan_subscription.move").count() == 1


def test_the_notice_comes_before_the_move_however_soon_the_catalog_takes_effect(
    settings: Settings,
) -> None:
    settings.CATALOG_NOTICE_DAYS = 30
    owner = follower()
    scheduled()
    announced()

    # 5 May and 30 days is 4 June, so the next month begins on 1 July.
    assert open_of(owner).moves_at == datetime(2026, 7, 1, tzinfo=UTC)


def test_a_month_begins_in_the_billing_time_zone() -> None:
    owner = follower(billing_time_zone="America/New_York")
    scheduled()
    announced()

    assert open_of(owner).moves_at == datetime(2026, 6, 1, 4, tzinfo=UTC)


@pytest.mark.parametrize(("at", "month"), [(JUNE - timedelta(days=1), 6), (JUNE, 7)])
def test_a_catalog_in_force_the_day_before_moves_all_time_zones_with_the_month(
    at: datetime, month: int
) -> None:
    zones = ("Pacific/Kiritimati", "Europe/Berlin")
    owners = [follower(billing_time_zone=name) for name in zones]
    scheduled(at=at)
    announced()

    for owner, name in zip(owners, zones, strict=True):
        begins = datetime(2026, month, 1, tzinfo=ZoneInfo(name))
        assert open_of(owner).moves_at == begins


def test_a_move_within_a_month_divides_the_month() -> None:
    owner = follower()
    middle = datetime(2026, 5, 25, tzinfo=UTC)
    scheduled(at=middle, at_period=False)
    announced()
    moved(middle + timedelta(minutes=5))

    may = Period(datetime(2026, 5, 1, tzinfo=UTC), JUNE)
    segments = facts.segments_of(facts.subscriptions_of([owner], may)[owner.id], may, "EUR")
    assert [(s.plan_version, s.period.ends_at) for s in segments] == [(1, middle), (2, JUNE)]


def test_a_move_never_reaches_into_a_billed_period() -> None:
    owner = follower()
    scheduled(at=NOW + timedelta(days=15), at_period=False)
    announced()
    row = open_of(owner)
    PlanSubscription.objects.filter(pk=row.pk).update(moves_at=datetime(2026, 4, 20, tzinfo=UTC))
    rows.issued(owner)

    moved(NOW + timedelta(days=20))

    assert open_of(owner).starts_at == rows.ENDS_AT + timedelta(microseconds=1)


def canceled(found: list[dict[str, Any]]) -> set[str]:
    """Return the slugs of the tenants that were told of a cancellation."""
    return {fields["tenant"] for fields in found if "is canceled" in fields["consequence"]}


def test_a_canceled_catalog_takes_planned_moves_back_and_tells_who_had_notice() -> None:
    stayer, owner = rows.tenant(), follower()
    draft = scheduled(at=JUNE)
    announced()
    assert open_of(owner).moves_by == draft

    catalog_drafts.cancel(draft=draft, by=rows.STAFF)
    found = announced()

    assert open_of(owner).moves_at is None
    assert canceled(found) == {owner.slug, stayer.slug}
    texts = {f["tenant"]: f["consequence"] for f in found if "is canceled" in f["consequence"]}
    assert "You keep your version" in texts[stayer.slug]
    moved(JUNE)
    assert open_of(owner).plan.version == 1


def test_a_cancellation_before_the_notice_tells_nobody() -> None:
    follower()
    scheduled()
    announced()  # an earlier move, to the version in force
    draft = scheduled(DEARER.replace("5900", "6900"), at=datetime(2026, 8, 1, tzinfo=UTC))

    catalog_drafts.cancel(draft=draft, by=rows.STAFF)

    assert canceled(announced()) == set()


def test_who_had_notice_long_ago_learns_of_a_cancellation_too() -> None:
    stayer = rows.tenant()
    draft = scheduled(at=datetime(2026, 9, 1, tzinfo=UTC))
    announced()
    later = NOW + timedelta(days=60)
    deliveries.delete_old(later)

    catalog_drafts.cancel(draft=draft, by=rows.STAFF)

    assert canceled(announced(later)) == {stayer.slug}
    deliveries.delete_old(later + timedelta(days=60))
    assert not Event.objects.exists()


def test_an_announced_move_comes_before_that_of_a_catalog_scheduled_later() -> None:
    owner = follower()
    scheduled()
    announced()
    third = DEARER.replace("5900", "6900")
    draft = scheduled(third, at=datetime(2026, 8, 1, tzinfo=UTC))
    found = announced()

    assert open_of(owner).moves_at == JUNE
    assert sorted(f["on"][:10] for f in found) == ["2026-06-01", "2026-08-01"]
    moved(JUNE)
    assert open_of(owner).plan.version == 2
    moved(draft.effective_at or JUNE)
    assert open_of(owner).plan.version == 3


def test_a_cancellation_leaves_the_move_to_the_version_in_force() -> None:
    owner = follower()
    scheduled()
    announced()
    draft = scheduled(DEARER.replace("5900", "6900"), at=datetime(2026, 8, 1, tzinfo=UTC))
    announced()
    PlanSubscription.objects.update(moves_at=draft.effective_at, moves_by=draft)

    catalog_drafts.cancel(draft=draft, by=rows.STAFF)
    last = announced()[-1]

    assert open_of(owner).moves_at == JUNE
    assert "moves to another new version on 2026-06-01" in last["consequence"]


def test_nobody_moves_while_a_catalog_is_not_announced_to_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner, other = follower(), follower()
    scheduled()
    announced()
    scheduled(DEARER.replace("5900", "6900"))
    monkeypatch.setattr(plan_versions, "BATCH", 1)
    plan_versions.announce(JUNE)

    assert not plan_versions.move_due(JUNE)
    assert {open_of(one).plan.version for one in (owner, other)} == {1}


def test_who_does_not_fit_the_new_version_keeps_the_old_one_and_learns_why() -> None:
    owner = follower()
    rows.space(owner)
    content = json.loads(DEARER)
    content["plans"]["team"]["space_plans"] = ["free-of-charge"]
    scheduled(json.dumps(content))
    announced()
    moved(JUNE)

    assert (open_of(owner).plan.version, open_of(owner).moves_at) == (1, None)
    (kept,) = [f for f in announced() if "does not fit" in f["consequence"]]
    assert "standard-small" in kept["consequence"]


def test_who_begins_on_the_old_version_after_the_announcement_gets_notice_too() -> None:
    scheduled(at=JUNE)
    announced()
    late = follower()
    assert open_of(late).moves_at == JUNE  # chosen while the draft is scheduled
    quiet = rows.tenant()

    moved(JUNE)

    assert open_of(late).plan.version == 2
    slugs = [fields["tenant"] for fields in announced()]
    assert sorted(slugs) == sorted([late.slug, quiet.slug])


def test_who_chooses_to_follow_later_moves_with_the_next_month() -> None:
    owner = rows.tenant()
    scheduled()

    plan_versions.choose(tenant=owner, follows=True, by=rows.STAFF, now=NOW)
    assert open_of(owner).moves_at == JUNE
    plan_versions.choose(tenant=owner, follows=False, by=rows.STAFF, now=NOW)
    moved(JUNE)

    assert open_of(owner).plan.version == 1
    assert AuditEvent.objects.filter(action="plan_subscription.follow").count() == 2


def test_a_change_of_plan_keeps_the_choice_and_ends_the_planned_move() -> None:
    owner = follower()
    scheduled(at=JUNE)
    announced()

    plan_subscriptions.change(tenant=owner, plan_key="business", by=rows.STAFF)

    assert (open_of(owner).follows, open_of(owner).moves_at) == (True, None)


def test_a_killed_move_leaves_nothing_half_done(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = follower()
    scheduled()
    announced()

    class Killed(BaseException):
        pass

    def kill(**_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(PlanSubscription.objects, "create", kill)
        with pytest.raises(Killed):
            moved(JUNE)
    assert open_of(owner).plan.version == 1
    moved(JUNE)

    assert open_of(owner).plan.version == 2


def test_one_faulty_tenant_stops_no_other_move(monkeypatch: pytest.MonkeyPatch) -> None:
    faulty, owner = follower(), follower()
    scheduled()
    announced()
    check = plan_subscriptions.check_fits

    def checked(tenant: Tenant, *of: Any) -> None:
        if tenant.pk == faulty.pk:
            raise ValueError
        check(tenant, *of)

    monkeypatch.setattr(plan_subscriptions, "check_fits", checked)
    moved(JUNE)

    assert (open_of(faulty).plan.version, open_of(owner).plan.version) == (1, 2)


def test_moves_that_always_fail_keep_no_later_one_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_versions, "BATCH", 2)
    faulty, owner = [follower(), follower()], follower()
    scheduled()
    announced()
    PlanSubscription.objects.filter(tenant__in=faulty).update(moves_at=JUNE - timedelta(days=1))
    check = plan_subscriptions.check_fits

    def checked(tenant: Tenant, *of: Any) -> None:
        if tenant in faulty:
            raise ValueError
        check(tenant, *of)

    monkeypatch.setattr(plan_subscriptions, "check_fits", checked)
    moved(JUNE)
    moved(JUNE)  # the next periodic run

    assert {open_of(one).plan.version for one in faulty} == {1}
    assert {open_of(one).moves_at for one in faulty} == {JUNE - timedelta(days=1)}
    assert open_of(owner).plan.version == 2


def test_batches_go_on_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_versions, "BATCH", 2)
    owners = [follower() for _ in range(5)]
    scheduled()

    assert plan_versions.announce(NOW)
    assert Event.objects.filter(kind="plan.version").count() == 2
    announced()
    moved(JUNE)

    assert {open_of(owner).plan.version for owner in owners} == {2}
    assert Event.objects.filter(kind="plan.version").count() == 5


def test_nothing_due_costs_three_queries(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for _ in range(3):
        follower()
    with django_assert_max_num_queries(7):  # with the savepoints of two transactions
        catalog_drafts.publish_due(NOW)
        plan_versions.announce(NOW)
        plan_versions.move_due(NOW)


def test_a_plan_without_a_change_concerns_nobody() -> None:
    follower(to=rows.plan("business"))
    scheduled()

    assert announced() == []


def test_a_tenant_without_a_plan_cannot_choose() -> None:
    owner = rows.tenant()
    PlanSubscription.objects.update(ends_at=NOW)

    with pytest.raises(Conflict):
        plan_versions.choose(tenant=owner, follows=True, by=rows.STAFF, now=NOW)
    assert publishing.plan("team").version == 1


@pytest.mark.parametrize("at", [None, JUNE])
def test_one_tenant_that_cannot_be_told_keeps_no_other_from_moving(at: datetime | None) -> None:
    faulty, owner = follower(), follower()
    draft = scheduled(at=at)
    # A zone that the system has no longer.
    Tenant.objects.filter(pk=faulty.pk).update(billing_time_zone="Mars/Base")

    assert [fields["tenant"] for fields in announced()] == [owner.slug]
    moved(JUNE)

    assert (open_of(faulty).plan.version, open_of(owner).plan.version) == (1, 2)
    assert (open_of(faulty).follows, open_of(faulty).moves_at) == (True, None)
    draft.refresh_from_db()
    assert draft.is_announced
    assert draft.error == (
        f"Tenants that could not be notified, and do not move: {faulty.slug}. "
        "The log has the reason."
    )


def test_a_tenant_that_was_told_of_a_scheduled_catalog_moves_though_it_cannot_be_told_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = follower()
    draft = scheduled(at=JUNE)
    announced()

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError

    with monkeypatch.context() as faulty:
        faulty.setattr(outbox, "write", fail)
        catalog_drafts.publish_due(JUNE)
        announced(JUNE)
    moved(JUNE)

    draft.refresh_from_db()
    assert (open_of(owner).plan.version, draft.error) == (2, "")


def test_a_tenant_that_was_not_told_of_a_scheduled_catalog_gets_the_notice_with_its_publication(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = follower()
    scheduled(at=JUNE)

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError

    with monkeypatch.context() as faulty:
        faulty.setattr(outbox, "write", fail)
        assert announced() == []
    moved(JUNE)

    assert open_of(owner).plan.version == 1
    (event,) = announced(JUNE)
    assert event["on"] == "2026-07-01T00:00:00.000000Z"
    moved(datetime(2026, 7, 1, tzinfo=UTC))
    assert open_of(owner).plan.version == 2


def test_one_tenant_that_cannot_be_told_keeps_no_other_from_learning_of_a_cancellation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faulty, owner = follower(), follower()
    draft = scheduled(at=JUNE)
    announced()
    catalog_drafts.cancel(draft=draft, by=rows.STAFF)
    real = outbox.write

    def write(kind: str, *, tenant: Tenant, **values: Any) -> None:
        if tenant == faulty:
            raise ValueError
        real(kind, tenant=tenant, **values)

    monkeypatch.setattr(outbox, "write", write)
    found = announced()

    assert [f["tenant"] for f in found if "canceled" in f["consequence"]] == [owner.slug]
    assert {open_of(one).moves_at for one in (faulty, owner)} == {None}
    draft.refresh_from_db()
    assert faulty.slug in draft.error
