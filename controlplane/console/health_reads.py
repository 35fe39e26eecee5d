"""What an operator must know about the installation, each with what to do about it.

Each check reads the database or asks one server. Together they take a constant number of queries.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.db.models import Count, F, Max, Min, Q
from django.urls import reverse

from controlplane.console import fleet_reads
from controlplane.core import reachability
from controlplane.core.models import Operation
from controlplane.core.phases import Phase
from plans.models import Invoice, Plan, UsageCopy
from tenants import queries, rollouts
from tenants.models import AddressSpace, Rollout, SpaceSecret
from tenants.notifications import undelivered_mails
from tenants.notifications.models import Channel

_UNAPPLIED_MOST = timedelta(minutes=10)  # how long a change of a space may wait for workers
_OPERATION_MOST = timedelta(hours=1)  # how long an operation may run
_USAGE_MOST = timedelta(hours=3)  # how old the newest usage may be


class Level(StrEnum):
    """How a part of the installation is: ``good``, ``warn`` (look soon) or ``bad`` (act now)."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class Check:
    """One part of the installation: how it is, what was found, and what to do.

    ``todo`` is empty if nothing is to do. ``url`` is the page about it; '' if there is none.
    """

    title: str
    level: Level
    found: str
    todo: str = ""
    url: str = ""


def checks(now: datetime) -> Sequence[Check]:
    """Return all checks at ``now``, the worst first."""
    found = [check(now) for check in _CHECKS]
    worst = [Level.BAD, Level.WARN, Level.GOOD]
    return sorted(found, key=lambda check: worst.index(check.level))


def queue(now: datetime) -> Check:
    """Check: whether Redis answers."""
    if reachability.queue_answers(settings.REDIS_URL):
        return Check("Queue", Level.GOOD, "Redis answers.")
    return Check(
        "Queue",
        Level.BAD,
        "Redis does not answer. Changes are stored, and workers apply them only later.",
        "Start Redis, and check WAYPOST_REDIS_URL. Nothing is lost: workers find their work again.",
    )


def workers(now: datetime) -> Check:
    """Check: whether workers apply changes of spaces within ten minutes."""
    rows = AddressSpace.objects.filter(deleted_at__isnull=True)
    found = rows.exclude(generation=F("observed_generation")).aggregate(
        n=Count("id"), oldest=Min("updated_at")
    )
    url = reverse("console:staff_fleet") + f"?state={fleet_reads.UNAPPLIED}&sort=waiting"
    if not found["n"] or now - found["oldest"] < _UNAPPLIED_MOST:
        return Check(
            "Workers", Level.GOOD, f"{_of(found['n'], 'change')} of spaces waiting, none for long."
        )
    minutes = int((now - found["oldest"]).total_seconds() // 60)
    return Check(
        "Workers",
        Level.BAD,
        f"{_of(found['n'], 'space')} with changes that are not applied, the oldest for "
        f"{_of(minutes, 'minute')}.",
        "Open the spaces: each says what it waits for. If none has an attempt of today, check that "
        "the worker and beat processes run, and read their logs.",
        url,
    )


def spaces(now: datetime) -> Check:
    """Check: whether spaces have failed, or have a broker or router that does not answer."""
    found = AddressSpace.objects.filter(deleted_at__isnull=True).aggregate(
        failed=Count("id", filter=Q(phase=Phase.FAILED)),
        silent=Count("id", filter=Q(silent_since__isnull=False)),
        all=Count("id"),
    )
    if not found["failed"] and not found["silent"]:
        return Check("Spaces", Level.GOOD, f"None of {_of(found['all'], 'space')} has failed.")
    # The filter of the fleet takes one state: the worse one.
    state = Phase.FAILED if found["failed"] else fleet_reads.SILENT
    return Check(
        "Spaces",
        Level.BAD,
        f"{_of(found['failed'], 'space')} failed, {found['silent']:,} with a broker or router that "
        "does not answer.",
        "Open each: its page says the reason and what to do. Waypost tries again by itself.",
        reverse("console:staff_fleet") + f"?state={state}",
    )


def operations(now: datetime) -> Check:
    """Check: whether operations run for over an hour."""
    found = Operation.objects.filter(
        state=Operation.State.RUNNING, created_at__lt=now - _OPERATION_MOST
    ).count()
    if not found:
        return Check("Operations", Level.GOOD, "No operation runs for over an hour.")
    return Check(
        "Operations",
        Level.WARN,
        f"{_of(found, 'operation')} running for over an hour.",
        "Look at the spaces whose changes are not applied. A delete waits until its volumes are "
        "gone.",
        reverse("console:staff_fleet") + f"?state={fleet_reads.UNAPPLIED}",
    )


def rollout(now: datetime) -> Check:
    """Check: whether the newest rollout is stopped or paused."""
    latest = rollouts.latest()
    if latest is None or latest.state not in (Rollout.State.STOPPED, Rollout.State.PAUSED):
        words = "No rollout is stopped." if latest else "There was no rollout yet."
        return Check("Rollout", Level.GOOD, words)
    is_stopped = latest.state == Rollout.State.STOPPED
    return Check(
        "Rollout",
        Level.BAD if is_stopped else Level.WARN,
        f"The rollout of release {latest.release.number} is {latest.state.lower()}.",
        "Read why the spaces failed, then resume it or roll back."
        if is_stopped
        else "Resume it when you are ready.",
        reverse("console:staff_fleet"),
    )


def usage(now: datetime) -> Check:
    """Check: whether usage is younger than three hours, if spaces are metered."""
    as_of = UsageCopy.objects.aggregate(as_of=Max("as_of"))["as_of"]
    # A new installation has no usage, which is no problem.
    if not queries.list_sampled_spaces().exists():
        return Check("Metering", Level.GOOD, "No space is metered yet.")
    pipeline = reverse("console:staff_pipeline")
    if as_of is not None and now - as_of < _USAGE_MOST:
        minutes = int((now - as_of).total_seconds() // 60)
        return Check(
            "Metering", Level.GOOD, f"Usage is {_of(minutes, 'minute')} old.", url=pipeline
        )
    age = f"{_of(int((now - as_of).total_seconds() // 3600), 'hour')} old" if as_of else "missing"
    return Check(
        "Metering",
        Level.BAD,
        f"Usage is {age}, although spaces are metered. Quotas and pages show old figures.",
        "Check that the metering worker samples and commits, and that the jobs of the lakehouse "
        "run. Nothing is lost while batches are landed.",
        pipeline,
    )


def certificates(now: datetime) -> Check:
    """Check: whether certificates of spaces end within a week."""
    # Workers renew certificates long before this, so they have missed each of these.
    ending = SpaceSecret.objects.filter(
        space__deleted_at__isnull=True, expires_at__lt=now + fleet_reads.ENDING_WITHIN
    ).count()
    if not ending:
        return Check("Certificates", Level.GOOD, "None ends within a week.")
    return Check(
        "Certificates",
        Level.WARN,
        f"{_of(ending, 'certificate')} of spaces ending within a week.",
        "Waypost renews them in time. If one stays, its space does not get its passes: retry it.",
        reverse("console:staff_fleet") + f"?state={fleet_reads.ENDING}",
    )


def invoices(now: datetime) -> Check:
    """Check: whether invoices are held."""
    held = Invoice.objects.filter(state=Invoice.State.HELD).count()
    if not held:
        return Check("Invoices", Level.GOOD, "None is held.")
    return Check(
        "Invoices",
        Level.WARN,
        f"{_of(held, 'invoice')} held.",
        "Open each: it says what must be corrected. Then close the period again.",
        reverse("console:staff_invoices") + "?state=held",
    )


def catalog(now: datetime) -> Check:
    """Check: whether a catalog is published."""
    if Plan.objects.exists():
        return Check("Catalog", Level.GOOD, "A catalog is published.")
    return Check(
        "Catalog",
        Level.BAD,
        "No catalog is published, so nobody can sign up.",
        "Publish one with waypost catalog publish.",
    )


def notifications(now: datetime) -> Check:
    """Check: whether mails leave, and whether channels fail."""
    failing = Channel.objects.filter(failing_since__isnull=False).count()
    mails = undelivered_mails.count(now)
    mailbox = reverse("console:staff_mailbox")
    if not settings.EMAIL_HOST:
        return Check(
            "Notifications",
            Level.WARN,
            "There is no SMTP server: mails stay in the mailbox, and nobody gets them.",
            "Set WAYPOST_SMTP_HOST: the value mail.host of the chart, or waypost up --set on one "
            "machine.",
            mailbox,
        )
    if mails.late or mails.failed:
        return Check(
            "Notifications",
            Level.WARN,
            f"{_of(mails.late, 'mail')} waiting for over 15 minutes, and {mails.failed:,} given up "
            "in 24 hours.",
            "The mailbox lists them with the answers of the mail server. Once it takes mails "
            "again, send those that were given up again there.",
            mailbox,
        )
    if failing:
        return Check(
            "Notifications",
            Level.WARN,
            f"{_of(failing, 'channel')} of tenants failing.",
            "Mostly the receiver is down. If many fail, check that workers reach the internet.",
        )
    return Check(
        "Notifications", Level.GOOD, "No mail is late, none was given up, and no channel fails."
    )


def _of(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


_CHECKS: Sequence[Callable[[datetime], Check]] = (
    queue,
    workers,
    spaces,
    operations,
    rollout,
    usage,
    certificates,
    invoices,
    catalog,
    notifications,
)
