"""Claims, backoff, the end of a delivery, and the end of a channel that always fails."""

from datetime import UTC, datetime, timedelta

import pytest

from controlplane.core import secrets
from tenants.models import Membership, Tenant, User
from tenants.notifications import deliveries, outbox, routing
from tenants.notifications.deliveries import BACKOFF_SECONDS, DISABLE_AFTER, LEASE, Outcome
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import Attempt, Channel, Delivery, Event, MailboxMessage
from tests.support import domain

NOW = datetime(2026, 12, 1, 2, tzinfo=UTC)
OK = Outcome(12, status=204)
BAD = Outcome(12, "The receiver answered 500.", 500, "sorry")
State = Delivery.State


@pytest.fixture
def channel(cast: domain.Cast) -> Channel:
    return Channel.objects.create(
        tenant=cast.tenant,
        name="pager",
        kind="chat",
        target_encrypted=secrets.encrypt("slack://a/b/c"),
        label="Slack",
    )


def routed(channel: Channel, n: int = 1) -> None:
    """Route ``n`` events to the channel alone."""
    for number in range(n):
        outbox.write_to_channel(
            "channel.test",
            channel=channel,
            key=f"{Event.objects.count()}-{number}",
            fields={"channel": channel.name},
            now=NOW,
        )
    routing.route(NOW)


def claimed(now: datetime = NOW) -> Delivery:
    (row,) = deliveries.claim(now, 10)
    return row


def test_a_claimed_delivery_is_not_claimed_again_before_its_lease_ends(channel: Channel) -> None:
    routed(channel)
    first = claimed()

    assert deliveries.claim(NOW, 10) == []
    assert deliveries.claim(NOW + LEASE - timedelta(seconds=1), 10) == []
    # The worker was killed: another one tries again.
    second = claimed(NOW + LEASE)
    assert (first.attempts, second.attempts) == (1, 2)


def test_a_success_ends_the_delivery_and_is_logged(channel: Channel) -> None:
    routed(channel)
    deliveries.record(claimed(), OK, NOW)

    row = Delivery.objects.get()
    assert (row.state, row.ended_at) == (State.DELIVERED, NOW)
    log = Attempt.objects.get()
    assert (log.status, log.duration_ms, log.error) == (204, 12, "")
    assert deliveries.claim(NOW + timedelta(days=9), 10) == []


def test_failures_are_repeated_for_a_day_and_then_end_the_delivery(channel: Channel) -> None:
    routed(channel)
    at = NOW
    for seconds in BACKOFF_SECONDS:
        deliveries.record(claimed(at), BAD, at)
        Channel.objects.update(failing_since=None)  # other deliveries arrive
        assert deliveries.claim(at + timedelta(seconds=seconds - 1), 10) == []
        at += timedelta(seconds=seconds)
    deliveries.record(claimed(at), BAD, at)

    row = Delivery.objects.get()
    assert (row.state, row.reason) == (State.FAILED, "The receiver answered 500.")
    assert Attempt.objects.count() == len(BACKOFF_SECONDS) + 1
    assert timedelta(hours=23) < at - NOW < timedelta(hours=25)


def test_a_delivery_that_waits_says_why_its_last_attempt_failed(channel: Channel) -> None:
    routed(channel)
    deliveries.record(claimed(), BAD, NOW)

    row = Delivery.objects.get()
    assert (row.state, row.reason) == (State.WAITING, "The receiver answered 500.")
    deliveries.record(claimed(row.next_attempt_at), OK, row.next_attempt_at)
    row.refresh_from_db()
    assert (row.state, row.reason) == (State.DELIVERED, "")


def test_a_receiver_may_ask_for_more_time(channel: Channel) -> None:
    routed(channel)
    wish = Outcome(1, "The receiver answered 429.", 429, retry_after_seconds=900)
    deliveries.record(claimed(), wish, NOW)

    assert Delivery.objects.get().next_attempt_at == NOW + timedelta(seconds=900)


def test_a_failure_of_a_worker_that_lost_its_claim_changes_nothing(channel: Channel) -> None:
    routed(channel)
    late = claimed()
    present = claimed(NOW + LEASE)
    deliveries.record(late, BAD, NOW + LEASE)

    row = Delivery.objects.get()
    assert row.next_attempt_at == NOW + 2 * LEASE
    deliveries.record(late, OK, NOW + LEASE)  # but a success did arrive
    deliveries.record(present, BAD, NOW + LEASE)
    assert Delivery.objects.get().state == State.DELIVERED
    assert Attempt.objects.count() == 3


def test_a_channel_that_fails_for_long_is_disabled_with_a_notice(
    channel: Channel, cast: domain.Cast
) -> None:
    routed(channel, 2)
    first, second = deliveries.claim(NOW, 10)
    deliveries.record(first, BAD, NOW)
    deliveries.record(second, BAD, NOW + DISABLE_AFTER - timedelta(seconds=1))
    channel.refresh_from_db()
    assert (channel.failing_since, channel.disabled_at) == (NOW, None)

    at = NOW + DISABLE_AFTER
    third = deliveries.claim(at, 10)[0]
    deliveries.record(third, BAD, at)

    channel.refresh_from_db()
    assert channel.disabled_at == at
    assert set(Delivery.objects.values_list("state", flat=True)) == {State.DROPPED}
    notice = Event.objects.get(kind="channel.disabled")
    assert notice.fields["reason"] == "every delivery has failed for 12 hours."
    routing.route(at)
    mails = Delivery.objects.filter(event=notice)
    assert [row.email for row in mails] == [cast.owner.email]  # not the channel itself


def test_a_success_between_failures_keeps_the_channel(channel: Channel) -> None:
    routed(channel, 3)
    first, second, third = deliveries.claim(NOW, 10)
    deliveries.record(first, BAD, NOW)
    deliveries.record(second, OK, NOW + timedelta(hours=6))
    deliveries.record(third, BAD, NOW + DISABLE_AFTER)

    channel.refresh_from_db()
    assert channel.disabled_at is None
    assert channel.failing_since == NOW + DISABLE_AFTER


def test_a_receiver_that_is_gone_disables_its_channel_at_once(channel: Channel) -> None:
    routed(channel)
    gone = Outcome(1, "The receiver answered 410.", 410, is_gone=True, is_final=True)
    deliveries.record(claimed(), gone, NOW)

    channel.refresh_from_db()
    assert channel.disabled_at == NOW
    assert Delivery.objects.get().state == State.FAILED


def test_a_backlog_of_one_channel_leaves_turns_to_the_others(
    channel: Channel, cast: domain.Cast
) -> None:
    routed(channel, 12)
    outbox.write(
        "alarm.raised",
        tenant=cast.tenant,
        key="x",
        fields=BY_KEY["alarm.raised"].sample,
        now=NOW + timedelta(seconds=1),
    )
    Channel.objects.update(disabled_at=NOW)
    routing.route(NOW + timedelta(seconds=1))
    rows = deliveries.claim(NOW + timedelta(seconds=1), 8)

    assert sum(row.channel_id == channel.pk for row in rows) == 4
    assert {row.email for row in rows if not row.channel_id} == {
        cast.owner.email,
        cast.member.email,
    }


@pytest.mark.parametrize("change", ["leaves", "role", "disabled"])
def test_a_person_who_may_not_see_it_any_more_gets_nothing(cast: domain.Cast, change: str) -> None:
    outbox.write(
        "invoice.issued",
        tenant=cast.tenant,
        key="x",
        fields=BY_KEY["invoice.issued"].sample,
        now=NOW,
    )
    routing.route(NOW)
    row = claimed()
    assert deliveries.why_dropped(row) == ""
    if change == "leaves":
        Membership.objects.filter(user=cast.owner).delete()
    elif change == "role":
        Membership.objects.filter(user=cast.owner).update(role="viewer")
    else:
        User.objects.filter(pk=cast.owner.pk).update(is_active=False)
        row.user = User.objects.get(pk=cast.owner.pk)

    reason = deliveries.why_dropped(row)
    assert reason
    deliveries.drop(row, reason, NOW)
    assert Delivery.objects.get().state == State.DROPPED


def test_a_former_email_for_invoices_gets_nothing(cast: domain.Cast) -> None:
    Tenant.objects.filter(pk=cast.tenant.pk).update(billing_email="books@outside.test")
    fields = BY_KEY["invoice.overdue"].sample
    outbox.write("invoice.overdue", tenant=cast.tenant, key="x", fields=fields, now=NOW)
    routing.route(NOW)
    Delivery.objects.exclude(email="books@outside.test").delete()
    assert deliveries.why_dropped(claimed()) == ""

    Tenant.objects.filter(pk=cast.tenant.pk).update(billing_email="new@outside.test")
    row = Delivery.objects.select_related("event", "tenant").get()
    assert deliveries.why_dropped(row) == "The email for invoices has changed."


def test_old_events_and_mails_are_deleted_but_not_what_waits(channel: Channel) -> None:
    routed(channel, 2)
    first, _ = deliveries.claim(NOW, 10)
    deliveries.record(first, OK, NOW)
    MailboxMessage.objects.create(sender="a@b.test", recipients=["c@d.test"], subject="x")
    MailboxMessage.objects.update(at=NOW)

    assert deliveries.delete_old(NOW + timedelta(days=29)) == 0
    assert deliveries.delete_old(NOW + timedelta(days=31)) > 0
    assert Event.objects.count() == 1
    assert not MailboxMessage.objects.exists()
