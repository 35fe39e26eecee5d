"""Which page of the docs site explains which page of the portal. Pure.

Each portal page shows a link to its page (the template tag ``learn_more``). A new route of
``urls`` gets a row here. Tests check that each page and heading exists.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class HelpPage:
    """A page of the docs site, or a heading of one.

    ``source`` is the page's path below docs/, such as ``develop/errors.md``. ``anchor`` is the
    heading, as links write it; empty for the whole page.
    """

    title: str
    source: str
    anchor: str = ""

    @property
    def url(self) -> str:
        """The path of the page in the portal's web server."""
        page = f"/docs/{self.source.removesuffix('.md')}.html"
        return f"{page}#{self.anchor}" if self.anchor else page


START = HelpPage("the documentation", "index.md")
_QUICK_START = HelpPage("quick start", "develop/quick-start.md")
_CONCEPTS = HelpPage("spaces and what they contain", "develop/concepts.md")
_ADDRESS_TYPES = HelpPage("types of addresses", "develop/concepts.md", "which-type-of-address")
_ADDRESS_SETTINGS = HelpPage("settings of addresses", "messaging.md", "settings-of-addresses")
_READINGS = HelpPage("what the figures mean", "messaging.md", "seeing-what-happens")
_MESSAGES = HelpPage("operations on messages", "messaging.md", "operations-on-messages")
_PERMISSIONS = HelpPage("permissions of messaging users", "develop/concepts.md", "permissions")
_CONNECTIONS = HelpPage("connections of clients", "messaging.md", "see-and-close-connections")
_PLANS = HelpPage("plans", "administer/plans.md")
_SPACE_PLAN = HelpPage("the plan of a space", "administer/plans.md", "change-the-plan-of-a-space")
_PAYING = HelpPage("paying an invoice", "billing.md", "pay-an-invoice")
_PAYMENTS = HelpPage("payments", "operate/payments.md")
_DUNNING = HelpPage("unpaid invoices", "operate/payments.md", "unpaid-invoices")
_FINANCE = HelpPage("what finance takes", "finance.md")
_INVOICES = HelpPage("invoices", "administer/invoices.md")
_LIMITS = HelpPage("limits", "administer/quotas.md")
_TEAM = HelpPage("your team", "administer/team.md")
_ACCOUNT = HelpPage("your account", "administer/account.md")
_CLOSE = HelpPage("close your organization", "administer/team.md", "close-the-organization")
_WHO_DID_WHAT = HelpPage("who did what", "administer/team.md", "who-did-what")
_WINDOWS = HelpPage("maintenance windows", "administer/plans.md", "maintenance-windows")
_LABELS = HelpPage("labels", "develop/concepts.md", "labels")
_TOKENS = HelpPage("tokens", "administer/tokens.md")
_STATES = HelpPage("states of invoices", "billing.md", "states")
_CLOSE_RUNS = HelpPage("close runs", "billing.md", "close-runs")
_NOTIFICATIONS = HelpPage("notifications", "notifications.md")
_CHANNELS = HelpPage("mails, webhooks and chats", "notifications.md", "webhooks")
_MAILS = HelpPage("mails", "notifications.md", "mails")
_ALARMS = HelpPage("alarms of addresses", "notifications.md", "alarms-of-addresses")
_FOR_OPERATORS = HelpPage("operating Waypost", "operate/README.md")
_PRICES = HelpPage("changing prices", "operate/prices.md")
_CONDITIONS = HelpPage("conditions", "operate/conditions.md")
_CONSOLE = HelpPage("the operator's pages", "operate/console.md")
_SUSPENSION = HelpPage("suspend a tenant", "operate/console.md", "suspend-a-tenant")
_ACTING = HelpPage("act in a tenant's pages", "operate/console.md", "act-in-a-tenants-pages")
_VOLUMES = HelpPage("kept volumes", "operate/console.md", "kept-volumes")
_HELP = HelpPage("help by the operator", "administer/team.md", "help-by-the-operator")
_OWN_PROVIDER = HelpPage(
    "your own identity provider", "administer/team.md", "your-own-identity-provider"
)
_ORGANIZATION_LOGIN = HelpPage(
    "log in with your organization", "administer/account.md", "log-in-with-your-organization"
)
_ROLLOUTS = HelpPage("rollouts", "operate/rollouts.md")
_PIPELINE = HelpPage("the pipeline", "operate/console.md", "the-pipeline")

# How the names of the routes in ``account_urls`` begin.
_OF_ACCOUNTS = ("account_", "mfa_")
# The name of a route of ``urls`` -> its page.
BY_ROUTE: Mapping[str, HelpPage] = {
    "home": START,
    "status": START,
    "login": START,
    "organization_login": _ORGANIZATION_LOGIN,
    "connect_login": _ORGANIZATION_LOGIN,
    "signup": _QUICK_START,
    "new_organization": HelpPage("for tenant administrators", "administer/README.md"),
    "overview": _LIMITS,
    "spaces": _CONCEPTS,
    "space_new": HelpPage("types of spaces", "develop/concepts.md", "which-type-of-space"),
    "space": _ADDRESS_TYPES,
    "space_status": _CONCEPTS,
    "space_activity": _CONCEPTS,
    "space_settings": _CONCEPTS,
    "space_plan": _SPACE_PLAN,
    "space_labels": _LABELS,
    "address_labels": _LABELS,
    "addresses_delete": _ADDRESS_SETTINGS,
    "first_message": _QUICK_START,
    "space_users": _PERMISSIONS,
    "users_revoke": _PERMISSIONS,
    "user_password": _PERMISSIONS,
    "space_connections": _CONNECTIONS,
    "space_connect": _QUICK_START,
    "space_certificate": HelpPage("connecting", "messaging.md", "connect"),
    "connections_close": _CONNECTIONS,
    "alarms": _ALARMS,
    "alarm_delete": _ALARMS,
    "user_new": _PERMISSIONS,
    "user_revoke": _PERMISSIONS,
    "address_new": _ADDRESS_TYPES,
    "address": _READINGS,
    "address_live": _READINGS,
    "address_settings": _ADDRESS_SETTINGS,
    "address_delete": _ADDRESS_SETTINGS,
    "messages": _MESSAGES,
    "messages_send": _MESSAGES,
    "messages_purge": _MESSAGES,
    "messages_change": HelpPage("dead letters", "develop/dead-letters.md"),
    "usage": HelpPage("what you pay for", "administer/invoices.md", "what-you-pay-for"),
    "usage_csv": _INVOICES,
    "spend_cap": HelpPage("spend caps", "administer/quotas.md", "a-cap-of-your-own"),
    "export": HelpPage("exports", "finance.md", "charges-by-focus"),
    "invoices": _INVOICES,
    "invoice_preview": HelpPage("what you pay for", "administer/invoices.md", "what-you-pay-for"),
    "invoice": HelpPage("verify an invoice", "administer/invoices.md", "verify-an-invoice"),
    "invoice_verify": _INVOICES,
    "invoice_file": _INVOICES,
    "invoice_line": HelpPage("behind an invoice", "administer/behind-an-invoice.md"),
    "invoice_samples": HelpPage(
        "check the samples", "administer/behind-an-invoice.md", "check-the-samples"
    ),
    "invoice_change": HelpPage(
        "why an invoice differs",
        "administer/behind-an-invoice.md",
        "why-an-invoice-differs-from-another",
    ),
    "invoice_pay": _PAYING,
    "payments": _PAYING,
    "credit_note_file": _INVOICES,
    "follow": _PLANS,
    "credit": HelpPage("credit and discounts", "administer/invoices.md", "credit-and-discounts"),
    "team": _TEAM,
    "member": _TEAM,
    "member_remove": HelpPage("remove a person", "administer/team.md", "remove-a-person"),
    "member_transfer": _TEAM,
    "leave": _TEAM,
    "invitation": _TEAM,
    "invitation_signup": _TEAM,
    "invitation_send": _TEAM,
    "invitation_revoke": _TEAM,
    "tokens": _TOKENS,
    "token_revoke": _TOKENS,
    "token_rotate": _TOKENS,
    "notifications": _NOTIFICATIONS,
    "notification_defaults": HelpPage("events", "notifications.md", "events"),
    "channel": _CHANNELS,
    "channel_new": _CHANNELS,
    "channel_delete": _CHANNELS,
    "channel_secret": _CHANNELS,
    "channel_test": _CHANNELS,
    "delivery": _CHANNELS,
    "tenant_close": _CLOSE,
    "tenant_close_undo": _CLOSE,
    "tenant_export": _CLOSE,
    "audit": _WHO_DID_WHAT,
    "audit_export": _WHO_DID_WHAT,
    "windows": _WINDOWS,
    "search": START,
    "tenant_alarms": _ALARMS,
    "login_provider": _OWN_PROVIDER,
    "login_provider_remove": _OWN_PROVIDER,
    "support": _HELP,
    "support_revoke": _HELP,
    "settings": _PLANS,
    "plan": _PLANS,
    "staff_tenants": _FOR_OPERATORS,
    "staff_tenant": HelpPage("monthly quotas", "billing.md", "monthly-quotas"),
    "staff_suspend": _SUSPENSION,
    "staff_restore": _SUSPENSION,
    "staff_confirm_domains": HelpPage(
        "confirm email domains", "operate/console.md", "confirm-email-domains"
    ),
    "staff_note": _CONSOLE,
    "staff_note_delete": _CONSOLE,
    "staff_act": _ACTING,
    "staff_stop_acting": _ACTING,
    "staff_close": _STATES,
    "staff_terms": HelpPage(
        "discounts, commitments, trials", "billing.md", "discounts-commitments-trials"
    ),
    "staff_tax": HelpPage("tax", "billing.md", "tax"),
    "staff_coupons": HelpPage(
        "discounts, commitments, trials", "billing.md", "discounts-commitments-trials"
    ),
    "staff_override_clear": HelpPage("monthly quotas", "billing.md", "monthly-quotas"),
    "staff_invoices": _STATES,
    "staff_invoice": HelpPage("why an invoice is held", "billing.md", "why-an-invoice-is-held"),
    "staff_invoice_verify": HelpPage("documents and proof", "billing.md", "documents-and-proof"),
    "staff_invoice_file": HelpPage("electronic invoices", "finance.md", "electronic-invoices"),
    "staff_credit_notes": HelpPage("credit notes", "billing.md", "credit-notes"),
    "staff_credit_note_file": HelpPage("credit notes", "billing.md", "credit-notes"),
    "staff_credit_note_verify": HelpPage("credit notes", "billing.md", "credit-notes"),
    "staff_invoice_line": HelpPage("behind an invoice", "administer/behind-an-invoice.md"),
    "staff_invoice_samples": HelpPage("proof", "lakehouse.md", "proof"),
    "staff_invoice_change": HelpPage(
        "why an invoice differs",
        "administer/behind-an-invoice.md",
        "why-an-invoice-differs-from-another",
    ),
    "staff_invoice_close": _STATES,
    "staff_invoice_release": HelpPage("held invoices", "billing.md", "why-an-invoice-is-held"),
    "staff_invoice_approve": _STATES,
    "staff_invoice_issue": _STATES,
    "staff_invoice_pay": HelpPage("ledger and payments", "billing.md", "ledger-and-payments"),
    "staff_invoice_credit": HelpPage("credit notes", "billing.md", "credit-notes"),
    "staff_invoice_void": HelpPage("credit notes", "billing.md", "credit-notes"),
    "staff_invoice_replace": HelpPage(
        "replacing an invoice", "billing.md", "replace-a-wrong-invoice"
    ),
    "staff_invoice_write_off": HelpPage("ledger and payments", "billing.md", "ledger-and-payments"),
    "staff_close_runs": _CLOSE_RUNS,
    "staff_close_run_start": _CLOSE_RUNS,
    "staff_close_run": _CLOSE_RUNS,
    "staff_close_run_approve": _CLOSE_RUNS,
    "staff_close_run_issue": _CLOSE_RUNS,
    "staff_payments": _PAYMENTS,
    "staff_payment": HelpPage("refund a payment", "operate/payments.md", "refund-a-payment"),
    "staff_overdue": _DUNNING,
    "staff_dunning_pause": _DUNNING,
    "staff_dunning_resume": _DUNNING,
    "staff_mailbox": _MAILS,
    "staff_mail": _MAILS,
    "staff_mails_send_again": _MAILS,
    "staff_fleet": _ROLLOUTS,
    "staff_space": _CONDITIONS,
    "staff_retry": _CONDITIONS,
    "staff_health": _CONSOLE,
    "staff_pipeline": _PIPELINE,
    "staff_quarantine": _PIPELINE,
    "staff_revenue": _CONSOLE,
    **dict.fromkeys(
        [
            "staff_prices",
            "staff_draft",
            "staff_draft_publish",
            "staff_draft_cancel",
            "staff_draft_back_test",
            "staff_back_test",
            "staff_back_test_csv",
        ],
        _PRICES,
    ),
    "staff_finance": _FINANCE,
    "staff_finance_report": _FINANCE,
    "staff_charges": _FINANCE,
    "staff_receivables": HelpPage("aged receivables", "finance.md", "aged-receivables"),
    "staff_open_items": HelpPage("aged receivables", "finance.md", "aged-receivables"),
    "staff_periods_without_invoice": HelpPage(
        "periods without an invoice", "finance.md", "periods-without-an-invoice"
    ),
    "staff_tax_report": HelpPage("the tax report", "finance.md", "vat-return"),
    "staff_account_code": _FINANCE,
    "staff_volumes": _VOLUMES,
    "staff_volumes_release": _VOLUMES,
    "staff_audit": _CONSOLE,
    "staff_audit_export": _CONSOLE,
    "staff_search": _CONSOLE,
    "staff_rollout": _ROLLOUTS,
}


def of_route(name: str | None) -> HelpPage:
    """Return the page that explains the route ``name``; the first page if there is none."""
    of_account = (name or "").startswith(_OF_ACCOUNTS)
    return _ACCOUNT if of_account else BY_ROUTE.get(name or "", START)
