"""The states of the pages in a browser: axe, width, console, picture.

The drills look at every state, narrow and wide, light and dark; its pictures are in
``build/pictures``. `make test` looks at one state of each kind of page, in two of these views.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.support.browser import chromium
from tests.support.browser.chromium import Chromium, View, Visitor
from tests.support.browser.scene import MAIL, Scene

pytestmark = pytest.mark.django_db
OWNER, BILLING, OUTSIDER = "olga@acme.example", "bills@acme.example", "oscar@other.example"
STAFF, LATE, FULL = "staff@operator.example", "late@payer.example", "full@carts.example"
_NUMBERS = itertools.count(1)
NOTIFICATIONS, PLAN = "/t/acme-shipping/notifications", "/t/acme-shipping/settings/plan"
SPACES, CARTS, OTHER = "/t/acme-shipping/spaces", "/t/full-carts/spaces/carts", "/t/other-people"


def _stay(_page: Page) -> None:
    """Do nothing on the page."""


@dataclass(frozen=True)
class State:
    """One state of a page.

    ``path`` returns where it is, ``act`` brings it about there, and ``says`` is a text that shows
    that it is this state. ``email`` is who looks, None for nobody.
    """

    name: str
    says: str
    path: Callable[[Scene], str]
    act: Callable[[Page], None] = _stay
    email: str | None = OWNER
    status: int = 200


def at(path: str) -> Callable[[Scene], str]:
    return lambda _: path


def of(address: str, *parts: str, page: str = "") -> Callable[[Scene], str]:
    """Return the path of a page of ``address``, with the request ``page`` to read messages."""

    def path(scene: Scene) -> str:
        query = f"?page={scene.requests[page]}" if page else ""
        return scene.path(address, *parts) + query

    return path


def _press(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("button", name=name, exact=True).click()


def _unfold(page: Page) -> None:
    for summary in page.locator("main details > summary").all():
        if summary.is_visible():
            summary.click()


def _wrong_budget(page: Page) -> None:
    page.get_by_label("Monthly budget").fill("10.999")
    page.get_by_role("button", name="Save").click()


def _choose(verb: str) -> Callable[[Page], None]:
    """Return what selects the first message and asks to ``verb`` it."""

    def act(page: Page) -> None:
        page.locator("input[name=message]").first.check()
        page.get_by_label("Do", exact=True).select_option(verb)
        page.get_by_role("button", name="Continue").click()

    return act


def _send_nonsense(page: Page) -> None:
    page.get_by_label("Application properties").fill("no equals sign")
    page.get_by_role("button", name="Send", exact=True).click()


def _new_user(page: Page) -> None:
    # Each view creates one, and the second user of a name would be refused.
    page.get_by_label("Name").fill(f"picture-{next(_NUMBERS)}")
    page.get_by_role("button", name="Create user").click()


def _select_connection(page: Page) -> None:
    page.locator("input[name=ids]").first.check()
    page.get_by_role("button", name="Close selected").click()


def _choose_address(page: Page) -> None:
    page.locator("input[name=id]").first.check()
    page.get_by_role("button", name="Delete chosen addresses").click()


def _find_page(page: Page) -> None:
    page.get_by_role("link", name="Dead letters", exact=True).last.wait_for()


def _type_search(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("invoices")
    page.locator("#found a").first.wait_for()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('#found') !== null")


def _open_invoice(page: Page) -> None:
    page.get_by_role("link", name=re.compile(r"^[A-Z]+-\d{6}$")).first.click()


def _open_run(page: Page) -> None:
    page.locator("table.rows th a").first.click()


def _of_invoice(name: str) -> Callable[[Page], None]:
    """Return what follows the link ``name`` of the newest invoice, and then waits for its page."""

    def act(page: Page) -> None:
        _open_invoice(page)
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_url(re.compile(r"/(lines/\d+|samples|change|replace)$"))

    return act


def _open_space(page: Page) -> None:
    page.get_by_role("link", name="broken", exact=True).click()
    page.get_by_role("button", name="Retry now").wait_for()


def _open_pay(page: Page) -> None:
    _open_invoice(page)
    page.get_by_role("link", name=re.compile("^Pay ")).click()


def _open_payment(page: Page) -> None:
    page.get_by_role("rowheader").get_by_role("link").first.click()


def _follow(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("link", name=re.compile(name)).first.click()


_open_pause, _open_volume = _follow("^Pause dunning"), _follow("volumes of gone")


def _prepare_draft(page: Page) -> None:
    text = page.get_by_label("Catalog, as YAML")
    text.fill(text.input_value().replace("fee_minor: 4900", "fee_minor: 5900"))
    page.get_by_role("button", name="Check and compare").click()


def _open_its_pages(page: Page) -> None:
    page.get_by_label("Why do you open them?").fill("ticket 7")
    page.get_by_role("button", name="Open its pages").click()
    page.get_by_text("You act as the operator").wait_for()


STATES = [
    State("landing", "Messaging for your programs", at("/"), email=None),
    State("status", "Portal and API", at("/status"), email=None),
    State("overview", "An alarm is raised.", at("/t/acme-shipping/")),
    State("overview-new", "No messaging space yet", at("/t/other-people/"), email=OUTSIDER),
    State("settings", "What it changes for you", at("/t/acme-shipping/settings/")),
    State("plans", "See what it costs", at(PLAN)),
    State("plan-price", "What last month would have cost", at(f"{PLAN}?plan=team")),
    State("plan-refused", "This plan does not fit", at(f"{PLAN}?plan=free")),
    State("plan-for-good", "cannot change back", at(f"{PLAN}?plan=business")),
    State("usage", "Cost of this period", at("/t/acme-shipping/usage/"), _unfold),
    State("usage-label", "team=checkout", at("/t/acme-shipping/usage/?label=team")),
    State(
        "usage-address",
        "All addresses of orders",
        at("/t/acme-shipping/usage/?space=orders&address=invoices"),
    ),
    State(
        "usage-refused",
        "is neither a month",
        at("/t/acme-shipping/usage/?window=banana"),
        status=400,
    ),
    State("invoices", "This period so far", at("/t/acme-shipping/invoices/")),
    State("invoice", "Credit notes", at("/t/acme-shipping/invoices/"), _open_invoice),
    State("pay", "By bank transfer", at("/t/acme-shipping/invoices/"), _open_pay),
    State("payments", "refunded", at("/t/acme-shipping/invoices/payments")),
    State("payments-none", "No payment yet", at(f"{OTHER}/invoices/payments"), email=OUTSIDER),
    State("audit", "Created the space", at("/t/acme-shipping/audit/")),
    State("audit-none", "Nothing matches", at("/t/acme-shipping/audit/?q=nothing")),
    State(
        "audit-export-refused",
        "Enter a valid date",
        at("/t/acme-shipping/audit/events.csv?since=soon"),
        status=422,
    ),
    State("nul", "NUL character", at("/t/acme-shipping/usage/?space=%00"), status=400),
    State("windows", "Sunday from 22:00", at("/t/acme-shipping/maintenance/")),
    State("windows-none", "No window", at("/t/other-people/maintenance/"), email=OUTSIDER),
    State("search", "Messaging users", at("/t/acme-shipping/search?q=e")),
    State("search-none", "Nothing found", at("/t/acme-shipping/search?q=zzz")),
    State("spaces-filtered", "No space matches", at(f"{SPACES}/?q=zzz&label=team%3Dx")),
    State("space-labels", "Labels of orders", at(f"{SPACES}/orders/labels")),
    State("first-message", "Send a test message", at(f"{SPACES}/quiet/first-message")),
    State("addresses-delete", "Delete 1 address", at(f"{SPACES}/orders/"), _choose_address),
    State("address-new-topic", "New topic", at(f"{SPACES}/orders/addresses/new?type=topic")),
    State("user-password", "Set a new password", at(f"{SPACES}/orders/users/checkout/password")),
    State("login", "Log in", at("/login"), email=None),
    State("login-refused", "Log in", at("/login"), _press("Log in"), email=None),
    State("password-reset", "Set a new password", at("/account/password/reset"), email=None),
    State("password-reset-sent", "Open the mail", at("/account/password/reset/sent"), email=None),
    State("link-too-old", "too old", at("/account/email/confirm/none"), email=None),
    State("team", "Invite a person", at("/t/acme-shipping/team/")),
    State("tokens", "Issue a token", at("/t/acme-shipping/tokens/")),
    State("sessions", "Log out everywhere else", at("/account/sessions")),
    State("password-change", "Change Password", at("/account/password")),
    State("email-change", "Send the mail again", at("/account/email")),
    State("second-factor", "Authenticator App", at("/account/second-factor")),
    State("passkeys", "Security Keys", at("/account/second-factor/keys")),
    State("confirm-it-is-me", "Confirm that it is you", at("/account/second-factor/app")),
    State("spaces", "Each space is isolated", at(f"{SPACES}/")),
    State("spaces-none", "No messaging space yet", at("/t/other-people/spaces/"), email=OUTSIDER),
    State("space-plans", "New space", at(f"{SPACES}/-/new")),
    State("space", "Ready for messages", at(f"{SPACES}/orders/")),
    State("space-configuring", "broker-0 is starting", at(f"{SPACES}/new/")),
    State("space-empty", "Add the first address", at(f"{SPACES}/empty/")),
    State("space-broken", "Broker down", at(f"{SPACES}/broken/")),
    State("space-settings", "Delete the space", at(f"{SPACES}/orders/settings")),
    State("space-plan", "plan", at(f"{SPACES}/orders/plan")),
    State("activity", "Activity", at(f"{SPACES}/orders/activity")),
    State("connect", "Where clients connect", at(f"{SPACES}/orders/connect"), _unfold),
    State("address-new", "New address", at(f"{SPACES}/orders/addresses/new"), _unfold),
    State(
        "invoice-line",
        "It adds up",
        at("/t/acme-shipping/invoices/"),
        _of_invoice("Messages, in and out"),
        email=BILLING,
    ),
    State(
        "invoice-samples",
        "The same hash as on the invoice",
        at("/t/acme-shipping/invoices/"),
        _of_invoice("Samples"),
        email=BILLING,
    ),
    State(
        "invoice-change",
        "What is to be paid changes by this",
        at("/t/acme-shipping/invoices/"),
        _of_invoice("Why it differs"),
        email=BILLING,
    ),
    State("address-hour", "last 1 hour", of("invoices")),
    State("address-day", "last 24 hours", lambda scene: scene.path("invoices") + "?span=24h"),
    State("address-week", "last 7 days", lambda scene: scene.path("invoices") + "?span=7d"),
    State("address-month", "last 30 days", lambda scene: scene.path("invoices") + "?span=30d"),
    State("address-table", "The same figures", of("invoices"), _unfold),
    State("address-long", "warehouse/leeds", of("long")),
    State("address-unread", "No reading yet", of("unread")),
    State("address-old", "Old reading", of("broken")),
    State("address-direct", "anycast", of("direct")),
    State("address-settings", "Delete the address", of("invoices", "settings")),
    State("address-settings-none", "No settings", of("direct", "settings")),
    State("address-settings-read", "Settings in force", of("invoices", "settings"), email=BILLING),
    State("address-delete", "Delete invoices?", of("invoices", "delete")),
    State("alarms", "Set an alarm", of("invoices", "alarms")),
    State("alarms-none", "No alarms", of("long", "alarms"), email=BILLING),
    State("notifications", "Your mails", at(f"{NOTIFICATIONS}/")),
    State("notifications-member", "Your mails", at(f"{NOTIFICATIONS}/"), email=BILLING),
    State("notification-defaults", "Budget in EUR", at(f"{NOTIFICATIONS}/defaults")),
    State(
        "budget-refused",
        "at most 2 decimals",
        at(f"{NOTIFICATIONS}/defaults"),
        _wrong_budget,
        status=400,
    ),
    State("channel-new", "Signed webhook", at(f"{NOTIFICATIONS}/channels/-/new")),
    State("channel", "Failing", at(f"{NOTIFICATIONS}/channels/chn_one")),
    State(
        "channel-secret",
        "Copy this secret",
        at(f"{NOTIFICATIONS}/channels/chn_one"),
        _press("New secret"),
    ),
    State("channel-delete", "Delete the channel", at(f"{NOTIFICATIONS}/channels/chn_one/delete")),
    State("delivery", "Send again", at(f"{NOTIFICATIONS}/deliveries/dlv_one")),
    State("mailbox", "given up after 9 attempts", at("/staff/mailbox/"), email=STAFF),
    State("mail", "1,234 messages", at(f"/staff/mailbox/{MAIL}"), email=STAFF),
    State("tenant-alarms", "1 alarm is raised", at("/t/acme-shipping/alarms/")),
    State("support", "Allowed until", at("/t/acme-shipping/settings/support")),
    State("support-none", "The operator may", at(f"{OTHER}/settings/support"), email=OUTSIDER),
    State("search-live", "queue in orders", at("/t/acme-shipping/"), _type_search),
    State("suspended", "Late Payer is suspended", at("/t/late-payer/"), email=LATE),
    State("quota-used-up", "Clients can no longer send until", at("/t/full-carts/"), email=FULL),
    State("quota-used-up-usage", "1,200 of 1,000", at("/t/full-carts/usage/"), email=FULL),
    State("quota-used-up-space", "Sending blocked by the quota", at(f"{CARTS}/"), email=FULL),
    State(
        "quota-used-up-message",
        "A quota of this organization is used up",
        at(f"{CARTS}/first-message"),
        _press("Send a test message"),
        email=FULL,
        status=409,
    ),
    State("staff-tenants", "suspended", at("/staff/tenants/"), email=STAFF),
    State("staff-tenant", "Call Olga first.", at("/staff/tenants/acme-shipping/"), email=STAFF),
    State(
        "staff-period", "into two invoices", at("/staff/tenants/acme-shipping/close"), email=STAFF
    ),
    State("staff-prices", "catalog", at("/staff/prices/"), email=STAFF),
    State("staff-draft", "59.00 EUR", at("/staff/prices/"), _prepare_draft, email=STAFF),
    State("staff-suspend", "Reason", at("/staff/tenants/acme-shipping/suspend"), email=STAFF),
    State("acting", "Stop", at("/staff/tenants/acme-shipping/"), _open_its_pages, email=STAFF),
    State("staff-fleet", "Longest waiting", at("/staff/fleet/"), email=STAFF),
    State("staff-space", "What to do", at("/staff/fleet/?q=broken"), _open_space, email=STAFF),
    State("staff-health", "mails stay in the mailbox", at("/staff/health/"), email=STAFF),
    State(
        "staff-invoice", "Issue a credit note", at("/staff/invoices/"), _open_invoice, email=STAFF
    ),
    State("replace", "What changes", at("/staff/invoices/"), _of_invoice("Replace"), email=STAFF),
    State("staff-credit-notes", "of all tenants", at("/staff/credit-notes/"), email=STAFF),
    State("staff-close-runs", "Start a run", at("/staff/close-runs/"), email=STAFF),
    State("staff-close-run", "Held, by reason", at("/staff/close-runs/"), _open_run, email=STAFF),
    State("staff-close-run-start", "Held invoices", at("/staff/close-runs/start"), email=STAFF),
    State("staff-payments", "need a look", at("/staff/payments/"), email=STAFF),
    State("staff-payment", "Dispute", at("/staff/payments/"), _open_payment, email=STAFF),
    State("staff-overdue", "dunning is off", at("/staff/overdue/"), email=STAFF),
    State("staff-pause", "Pause dunning of", at("/staff/overdue/"), _open_pause, email=STAFF),
    State("credit", "Yearly deal", at("/t/acme-shipping/credit/")),
    State("credit-none", "Nothing happened yet", at("/t/other-people/credit/"), email=OUTSIDER),
    State("staff-terms", "End a commitment", at("/staff/tenants/acme-shipping/terms"), email=STAFF),
    State("staff-tax", "WAPIAAAAX1", at("/staff/tenants/acme-shipping/tax"), email=STAFF),
    State("staff-coupons", "HALF", at("/staff/coupons/"), email=STAFF),
    State("staff-revenue", "Monthly fees now", at("/staff/revenue/"), email=STAFF),
    State("staff-finance", "Codes of accounts", at("/staff/finance/"), email=STAFF),
    State("staff-receivables", "All tenants", at("/staff/finance/receivables/"), email=STAFF),
    State("staff-owed", "days overdue", at("/staff/finance/receivables/late-payer/"), email=STAFF),
    State("staff-periods", "is not complete", at("/staff/finance/periods/"), email=STAFF),
    State("staff-tax-report", "Quai SA", at("/staff/finance/tax/"), email=STAFF),
    State("staff-pipeline", "The last run failed", at("/staff/pipeline/"), email=STAFF),
    State("staff-quarantine", "fall (1)", at("/staff/pipeline/quarantine/"), email=STAFF),
    State("staff-volumes", "gone", at("/staff/volumes/"), email=STAFF),
    State("volume-release", "lost for ever", at("/staff/volumes/"), _open_volume, email=STAFF),
    State("staff-audit", "Created the space", at("/staff/audit/"), email=STAFF),
    State("staff-search", "People", at("/staff/search?q=acme"), email=STAFF),
    State("messages", "Browse to see messages", of("invoices", "messages")),
    State("messages-running", "being read", of("invoices", "messages", page="running")),
    State("messages-failed", "did not answer", of("invoices", "messages", page="failed")),
    State("messages-none", "No messages", of("unread", "messages", page="none")),
    State("messages-expired", "expired", lambda s: s.path("invoices", "messages") + "?page=gone"),
    State("messages-stored", "Stored messages", of("invoices", "messages", page="stored")),
    State("messages-open", "ring", of("invoices", "messages", page="stored"), _unfold),
    State("messages-dead", "Came from", of("dead", "messages", page="dead"), _unfold),
    State(
        "messages-confirm-delete",
        "Delete 1 message?",
        of("invoices", "messages", page="stored"),
        _choose("delete"),
    ),
    State(
        "messages-confirm-resend",
        "Resend 1 message?",
        of("dead", "messages", page="dead"),
        _choose("resend"),
    ),
    State(
        "messages-nothing-chosen",
        "elect",
        of("invoices", "messages", page="stored"),
        _press("Continue"),
        status=400,
    ),
    State("messages-changing", "1,000 of 5,000", of("changing", "messages")),
    State("messages-purge", "Purge", of("invoices", "messages", "purge")),
    State("messages-topic", "messages of a topic are stored in its", of("topic", "messages")),
    State(
        "messages-send-refused",
        "write name=value",
        of("invoices", "messages"),
        _send_nonsense,
        status=400,
    ),
    State("connections", "3 open connections", at(f"{SPACES}/orders/connections")),
    State("connections-of-user", "Close all", at(f"{SPACES}/orders/connections?user=checkout")),
    State(
        "connections-no-match", "No connection matches", at(f"{SPACES}/orders/connections?user=x")
    ),
    State("connections-none", "No open connections", at(f"{SPACES}/quiet/connections")),
    State(
        "connections-close",
        "Close 1 connection?",
        at(f"{SPACES}/orders/connections"),
        _select_connection,
    ),
    State("users", "Messaging users", at(f"{SPACES}/orders/users")),
    State("users-none", "Add the first address", at(f"{SPACES}/empty/users")),
    State("user-new", "New messaging user", at(f"{SPACES}/quiet/users/new")),
    State("user-created", "Copy this password", at(f"{SPACES}/quiet/users/new"), _new_user),
    State("user-revoke", "Revoke checkout?", at(f"{SPACES}/orders/users/checkout/revoke")),
    State("forbidden", "", of("invoices", "messages"), email=BILLING, status=403),
    # The site that `make setup` built.
    State("docs", "Choose your", at("/docs/"), email=None),
    State("docs-program", "BlockingConnection", at("/docs/develop/quick-start.html"), email=None),
    State("docs-tables", "amqp:not-found", at("/docs/develop/errors.html"), email=None),
    State("docs-warning", "not tested", at("/docs/develop/dotnet.html"), email=None),
    State("docs-search", "Dead letters", at("/docs/search.html?q=dead"), _find_page, email=None),
    State("not-found", "", at(f"{SPACES}/nothing/"), status=404),
]


# One state of each kind: lists, tables, charts, forms, refusals, dialogs, and pages of each role.
_OF_EACH_KIND = {
    "landing",
    "login-refused",
    "overview",
    "plans",
    "usage",
    "invoices",
    "invoice-line",
    "invoice-samples",
    "audit",
    "search-live",
    "spaces",
    "space-plans",
    "space",
    "space-broken",
    "connect",
    "address-new",
    "address-day",
    "address-table",
    "address-settings",
    "address-delete",
    "alarms",
    "notifications",
    "channel-secret",
    "team",
    "tokens",
    "second-factor",
    "suspended",
    "acting",
    "staff-space",
    "messages-open",
    "messages-confirm-delete",
    "messages-send-refused",
    "connections-close",
    "user-created",
    "docs-tables",
    "not-found",
}
KINDS = [state for state in STATES if state.name in _OF_EACH_KIND]


def look(
    state: State, browser: Chromium, scene: Scene, views: Sequence[View], pictures: Path | None
) -> None:
    """Bring the state about and look at it in each of the views."""
    path = state.path(scene)

    def visit(visitor: Visitor) -> tuple[str, list[str]]:
        with visitor.open(path, state.email, state.status) as watched:
            state.act(watched.page)
            text = watched.page.locator("body").inner_text()
            return text, chromium.look(watched, state.name, pictures, views)

    text, problems = browser.run(visit)

    assert state.says in text
    assert problems == []


@pytest.mark.parametrize("state", KINDS, ids=lambda state: state.name)
def test_page_has_no_fault(state: State, browser: Chromium, shown: Scene) -> None:
    look(state, browser, shown, chromium.OPPOSITE, None)


def test_each_kind_is_a_state() -> None:
    assert _OF_EACH_KIND == {state.name for state in KINDS}


@pytest.mark.drill
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_every_state_has_no_fault_in_any_view(
    state: State, browser: Chromium, shown: Scene, pictures: Path
) -> None:
    look(state, browser, shown, chromium.VIEWS, pictures)
