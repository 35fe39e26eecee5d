"""What makes the product write an event of each kind, by its own code, and who gets that event."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from controlplane.core import phases
from controlplane.core.reasons import Reason
from plans.catalog import publishing
from plans.invoicing import issuing
from plans.models import PlanSubscription
from plans.quotas.resources import Resource
from plans.usage.meters import MESSAGES_IN
from tenants.actions import (
    api_tokens,
    catalog_drafts,
    closures,
    invitations,
    notification_channels,
    notification_preferences,
    plan_versions,
    suspensions,
)
from tenants.actions.notification_channels import Target
from tenants.models import Address, AddressSpace, EngineRelease, MaintenanceWindow, Rollout, User
from tenants.notifications import watching
from tenants.notifications.models import Channel
from tests.support import domain
from tests.support.domain import Cast
from tests.support.notifications import mails, notified, payment_causes, receiver
from tests.support.notifications.payment_causes import reported, unpaid_for
from tests.support.plans import usage_tails
from tests.support.portal import rows
from workers.messaging.observed import AddressGauges, InstanceSnapshot
from workers.metering import sampling
from workers.metering.collector import Reading
from workers.notifications import spend

STAFF = "staff@op.test"
BOOKS = "bills@acme.example"  # the email for invoices of a tenant that has one
INVITED = "new@acme.test"


@dataclass(frozen=True)
class Cause:
    """``happen`` brings one event about; ``people`` get it by mail, and ``addresses`` knows them.

    ``has_webhook``: webhooks that want every kind get it too.
    """

    happen: Callable[[Cast, Channel], None]
    people: str
    has_webhook: bool = True


def _quota(cast: Cast, _: Channel) -> None:
    domain.limit(cast.tenant, Resource.MESSAGES_PER_MONTH, 10)
    counts = {MESSAGES_IN: 10}
    usage_tails.evaluate(cast.tenant.id, counts, timezone.now())


def _spend(cast: Cast, _: Channel) -> None:
    # The fee of the plan is more than that.
    notification_preferences.set_budget(tenant=cast.tenant, amount_minor=1, by=cast.by)
    spend.watch(timezone.now())


def _issued(cast: Cast, _: Channel) -> None:
    rows.issued(cast.tenant)


def _version(cast: Cast, _: Channel) -> None:
    text = publishing.default_yaml().replace("monthly_fee_minor: 4900", "monthly_fee_minor: 5900")
    # The change concerns this tenant only.
    others = PlanSubscription.objects.exclude(tenant=cast.tenant)
    others.update(ends_at=timezone.now())
    draft = catalog_drafts.prepare(yaml=text.replace("title: Free", "title: Gratis"), by=cast.by)
    catalog_drafts.publish(draft=draft, by=cast.by, now=timezone.now())
    plan_versions.announce(timezone.now())


def _overdue(cast: Cast, _: Channel) -> None:
    invoice = rows.issued(cast.tenant)
    assert invoice.due_at is not None
    issuing.mark_overdue(by=rows.STAFF, now=invoice.due_at + timedelta(days=1))


def _invited(cast: Cast, _: Channel) -> None:
    invitations.invite(tenant=cast.tenant, email=INVITED, role="developer", by=cast.by)


def _suspended(cast: Cast, _: Channel) -> None:
    suspensions.suspend(tenant=cast.tenant, reason="An invoice is unpaid.", by=rows.STAFF)


def _restored(cast: Cast, channel: Channel) -> None:
    _suspended(cast, channel)
    suspensions.restore(tenant=cast.tenant, by=rows.STAFF)


def _closing(cast: Cast, _: Channel) -> None:
    closures.request(tenant=cast.tenant, by=cast.by)


def _forgotten(cast: Cast, _: Channel) -> None:
    cast.owner.set_password(domain.PASSWORD)
    cast.owner.save()
    Client().post(reverse("account_reset_password"), {"email": cast.owner.email})


def _space(cast: Cast) -> AddressSpace:
    row = domain.space(cast.tenant, "brokered")
    AddressSpace.objects.update(active_since=timezone.now() - timedelta(days=9))
    return row


def _observe(space: AddressSpace, kind: str, status: phases.Status, reason: Reason) -> None:
    """Store a condition that is ten minutes old, as the status writer does; then watch."""
    since = timezone.now() - timedelta(minutes=10)
    found = phases.build_condition(kind, status, reason, "A text.", since)
    AddressSpace.objects.filter(pk=space.pk).update(conditions=[found])
    watching.watch(timezone.now())


def _trouble(cast: Cast, _: Channel) -> None:
    _observe(_space(cast), phases.READY, "False", Reason.BROKER_DOWN)


def _recovered(cast: Cast, _: Channel) -> None:
    space = _space(cast)
    _observe(space, phases.READY, "False", Reason.BROKER_DOWN)
    _observe(space, phases.READY, "True", Reason.WORKS)


def _deleted_in_trouble(cast: Cast, _: Channel) -> None:
    space = _space(cast)
    _observe(space, phases.READY, "False", Reason.BROKER_DOWN)
    AddressSpace.objects.filter(pk=space.pk).update(deletion_requested_at=timezone.now())
    watching.watch(timezone.now())


def _certificate(cast: Cast, _: Channel) -> None:
    _observe(_space(cast), "Certificate", "False", Reason.CERTIFICATE_EXPIRING)


def _token(cast: Cast, _: Channel) -> None:
    ends = timezone.now() + timedelta(days=30)
    api_tokens.issue(tenant=cast.tenant, name="ci", role="viewer", expires_at=ends, by=cast.by)
    watching.watch(ends - timedelta(days=5))


def _maintenance(cast: Cast, _: Channel) -> None:
    space, soon = _space(cast), timezone.now() + timedelta(hours=3)
    old, new = (
        EngineRelease.objects.create(number=n, broker_image=f"b{n}", router_image=f"r{n}")
        for n in (1, 2)
    )
    AddressSpace.objects.filter(pk=space.pk).update(release=old, observed_release=old)
    Rollout.objects.create(release=new, former=old, is_configured=False)
    MaintenanceWindow.objects.create(
        tenant=cast.tenant, weekday=soon.weekday(), starts_at=time(soon.hour), minutes=240
    )
    watching.watch(timezone.now())


def _alarm(metric: str, depths: list[int]) -> Callable[[Cast, Channel], None]:
    """Return what samples a queue with each of ``depths`` messages, which are a minute old."""

    def happen(cast: Cast, _: Channel) -> None:
        space = _space(cast)
        notified.alarm(domain.address(space, "orders"), metric, threshold=50)
        for seconds, depth in enumerate(depths):
            at = timezone.now() + timedelta(seconds=seconds)
            _sample(space, depth, at)

    return happen


def _deleted(cast: Cast, channel: Channel) -> None:
    _alarm("depth", [120])(cast, channel)
    domain.gone(Address.objects.get(address="orders"))
    watching.watch(timezone.now())


def _sample(space: AddressSpace, depth: int, at: datetime) -> None:
    oldest_ms = 60_000 if depth else None
    gauges = {"orders": AddressGauges(depth, 0, depth=depth, oldest_ms=oldest_ms)}
    found = {"broker-0": InstanceSnapshot("b", [], [], 0, gauges)}
    sampling.apply(Reading(space.tenant_id, space.id, at, found, {}), started_at=at)


def _gone(cast: Cast, _: Channel) -> None:
    """Test a second channel whose receiver says that it is gone for good."""
    with receiver.running() as there:
        there.status = 410
        target = Target("webhook", there.url)
        channel, _secret = notification_channels.create(
            tenant=cast.tenant, name="gone", target=target, kinds=["invoice.issued"], by=cast.by
        )
        notification_channels.test(channel=channel, by=cast.by)
        mails.delivered()


def _tested(cast: Cast, channel: Channel) -> None:
    notification_channels.test(channel=channel, by=cast.by)


# (kind, what happens): a kind that is found in two ways stands here twice.
CAUSES: Mapping[tuple[str, str], Cause] = {
    ("quota.threshold", "a quota is used up"): Cause(_quota, "owner"),
    ("spend.threshold", "the month costs more than the budget"): Cause(_spend, "owner"),
    ("invoice.issued", "an invoice is issued"): Cause(_issued, "owner books"),
    ("invoice.overdue", "an invoice is not paid"): Cause(_overdue, "owner books"),
    ("credit_note.issued", "staff take back a part"): Cause(payment_causes.credited, "owner books"),
    ("credit_note.issued", "staff void an invoice"): Cause(payment_causes.voided, "owner books"),
    ("credit.paid_back", "staff pay it back"): Cause(payment_causes.paid_back, "owner"),
    ("invoice.reminder", "it is still not paid"): Cause(unpaid_for(3), "owner books"),
    ("payment.received", "staff record it"): Cause(payment_causes.paid, "owner"),
    ("payment.failed", "the provider reports it"): Cause(reported("payment.failed"), "owner"),
    ("payment.refunded", "the provider refunds"): Cause(reported("refund.succeeded"), "owner"),
    ("payment.disputed", "a bank disputes"): Cause(reported("dispute.opened"), "owner staff"),
    ("dunning.limited", "an invoice is unpaid for long"): Cause(unpaid_for(21), "owner"),
    ("dunning.suspended", "and for longer"): Cause(unpaid_for(60), "owner"),
    ("dunning.lifted", "it is paid then"): Cause(payment_causes.paid_late, "owner"),
    ("plan.version", "staff publish a new version"): Cause(_version, "owner"),
    ("team.invitation", "a person is invited"): Cause(_invited, "invited", has_webhook=False),
    ("tenant.suspended", "staff suspend"): Cause(_suspended, "owner"),
    ("tenant.restored", "staff restore"): Cause(_restored, "owner"),
    ("tenant.closing", "an owner closes"): Cause(_closing, "owner"),
    ("account.mail", "a password is forgotten"): Cause(_forgotten, "owner", has_webhook=False),
    ("maintenance.upcoming", "a window begins"): Cause(_maintenance, "owner member"),
    ("space.trouble", "a broker is down"): Cause(_trouble, "owner member staff"),
    ("space.recovered", "it works again"): Cause(_recovered, "owner member staff"),
    ("space.trouble_ended", "it is deleted"): Cause(_deleted_in_trouble, "owner member staff"),
    ("certificate.expiring", "it expires soon"): Cause(_certificate, "owner staff"),
    ("token.expiring", "it expires in five days"): Cause(_token, "owner"),
    ("alarm.raised", "depth"): Cause(_alarm("depth", [120]), "owner member"),
    ("alarm.raised", "age"): Cause(_alarm("age", [1]), "owner member"),
    ("alarm.cleared", "depth"): Cause(_alarm("depth", [120, 0]), "owner member"),
    ("alarm.cleared", "age"): Cause(_alarm("age", [1, 0]), "owner member"),
    ("alarm.cleared", "its address is deleted"): Cause(_deleted, "owner member"),
    ("channel.disabled", "the receiver is gone"): Cause(_gone, "owner"),
    ("channel.test", "a member tests it"): Cause(_tested, ""),
}


def addresses(cause: Cause, cast: Cast) -> list[str]:
    """Return the addresses of the people who get the event of ``cause``, sorted."""
    known = {
        "owner": cast.owner.email,
        "member": cast.member.email,
        "staff": STAFF,
        "invited": INVITED,
        "books": BOOKS,
    }
    return sorted(known[name] for name in cause.people.split())


def staff() -> User:
    """Return an operator, who belongs to no tenant."""
    return User.objects.create_user(STAFF, STAFF, is_staff=True)
