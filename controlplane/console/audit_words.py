"""Says in plain words what an audit event records. Pure.

An action that the table does not know is put into words from its slug, so a new action needs no
change here to be readable.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from controlplane.core.models import AuditEvent
from plans.quotas.resources import SPEND, TENANT_RESOURCES, words

# What an action is about (its first part), as people call it.
_NOUNS: Mapping[str, str] = {
    "address_space": "space",
    "address": "address",
    "messaging_user": "messaging user",
    "connections": "connections of",
    "membership": "member",
    "invitation": "invitation of",
    "api_token": "API token",
    "tenant": "organization",
    "invoice": "invoice",
    "user": "account",
    "catalogue": "catalog,",
    "close_run": "close run",
    "kept_volumes": "kept volumes of",
    "tenant_note": "note about",
    "rollout": "rollout of",
    "tax_exemption": "tax exemption",
}
# The last part of an action -> the first word of its sentence.
_VERBS: Mapping[str, str] = {
    "publish": "Published",
    "create": "Created",
    "update": "Changed",
    "delete": "Deleted",
    "revoke": "Revoked",
    "add": "Added",
    "remove": "Removed",
    "issue": "Issued",
    "change": "Changed",
    "change_plan": "Changed the plan of",
    "change_role": "Changed the role of",
    "labels": "Changed the labels of",
    "close": "Closed",
    "release": "Upgraded",
    "release_back": "Moved to the former release",
    "rotate": "Renewed",
    "send": "Sent",
    "send_again": "Sent again",
    "verify": "Asked to recompute",
    "set": "Set",
    "clear": "Removed",
}
# Actions whose sentence is not "verb, kind, name".
_SENTENCES: Mapping[str, str] = {
    "close_run.start": "Started the close run {name}",
    "close_run.approve": "Approved all drafts of the close run {name}",
    "close_run.issue": "Issued all approved invoices of the close run {name}",
    "tenant.sign_up": "Created the organization {name}",
    "tenant.close": "Requested to close the organization",
    "tenant.keep": "Kept the organization, which was being closed",
    "tenant.erase": "Erased the organization",
    "tenant.transfer_ownership": "Handed the organization over to {name}",
    "invitation.send": "Invited {name}",
    "invitation.send_again": "Invited {name} again",
    "tenant.update_billing": "Changed the billing details",
    "tenant.maintenance_windows": "Changed the maintenance windows",
    "plan_subscription.change": "Changed the plan",
    "plan_subscription.follow": "Chose whether to follow new versions of the plan",
    "plan_subscription.move": "Moved to the newest version of the plan",
    "catalogue.prepare": "Uploaded the catalog {name}",
    "catalogue.schedule": "Published or scheduled the catalog {name}",
    "catalogue.cancel": "Canceled the catalog {name}",
    "back_test.request": "Requested a back-test of the catalog {name}",
    "tenant.suspend": "Suspended the organization {name}",
    "tenant.restore": "Ended the suspension of the organization {name}",
    "support_access.consent": "Allowed the operator to help in the pages of the organization",
    "support_access.revoke": "Ended the operator's help",
    "support_access.begin": "Began to act in the pages of the organization",
    "support_access.end": "Stopped acting in the pages of the organization",
    "identity_provider.set": "Set the identity provider of the organization",
    "identity_provider.remove": "Removed the identity provider of the organization",
    "identity_provider.confirm_domains": "Confirmed the email domains of the organization",
    "invoice.read_samples": "Had samples of the invoice {name} read",
    "address_space.retry": "Asked Waypost to try the space {name} again",
    "quota.alert": "Used a part of a limit that is reported",
    "quota.lift": "Was below a limit again",
    "notifications.budget": "Changed the budget",
    "notifications.defaults": "Changed which notifications members get",
    "channel.test": "Sent a test notification to the channel {name}",
    "channel.rotate": "Renewed the secret of the channel {name}",
    "delivery.replay": "Sent a notification to the channel {name} again",
    "mail.send_again": "Sent the mails again that had been given up",
    "spend_cap.set": "Set the monthly spend cap",
    "spend_cap.clear": "Removed the monthly spend cap",
    "quota_override.set": "Set a limit of its own for the organization",
    "quota_override.clear": "Ended a limit of its own for the organization",
    "address_space.withdraw_send": "Blocked sending in the space {name}",
    "address_space.restore_send": "Allowed sending in the space {name} again",
    "address_space.throttle": "Lowered the limits of clients in the space {name}",
    "address_space.end_throttle": "Restored the limits of clients in the space {name}",
    "messages.send": "Sent a test message to {name}",
    "messages.purge": "Deleted all messages in {name}",
    "messages.delete": "Deleted messages in {name}",
    "messages.move": "Moved messages from {name}",
    "messages.resend": "Sent messages of {name} back to where they came from",
    **{
        f"messages.{verb}.ended": f"Finished: {words} in {{name}}"
        for verb, words in {
            "send": "a test message",
            "purge": "deletion of all messages",
            "delete": "deletion of messages",
            "move": "move of messages",
            "resend": "return of messages",
            "browse": "reading of messages",
        }.items()
    },
    "messages.browse": "Read messages of {name}",
    "connections.close": "Closed {name}",
    "login.succeed": "Logged in",
    "login.fail": "Failed to log in as {name}",
    "login.refuse": "Was refused to log in as {name}",
    "login.end": "Logged out, or ended a session",
    "login.end_others": "Ended all other sessions",
    "account.add_second_factor": "Added a second factor",
    "account.remove_second_factor": "Removed a second factor",
    "account.new_recovery_codes": "Made new recovery codes",
    "account.change_email": "Changed the email address to {name}",
    "account.confirm_email": "Confirmed the email address {name}",
    "account.change_password": "Changed the password",
    "account.reset_password": "Set a new password by mail",
    "user.create": "Created the account {name}",
    "user.email": "The email address of the account is now {name}",
    "user.link_identity": "Linked the account {name} to the identity provider",
    "user.become_staff": "Made {name} an operator",
    "user.leave_staff": "{name} is no operator any more",
    "user.stay_staff": "{name} stays an operator, being the last one",
    "invoice.release": "Released the held invoice {name}",
    "invoice.payment": "Recorded a payment for the invoice {name}",
    "invoice.checkout": "Began to pay the invoice {name}",
    "invoice.refund": "Refunded a payment of the invoice {name}",
    "invoice.refund_failed": "A refund for the invoice {name} failed",
    "invoice.chargeback": "The payer's bank took back a payment of the invoice {name}",
    "invoice.dispute": "The payer's bank disputes a payment of the invoice {name}",
    "dunning.pause": "Let the unpaid invoices of {name} rest",
    "dunning.resume": "Went on with the unpaid invoices of {name}",
    "tenant.unpaid": "Changed what unpaid invoices keep {name} from",
    "address_space.refuse_connections": "Refused connections to the space {name}",
    "address_space.admit_connections": "Allowed connections to the space {name} again",
    **{
        f"invoice.{state}": words
        for state, words in {
            "issued": "Issued the invoice {name}",
            "paid": "The invoice {name} is paid",
            "partly_paid": "A part of the invoice {name} is paid",
            "overdue": "The invoice {name} is overdue",
            "close": "Began to prepare an invoice",
            "draft": "Prepared an invoice",
            "closing": "Began to prepare an invoice",
            "held": "Began to check an invoice",
            "approved": "Finished checking an invoice",
            "issuing": "Began to issue an invoice",
        }.items()
    },
}
_LIMITS = {resource: words(resource) for resource in (*TENANT_RESOURCES, SPEND)}
_EMPTY: tuple[object, ...] = (None, "", [], {})  # values that mean "nothing" to a reader
# An instant as the audit stores it: ISO 8601 with its offset from UTC.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
# Field of an audit event -> words, where they differ.
_FIELDS: Mapping[str, str] = {
    "address_plan": "size",
    "space_plan": "size",
    "billing_name": "legal name",
    "billing_email": "email for invoices",
    "billing_address": "address",
    "billing_country": "country",
    "billing_time_zone": "time zone",
}


def sentence(event: AuditEvent) -> str:
    """Return what happened as one sentence without its subject: ``Created the address orders``."""
    if event.action == "quota.alert" and {"level_percent", "resource"} <= event.after.keys():
        limit = _LIMITS.get(event.after["resource"], "its resource")
        return f"Used {event.after['level_percent']} % of the limit of {limit}"
    if event.action in _SENTENCES:
        return _SENTENCES[event.action].format(name=event.subject_name)
    kind, _, verb = event.action.partition(".")
    noun = _NOUNS.get(kind) or kind.replace("_", " ")
    if verb in _VERBS:
        return f"{_VERBS[verb]} the {noun} {event.subject_name}".strip()
    words = verb.replace("_", " ").replace(".", ": ").capitalize()
    return f"{words}: {noun} {event.subject_name}".strip()


def changes(event: AuditEvent) -> list[str]:
    """Return what changed, one text for each value: ``role: viewer → admin``.

    Values that are equal before and after are left out.
    """
    found = []
    for name in dict.fromkeys([*event.before, *event.after]):
        old, new = event.before.get(name), event.after.get(name)
        if old == new or (old in _EMPTY and new in _EMPTY):
            continue
        title = _FIELDS.get(name, name.replace("_", " "))
        if new == "***":  # a secret, which the audit masks
            found.append(f"new {title}")
        elif old in _EMPTY:
            found.append(f"{title}: {_value(new)}")
        else:
            found.append(f"{title}: {_value(old)} → {_value(new)}")
    return found


def _value(value: Any) -> str:
    """Return a value as people write it: lists without brackets, instants as ``2 Nov 2026, 10:04``.

    Instants are in UTC.
    """
    if value in _EMPTY:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_value(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_value, value))
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        return f"{datetime.fromisoformat(value).astimezone(UTC):%-d %b %Y, %H:%M}"
    return str(value)
