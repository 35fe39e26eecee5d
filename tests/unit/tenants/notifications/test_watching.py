"""Troubles, certificates, tokens and maintenance: one event for each, at its time."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from controlplane.core import phases
from controlplane.core.audit import SYSTEM
from controlplane.core.phases import Phase
from controlplane.core.reasons import Reason
from tenants.actions import api_tokens
from tenants.models import AddressSpace, ApiToken, EngineRelease, MaintenanceWindow, Rollout
from tenants.notifications import watching
from tenants.notifications.models import Event, SpaceTrouble
from tenants.rollouts import Window
from tests.support import domain

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)  # a Tuesday


def events() -> list[tuple[str, dict[str, Any]]]:
    return [(row.kind, row.fields) for row in Event.objects.order_by("occurred_at", "kind")]


def kinds() -> list[str]:
    return [kind for kind, _ in events()]


@pytest.fixture
def space(cast: domain.Cast) -> AddressSpace:
    row = domain.space(cast.tenant)
    AddressSpace.objects.update(active_since=NOW - timedelta(days=9))
    return row


def observed(
    space: AddressSpace,
    status: phases.Status,
    reason: Reason,
    since: datetime,
    kind: str = phases.READY,
) -> None:
    """Store a condition of the space, as the status writer does."""
    condition = phases.build_condition(kind, status, reason, "A text.", since)
    phase = Phase.ACTIVE if status == "True" else Phase.CONFIGURING
    AddressSpace.objects.filter(pk=space.pk).update(conditions=[condition], phase=phase)


def test_a_trouble_is_reported_after_two_minutes_once_and_its_end_too(
    space: AddressSpace,
) -> None:
    observed(space, "False", Reason.BROKER_DOWN, NOW)
    watching.watch(NOW + timedelta(seconds=119))
    assert events() == []
    for seconds in (120, 150):
        watching.watch(NOW + timedelta(seconds=seconds))
    assert kinds() == ["space.trouble"]
    assert events()[0][1]["reason"] == "BrokerDown"
    assert events()[0][1]["since"] == "2026-12-01T12:00:00.000000Z"

    observed(space, "True", Reason.WORKS, NOW + timedelta(seconds=300))
    for seconds in (310, 340):
        watching.watch(NOW + timedelta(seconds=seconds))
    assert kinds() == ["space.trouble", "space.recovered"]
    assert events()[1][1]["until"] == "2026-12-01T12:05:00.000000Z"
    observed(space, "False", Reason.BROKER_DOWN, NOW + timedelta(hours=1))
    watching.watch(NOW + timedelta(hours=2))
    assert kinds() == ["space.trouble", "space.recovered", "space.trouble"]


@pytest.mark.parametrize("reason", [Reason.ROLLING_OUT, Reason.WORKS])
def test_a_planned_restart_is_no_trouble(space: AddressSpace, reason: Reason) -> None:
    observed(space, "False", reason, NOW)
    watching.watch(NOW + timedelta(hours=1))

    assert events() == []


def test_a_space_that_was_never_ready_or_is_deleted_is_no_trouble(space: AddressSpace) -> None:
    observed(space, "False", Reason.BROKER_DOWN, NOW)
    AddressSpace.objects.update(active_since=None)
    watching.watch(NOW + timedelta(hours=1))
    AddressSpace.objects.update(active_since=NOW, deletion_requested_at=NOW)
    watching.watch(NOW + timedelta(hours=1))

    assert events() == []


def test_the_trouble_of_a_deleted_space_ends_with_an_event_for_pagers(space: AddressSpace) -> None:
    observed(space, "False", Reason.BROKER_DOWN, NOW)
    watching.watch(NOW + timedelta(hours=1))
    AddressSpace.objects.update(deletion_requested_at=NOW)
    watching.watch(NOW + timedelta(hours=2))

    watching.watch(NOW + timedelta(hours=3))

    assert kinds() == ["space.trouble", "space.trouble_ended"]
    assert SpaceTrouble.objects.get().ended_at == NOW + timedelta(hours=2)


def test_a_certificate_is_reported_when_it_expires_soon_and_when_it_has(
    space: AddressSpace,
) -> None:
    for reason in (Reason.CERTIFICATE_PENDING, Reason.CERTIFICATE_EXPIRING):
        for _ in range(2):
            observed(space, "False", reason, NOW, "Certificate")
            watching.watch(NOW)
    assert kinds() == ["certificate.expiring"]
    observed(space, "False", Reason.CERTIFICATE_EXPIRED, NOW, "Certificate")
    watching.watch(NOW + timedelta(days=9))
    assert [fields["reason"] for _, fields in events()] == [
        "CertificateExpiring",
        "CertificateExpired",
    ]


def test_a_token_is_reported_a_week_and_a_day_before_it_expires(cast: domain.Cast) -> None:
    for name, expires_at in (("ci", NOW + timedelta(days=8)), ("ever", None)):
        api_tokens.issue(
            tenant=cast.tenant, name=name, role="viewer", expires_at=expires_at, by=SYSTEM
        )
    ApiToken.objects.update(created_at=NOW)
    for days in (0, 1, 2, 7, 7.5, 9):
        watching.watch(NOW + timedelta(days=days))

    assert kinds() == ["token.expiring", "token.expiring"]
    assert events()[0][1]["expires_on"] == "2026-12-09T12:00:00.000000Z"
    ApiToken.objects.update(expires_at=NOW + timedelta(days=20), revoked_at=NOW)
    watching.watch(NOW + timedelta(days=19))
    assert len(events()) == 2


@pytest.mark.parametrize(("days", "warnings"), [(1, 0), (3, 1), (7, 1), (8, 2)])
def test_a_token_is_reported_only_if_it_was_issued_for_longer(
    cast: domain.Cast, days: int, warnings: int
) -> None:
    expires_at = NOW + timedelta(days=days)
    api_tokens.issue(tenant=cast.tenant, name="ci", role="viewer", expires_at=expires_at, by=SYSTEM)
    ApiToken.objects.update(created_at=NOW)
    for hours in range(0, days * 24, 6):
        watching.watch(NOW + timedelta(hours=hours))

    assert kinds() == ["token.expiring"] * warnings


@pytest.fixture
def rollout(space: AddressSpace) -> Rollout:
    """A rollout that runs, to a release that the space does not have."""
    old, new = (
        EngineRelease.objects.create(number=n, broker_image=f"b{n}", router_image=f"r{n}")
        for n in (1, 2)
    )
    AddressSpace.objects.update(release=old, observed_release=old)
    return Rollout.objects.create(release=new, former=old, is_configured=False)


def test_maintenance_is_announced_a_day_before_the_next_window_once(
    rollout: Rollout, space: AddressSpace, cast: domain.Cast
) -> None:
    # Thursdays 02:00, and Saturdays.
    for weekday in (3, 5):
        MaintenanceWindow.objects.create(
            tenant=cast.tenant, weekday=weekday, starts_at=time(2), minutes=240
        )
    watching.watch(NOW)
    assert events() == []
    for hours in (14, 15):
        watching.watch(NOW + timedelta(hours=hours))
    assert kinds() == ["maintenance.upcoming"]
    fields = events()[0][1]
    assert (fields["spaces"], fields["starts_at"], fields["ends_at"]) == (
        1,
        "2026-12-03T02:00:00.000000Z",
        "2026-12-03T06:00:00.000000Z",
    )
    assert fields["tenant"] == cast.tenant.slug


def test_nothing_is_announced_without_work_or_while_the_rollout_is_paused(
    rollout: Rollout, space: AddressSpace, cast: domain.Cast
) -> None:
    MaintenanceWindow.objects.create(tenant=cast.tenant, weekday=2, starts_at=time(2), minutes=240)
    Rollout.objects.update(state="Paused")
    watching.watch(NOW)
    Rollout.objects.update(state="Running")
    AddressSpace.objects.update(release=rollout.release)
    watching.watch(NOW)

    assert events() == []


@pytest.mark.parametrize(
    ("weekday", "hour", "expected"),
    [
        (1, 13, datetime(2026, 12, 1, 13, tzinfo=UTC)),
        (1, 12, datetime(2026, 12, 8, 12, tzinfo=UTC)),
        (1, 11, datetime(2026, 12, 8, 11, tzinfo=UTC)),
        (0, 12, datetime(2026, 12, 7, 12, tzinfo=UTC)),
        (2, 0, datetime(2026, 12, 2, tzinfo=UTC)),
    ],
)
def test_the_next_start_of_a_window(weekday: int, hour: int, expected: datetime) -> None:
    assert Window(weekday, time(hour), 60).next_start(NOW) == expected
