"""The kinds of audit events that a filter offers. Each names events by their action. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A choice of the filter: the events whose action begins with one of ``prefixes`` and a dot.

    Events of an ``is_internal`` kind belong to no tenant, so only operators can find any.
    """

    title: str
    prefixes: tuple[str, ...]
    is_internal: bool = False


# Each event has stored its action, so a renamed action needs its old prefix as well.
KINDS: Mapping[str, Kind] = {
    "address_space": Kind("Space", ("address_space", "kept_volumes")),
    "address": Kind("Address", ("address",)),
    "messaging_user": Kind("Messaging user", ("messaging_user",)),
    "messages": Kind("Messages", ("messages",)),
    "connections": Kind("Connections", ("connections",)),
    "alarm": Kind("Alarm", ("alarm",)),
    "notifications": Kind("Notifications", ("channel", "delivery", "mail", "notifications")),
    "membership": Kind("Member", ("membership",)),
    "invitation": Kind("Invitation", ("invitation",)),
    "api_token": Kind("API token", ("api_token",)),
    "tenant": Kind("Organization", ("tenant", "support_access")),
    "identity_provider": Kind("Identity provider", ("identity_provider",)),
    "plan": Kind("Plan", ("plan_subscription",)),
    "limit": Kind("Limit", ("quota", "quota_override", "spend_cap")),
    "invoice": Kind("Invoice", ("invoice", "credit_note")),
    "dunning": Kind("Unpaid invoices", ("dunning",)),
    "benefit": Kind("Discount or credit", ("discount", "commitment", "coupon", "credit")),
    "tax": Kind("Tax exemption", ("tax_exemption",)),
    "user": Kind("Account", ("user", "account", "login"), is_internal=True),
    "catalogue": Kind("Catalog", ("catalogue", "back_test"), is_internal=True),
    "close_run": Kind("Close run", ("close_run",), is_internal=True),
    "finance": Kind("Finance", ("account_codes",), is_internal=True),
    "rollout": Kind("Rollout", ("rollout",), is_internal=True),
    "tenant_note": Kind("Note about a tenant", ("tenant_note",), is_internal=True),
}
