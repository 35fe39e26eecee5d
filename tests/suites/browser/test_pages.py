"""Each state of the messaging pages, narrow and wide, light and dark: axe, width, console, picture.

The pictures are in ``build/pictures``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.support.browser import chromium
from tests.support.browser.chromium import Chromium, Visitor
from tests.support.browser.scene import Scene

pytestmark = pytest.mark.django_db
OWNER, BILLING, OUTSIDER = "olga@acme.example", "bills@acme.example", "oscar@other.example"
STAFF = "staff@operator.example"
NOTIFICATIONS = "/t/acme-shipping/notifications"
SPACES = "/t/acme-shipping/spaces"


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
    page.get_by_label("Name").fill("picture")
    page.get_by_role("button", name="Create user").click()


def _select_connection(page: Page) -> None:
    page.locator("input[name=ids]").first.check()
    page.get_by_role("button", name="Close selected").click()


STATES = [
    State("login", "Log in", at("/login"), email=None),
    State("login-refused", "Log in", at("/login"), _press("Log in"), email=None),
    State("spaces", "Each space is isolated", at(f"{SPACES}/")),
    State("spaces-none", "No messaging space yet", at("/t/other-people/spaces/"), email=OUTSIDER),
    State("space-plans", "New space", at(f"{SPACES}/-/new")),
    State("space", "Ready for messages", at(f"{SPACES}/orders/")),
    State("space-configuring", "broker-0 is starting", at(f"{SPACES}/new/")),
    State("space-empty", "Add the first address", at(f"{SPACES}/empty/")),
    State("space-broken", "BrokerDown", at(f"{SPACES}/broken/")),
    State("space-settings", "Delete the space", at(f"{SPACES}/orders/settings")),
    State("space-plan", "plan", at(f"{SPACES}/orders/plan")),
    State("activity", "Activity", at(f"{SPACES}/orders/activity")),
    State("connect", "Where clients connect", at(f"{SPACES}/orders/connect"), _unfold),
    State("address-new", "New address", at(f"{SPACES}/orders/addresses/new"), _unfold),
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
    State("mailbox", "1,234 messages", at("/staff/mailbox/"), email=STAFF),
    State("mail", "1,234 messages", at("/staff/mailbox/1"), email=STAFF),
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
    State("messages-topic", "A topic stores no messages", of("topic", "messages")),
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
    State("not-found", "", at(f"{SPACES}/nothing/"), status=404),
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_page_has_no_fault(state: State, browser: Chromium, shown: Scene, pictures: Path) -> None:
    path = state.path(shown)

    def look(visitor: Visitor) -> tuple[str, list[str]]:
        with visitor.open(path, state.email, state.status) as watched:
            state.act(watched.page)
            text = watched.page.locator("body").inner_text()
            return text, chromium.look(watched, state.name, pictures)

    text, problems = browser.run(look)

    assert state.says in text
    assert problems == []
