"""The registry of all kinds of events that Waypost notifies about.

One row of ``REGISTRY`` is one kind. API, portal, command, mails and webhooks follow it. The code
that finds the event passes the fields that the row's texts name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tenants.models import Role
from tenants.permissions import Permission


class Severity(StrEnum):
    """How urgent an event is: ``info`` needs no action, ``critical`` needs one at once."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


_MONEY = frozenset({Role.OWNER, Role.BILLING})  # roles that see invoices
_ADMINS = frozenset({Role.OWNER, Role.ADMIN})  # roles that manage members
_ENGINEERS = frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER})  # roles that manage messaging


@dataclass(frozen=True)
class EventKind:
    """One kind of event.

    * ``key``: the stable name, which webhooks send as ``type``.
    * ``title``, ``meaning``: what lists of kinds show.
    * ``subject``, ``text``: the message. ``{name}`` stands for a field of the event.
    * ``path``: the page of the portal about it, with fields too. Empty: no page.
    * ``needs``: the permission without which a member never gets it, and nobody may have it sent
      to a channel (``subscriptions``).
    * ``roles``: the members who get it by mail unless they, or the tenant, chose otherwise.
    * ``to_staff``: the operator's staff get it too.
    * ``is_required``: nobody can turn it off.
    * ``is_addressed``: it goes to the address or channel that the event names, and to nobody else.
    * ``incident``: names of the fields that say which incident the event begins or ends. Kinds
      whose key has the same first part share incidents. Empty: each event is one of its own.
    * ``ends_incident``: the event ends its incident, so that a pager closes it.
    * ``secrets``: names of fields that let their reader in, such as links. They are stored
      encrypted, and webhooks do not get them.
    * ``sample``: example values of all fields.
    """

    key: str
    title: str
    meaning: str
    severity: Severity
    subject: str
    text: str
    path: str = ""
    needs: Permission = Permission.VIEW
    roles: frozenset[str] = frozenset()
    to_staff: bool = False
    is_required: bool = False
    is_addressed: bool = False
    incident: tuple[str, ...] = ()
    ends_incident: bool = False
    secrets: frozenset[str] = frozenset()
    sample: Mapping[str, Any] = field(default_factory=dict)


REGISTRY = (
    EventKind(
        "quota.threshold",
        "Quota nearly or fully used",
        "The usage of a monthly quota or spend cap has reached 80, 90 or 100 percent.",
        Severity.WARNING,
        "{level_percent} % of {resource_words} are used",
        "{organization} has used {used_words} of {limit_words} of this month: {resource_words}. "
        "{consequence}",
        "/t/{tenant}/usage/",
        roles=frozenset({Role.OWNER, Role.ADMIN, Role.BILLING}),
        sample={
            "resource": "messages.month",
            "resource_words": "messages a month",
            "level_percent": 90,
            "used": 900_000,
            "limit": 1_000_000,
            "used_words": "900,000",
            "limit_words": "1,000,000",
            "consequence": "At 100 percent clients can no longer send.",
        },
    ),
    EventKind(
        "spend.threshold",
        "Spend has reached a part of the budget",
        "The cost of the running month has reached 50, 80 or 100 percent of your budget.",
        Severity.WARNING,
        "This month has cost {level_percent} % of your budget",
        "{organization} has spent {spent} of its monthly budget of {budget} so far. "
        "Nothing stops: the budget only warns.",
        "/t/{tenant}/invoices/preview",
        needs=Permission.VIEW_BILLING,
        roles=_MONEY,
        sample={"level_percent": 80, "spent": "80.00 EUR", "budget": "100.00 EUR"},
    ),
    EventKind(
        "invoice.issued",
        "Invoice issued",
        "A new invoice of your organization is there.",
        Severity.INFO,
        "Invoice {number} over {total}",
        "The invoice {number} of {organization} is issued: {payable} are due by {due_on}.",
        "/t/{tenant}/invoices/{invoice}/",
        needs=Permission.VIEW_BILLING,
        roles=_MONEY,
        sample={
            "invoice": "inv_7m2k",
            "number": "EU-000042",
            "total": "119.00 EUR",
            "payable": "119.00 EUR",
            "due_on": "2026-12-14",
        },
    ),
    EventKind(
        "invoice.overdue",
        "Invoice overdue",
        "An invoice was not paid in time.",
        Severity.WARNING,
        "Invoice {number} is overdue",
        "The invoice {number} of {organization} was due on {due_on}. {outstanding} are still to "
        "pay.",
        "/t/{tenant}/invoices/{invoice}/",
        needs=Permission.VIEW_BILLING,
        roles=_MONEY,
        sample={
            "invoice": "inv_7m2k",
            "number": "EU-000042",
            "due_on": "2026-12-14",
            "outstanding": "119.00 EUR",
        },
    ),
    EventKind(
        "plan.version",
        "New version of your plan",
        "The operator has published or scheduled a new version of your plan, or canceled it.",
        Severity.WARNING,
        "{headline}",
        "This concerns {organization}. {changes} {consequence}",
        "/t/{tenant}/settings/",
        needs=Permission.VIEW_BILLING,
        roles=_MONEY,
        sample={
            "plan": "Team",
            "headline": "Your plan Team changes on 2026-12-01",
            "changes": "Monthly fee: 49.00 EUR → 59.00 EUR.",
            "consequence": "Your subscription follows the plan and moves on 2026-12-01.",
            "on": "2026-12-01T00:00:00+00:00",
        },
    ),
    EventKind(
        "invoice.reminder",
        "Reminder of an unpaid invoice",
        "An invoice is still unpaid. The message says what happens then, and when.",
        Severity.WARNING,
        "Reminder: invoice {number} was due on {due_on}",
        "The invoice {number} of {organization} was due on {due_on}. {outstanding} are still to "
        "pay. {consequence}",
        "/t/{tenant}/invoices/{invoice}/",
        needs=Permission.VIEW_BILLING,
        roles=_MONEY,
        is_required=True,
        sample={
            "invoice": "inv_7m2k",
            "number": "EU-000042",
            "due_on": "2026-12-14",
            "outstanding": "119.00 EUR",
            "consequence": "From 2027-01-04 09:00 UTC your clients can no longer send. A payment "
            "ends this at once.",
        },
    ),
    EventKind(
        "payment.received",
        "Payment received",
        "A payment of an invoice is recorded.",
        Severity.INFO,
        "{amount} received for invoice {number}",
        "We received {amount} for the invoice {number} of {organization}. {outcome}",
        "/t/{tenant}/invoices/{invoice}/",
        needs=Permission.VIEW_BILLING,
        roles=_MONEY,
        sample={
            "invoice": "inv_7m2k",
            "number": "EU-000042",
            "amount": "119.00 EUR",
            "outcome": "It is paid.",
        },
    ),
    EventKind(
        "payment.failed",
        "Payment failed",
        "The provider of payments could not collect a payment.",
        Severity.WARNING,
        "A payment of invoice {number} failed",
        "A payment of the invoice {number} of {organization} failed: {reason} Pay it again, or in "
        "another way.",
        "/t/{tenant}/invoices/{invoice}/",
        needs=Permission.VIEW_BILLING,
        roles=_MONEY,
        sample={
            "invoice": "inv_7m2k",
            "number": "EU-000042",
            "reason": "Your card was declined.",
        },
    ),
    EventKind(
        "payment.refunded",
        "Payment refunded",
        "Money of a payment goes back to you.",
        Severity.INFO,
        "{amount} of invoice {number} go back to you",
        "{amount} of your payment of the invoice {number} go back to you: {reason}. {outcome}",
        "/t/{tenant}/invoices/{invoice}/",
        needs=Permission.VIEW_BILLING,
        roles=_MONEY,
        sample={
            "invoice": "inv_7m2k",
            "number": "EU-000042",
            "amount": "19.00 EUR",
            "reason": "paid twice",
            "outcome": "",
        },
    ),
    EventKind(
        "payment.disputed",
        "Payment disputed",
        "The bank of a payer takes a payment back, or has decided about it.",
        Severity.WARNING,
        "The payment of invoice {number} is disputed: {state}",
        "The payer's bank disputes {amount} that {organization} paid for the invoice {number}. The "
        "dispute is {state}.",
        "/t/{tenant}/invoices/{invoice}/",
        needs=Permission.VIEW_BILLING,
        roles=_MONEY,
        to_staff=True,
        sample={
            "invoice": "inv_7m2k",
            "number": "EU-000042",
            "amount": "119.00 EUR",
            "state": "open",
        },
    ),
    EventKind(
        "dunning.limited",
        "Sending stopped: unpaid invoices",
        "Invoices are unpaid for so long that clients can no longer send.",
        Severity.CRITICAL,
        "{organization}: clients can no longer send, because invoices are unpaid",
        "Invoices of {organization} are unpaid. Clients cannot send any more. They still receive "
        "what is stored. A payment ends this at once.",
        "/t/{tenant}/invoices/",
        roles=_MONEY | _ADMINS,
        is_required=True,
        incident=("tenant",),
    ),
    EventKind(
        "dunning.suspended",
        "Connections refused: unpaid invoices",
        "Invoices are unpaid for so long that connections of clients are refused.",
        Severity.CRITICAL,
        "{organization}: connections are refused, because invoices are unpaid",
        "Invoices of {organization} are unpaid. Connections of clients are refused, and nothing "
        "can be changed. Messages, addresses and users are kept. A payment ends this at once.",
        "/t/{tenant}/invoices/",
        roles=_MONEY | _ADMINS,
        is_required=True,
        incident=("tenant",),
    ),
    EventKind(
        "dunning.lifted",
        "Unpaid invoices: everything works again",
        "Sending and connections work again after unpaid invoices had stopped them.",
        Severity.INFO,
        "{organization} works again",
        "{organization} may send and connect again.",
        "/t/{tenant}/",
        roles=_MONEY | _ADMINS,
        is_required=True,
        incident=("tenant",),
        ends_incident=True,
    ),
    EventKind(
        "team.invitation",
        "Invitation to a team",
        "Somebody invites you to their organization.",
        Severity.INFO,
        "{invited_by} invites you to {organization}",
        "{invited_by} invites you to the organization {organization} as {role}. You need no "
        "account yet. The invitation is valid until {expires_on}. If you do not know "
        "{organization}, you need to do nothing.",
        "{link}",
        is_required=True,
        is_addressed=True,
        secrets=frozenset({"link"}),
        sample={
            "invited_by": "ann@acme.example",
            "role": "developer",
            "expires_on": "2026-12-01",
            "link": "/invitations/example",
        },
    ),
    EventKind(
        "tenant.suspended",
        "Organization suspended",
        "The operator has suspended your organization.",
        Severity.CRITICAL,
        "{organization} is suspended",
        "The operator has suspended {organization}: {reason} Clients cannot send, and nothing can "
        "be changed. They still receive what is stored.",
        "/t/{tenant}/",
        roles=_MONEY | _ADMINS,
        is_required=True,
        incident=("tenant",),
        sample={"reason": "An invoice is unpaid."},
    ),
    EventKind(
        "tenant.restored",
        "Organization works again",
        "The operator has ended the suspension of your organization.",
        Severity.INFO,
        "{organization} works again",
        "The suspension of {organization} has ended.",
        "/t/{tenant}/",
        roles=_MONEY | _ADMINS,
        is_required=True,
        incident=("tenant",),
        ends_incident=True,
    ),
    EventKind(
        "tenant.closing",
        "Organization is being closed",
        "An owner has requested to close your organization.",
        Severity.CRITICAL,
        "{organization} will be erased on {erase_on}",
        "{requested_by} has requested to close {organization}. Clients cannot send any more. On "
        "{erase_on} its spaces and messages are deleted. An owner can undo this until then.",
        "/t/{tenant}/close",
        roles=_ADMINS,
        is_required=True,
        sample={"erase_on": "2026-12-25 09:00 UTC", "requested_by": "ann@acme.example"},
    ),
    EventKind(
        "account.mail",
        "Mail about an account",
        "An address is to be confirmed, a password was forgotten, or an account was changed.",
        Severity.INFO,
        "{subject}",
        "{text}",
        "{link}",
        is_required=True,
        is_addressed=True,
        secrets=frozenset({"text", "link"}),
        sample={
            "subject": "Confirm your email address",
            "text": "Hello,\n\nconfirm your address with this link.",
            "link": "/account/email/confirm/example",
        },
    ),
    EventKind(
        "maintenance.upcoming",
        "Maintenance in your next window",
        "A rollout will restart your spaces in your next maintenance window.",
        Severity.INFO,
        "Maintenance from {starts_at} UTC on",
        "{spaces} of your spaces get a new release. Their instances restart one at a time, in "
        "your maintenance window from {starts_at} to {ends_at} UTC. Clients reconnect by "
        "themselves.",
        "/t/{tenant}/maintenance/",
        roles=_ENGINEERS,
        sample={"spaces": 2, "starts_at": "2026-12-01 02:00", "ends_at": "2026-12-01 06:00"},
    ),
    EventKind(
        "space.trouble",
        "Space in trouble",
        "A space has not worked for two minutes.",
        Severity.CRITICAL,
        "The space {space} is in trouble",
        "The space {space} has not been ready since {since} UTC: {reason}. {message}",
        "/t/{tenant}/spaces/{space}/",
        roles=_ENGINEERS,
        to_staff=True,
        incident=("space",),
        sample={
            "space": "production",
            "since": "2026-12-01 02:00",
            "reason": "BrokerDown",
            "message": "broker-0 does not answer.",
        },
    ),
    EventKind(
        "space.recovered",
        "Space works again",
        "A space that was in trouble works again.",
        Severity.INFO,
        "The space {space} works again",
        "The space {space} is ready again. It was in trouble from {since} to {until} UTC.",
        "/t/{tenant}/spaces/{space}/",
        roles=_ENGINEERS,
        to_staff=True,
        incident=("space",),
        ends_incident=True,
        sample={
            "space": "production",
            "since": "2026-12-01 02:00",
            "until": "2026-12-01 02:07",
        },
    ),
    EventKind(
        "space.trouble_ended",
        "Space in trouble deleted",
        "A space was deleted while it was in trouble.",
        Severity.INFO,
        "The space {space} is deleted and no longer in trouble",
        "The space {space} was in trouble from {since} UTC until somebody deleted it.",
        "/t/{tenant}/spaces/",
        roles=_ENGINEERS,
        to_staff=True,
        incident=("space",),
        ends_incident=True,
        sample={"space": "production", "since": "2026-12-01 02:00"},
    ),
    EventKind(
        "certificate.expiring",
        "Certificate expires or is not valid",
        "The certificate that clients of a space see expires soon, or is not valid.",
        Severity.WARNING,
        "The certificate of the space {space} needs attention",
        "{message}",
        "/t/{tenant}/spaces/{space}/",
        roles=_ADMINS,
        to_staff=True,
        sample={
            "space": "production",
            "reason": "CertificateExpiring",
            "message": "The certificate expires on 2026-12-20 10:00 UTC.",
        },
    ),
    EventKind(
        "token.expiring",
        "API token expires",
        "An API token expires in 7 days or in one day.",
        Severity.WARNING,
        "The API token {name} expires on {expires_on}",
        "The API token {name} ({prefix}…) of {organization} expires on {expires_on}. Programs that "
        "use it stop working then: issue a new token and configure it before.",
        "/t/{tenant}/tokens/",
        needs=Permission.MANAGE_TOKENS,
        roles=_ADMINS,
        sample={"name": "terraform", "prefix": "wp_a1b2c3", "expires_on": "2026-12-08 09:00 UTC"},
    ),
    EventKind(
        "alarm.raised",
        "Alarm of an address raised",
        "The depth of an address, or the age of its oldest message, has reached the threshold.",
        Severity.CRITICAL,
        "Alarm: {address} in {space}: {value_words}",
        "The address {address} of the space {space} has {value_words}. The alarm's threshold is "
        "{threshold_words}.",
        "/t/{tenant}/spaces/{space}/addresses/{address_id}",
        roles=_ENGINEERS,
        incident=("alarm",),
        sample={
            "space": "production",
            "address": "orders",
            "address_id": "adr_7m2k",
            "alarm": "alm_7m2k",
            "metric": "depth",
            "value": 1200,
            "threshold": 1000,
            "value_words": "1,200 messages",
            "threshold_words": "1,000 messages for 60 s",
        },
    ),
    EventKind(
        "alarm.cleared",
        "Alarm of an address cleared",
        "An alarm of an address is over, or the address or the alarm is deleted.",
        Severity.INFO,
        "Alarm cleared: {address} in {space}",
        "The alarm of the address {address} in the space {space} is over: {why}. "
        "It began at {raised_at} UTC.",
        "/t/{tenant}/spaces/{space}/addresses/{address_id}",
        roles=_ENGINEERS,
        incident=("alarm",),
        ends_incident=True,
        sample={
            "space": "production",
            "address": "orders",
            "address_id": "adr_7m2k",
            "alarm": "alm_7m2k",
            "metric": "depth",
            "value": 12,
            "threshold": 1000,
            "value_words": "12 messages",
            "why": "it has 12 messages",
            "raised_at": "2026-12-01 02:00",
        },
    ),
    EventKind(
        "channel.disabled",
        "Notification channel disabled",
        "Waypost has disabled a channel, because all deliveries to it failed for a long time.",
        Severity.WARNING,
        "The notification channel {channel} is disabled",
        "Waypost has disabled the channel {channel}: {reason} Fix the receiver, enable the channel "
        "again, and replay what it missed.",
        "/t/{tenant}/notifications/",
        needs=Permission.MANAGE_NOTIFICATIONS,
        roles=_ADMINS,
        is_required=True,
        sample={
            "channel": "pager",
            "channel_id": "chn_7m2k",
            "reason": "every delivery has failed for 12 hours.",
        },
    ),
    EventKind(
        "channel.test",
        "Test of a channel",
        "Somebody has requested a test of a notification channel.",
        Severity.INFO,
        "A test from Waypost",
        "This is a test of the notification channel {channel} of {organization}. Nothing happened.",
        "/t/{tenant}/notifications/",
        is_required=True,
        is_addressed=True,
        sample={"channel": "pager"},
    ),
)
BY_KEY: Mapping[str, EventKind] = {kind.key: kind for kind in REGISTRY}
# The kinds that people and channels can choose.
CHOOSABLE = tuple(kind for kind in REGISTRY if not kind.is_addressed)
