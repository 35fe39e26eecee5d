"""Journeys of a newcomer in a real browser, over a running installation.

They sign up, confirm their address and send a first message; they apply a file; they use up a
quota, and the operator raises it, suspends them and restores them. Mails are those that the
operator reads in the mailbox of an installation without SMTP.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page

from controlplane.cli.apply import DRIFT
from controlplane.core.accounts import OPERATOR_EMAIL
from controlplane.embedded.installation import Installation
from tests.suites.e2e.conftest import Waypost
from tests.support.browser import chromium
from tests.support.browser.chromium import Chromium, Visitor
from tests.support.notifications import receiver
from tests.support.notifications.receiver import Receiver
from tests.support.waiting import eventually

pytestmark = [pytest.mark.stack, pytest.mark.slow]
EMAIL = "nina@newcomer.example"
TENANT = "/t/newcomer"
SPACES = f"{TENANT}/spaces"
OPERATOR = "/staff/tenants/newcomer"
REASON = "The invoice is not paid."


@dataclass(frozen=True)
class Newcomer:
    """Nina's account page after the confirmation, and what was wrong on the pages until then."""

    account: str
    problems: list[str]


@pytest.fixture(scope="module")
def browser(running: Installation) -> Iterator[Chromium]:
    """Chromium, whose known password is that of the operator and of Nina."""
    if chromium.installed() is None:
        pytest.skip("this system has no package of Chromium")
    with chromium.started(running.url, running.secrets.operator_password) as started:
        yield started


@pytest.fixture(scope="module")
def newcomer(browser: Chromium, running: Installation) -> Newcomer:
    """Nina, who has signed up, confirmed her address and sent a first message."""

    def visit(visitor: Visitor) -> Newcomer:
        with visitor.open("/signup", None, 200) as watched:
            sign_up(watched.page, running.secrets.operator_password)
            mail = read_mail(visitor, "Confirm your email address")
            found = re.search(r"/account/email/confirm/[^\s<\"]+", mail)
            assert found
            watched.page.goto(found[0])
            watched.page.get_by_role("button", name="Confirm").click()
            watched.page.wait_for_url(lambda url: "/confirm/" not in url)
            watched.page.goto("/account/email")
            account = watched.page.inner_text("main")
            send_first_message(watched.page)
            return Newcomer(account, watched.problems)

    return browser.run(visit)


def sign_up(page: Page, password: str) -> None:
    page.get_by_label("Organization").fill("Newcomer")
    page.get_by_label("Work email").fill(EMAIL)
    page.get_by_label("Password").fill(password)
    page.locator("input[name=plan]").first.check()
    page.get_by_role("button", name="Sign up").click()
    page.wait_for_url(f"**{SPACES}/-/new")


def read_mail(visitor: Visitor, subject: str) -> str:
    """Return the mail to Nina with the subject, as the operator reads it in the portal."""
    with visitor.open("/staff/mailbox/", OPERATOR_EMAIL, 200) as watched:
        row = watched.page.get_by_role("row").filter(has_text=EMAIL).filter(has_text=subject)

        def arrived() -> bool:
            watched.page.reload()
            return row.count() > 0

        eventually(arrived, f"the mail {subject!r} is in the mailbox", 90)
        row.first.get_by_role("link").click()
        watched.page.get_by_role("heading", name=subject).wait_for()
        return watched.page.inner_text("main")


def send_first_message(page: Page) -> None:
    page.goto(f"{SPACES}/-/new")
    page.get_by_label("Name").fill("orders")
    page.locator("input[name=space_plan]").first.check()
    page.get_by_role("button", name="Create space").click()
    page.goto(f"{SPACES}/orders/addresses/new?type=queue")
    page.locator("#id_address").fill("jobs")
    page.locator("input[name=address_plan]").first.check()
    page.get_by_role("button", name="Create address").click()
    page.goto(f"{SPACES}/orders/")
    # The page updates itself. The bound only ends a test that failed.
    page.get_by_text("Ready for messages").wait_for(timeout=180_000)
    page.goto(f"{SPACES}/orders/first-message")
    page.get_by_role("button", name="Send a test message").click()
    failed = page.get_by_text("could not be sent")
    page.get_by_text("It waits there for a receiver.").or_(failed).wait_for(timeout=120_000)
    assert failed.count() == 0, page.inner_text("main")


@pytest.fixture(scope="module")
def token(browser: Chromium, newcomer: Newcomer) -> str:
    """A token that Nina issues in the portal."""

    def issue(visitor: Visitor) -> str:
        with visitor.open(f"{TENANT}/tokens/", EMAIL, 200) as watched:
            page = watched.page
            page.get_by_label("Name").fill("from the portal")
            page.get_by_label("Role").select_option("admin")
            page.get_by_role("button", name="Issue").click()
            return page.locator(".secret").inner_text()

    return browser.run(issue)


@pytest.fixture
def nina(
    token: str, running: Installation, waypost: Waypost, monkeypatch: pytest.MonkeyPatch
) -> Waypost:
    """The command with Nina's token."""
    monkeypatch.setenv("WAYPOST_URL", running.url)
    monkeypatch.setenv("WAYPOST_TENANT", "newcomer")
    monkeypatch.setenv("WAYPOST_TOKEN", token)
    return waypost


def test_a_newcomer_signs_up_confirms_and_sends_a_first_message(newcomer: Newcomer) -> None:
    assert f"You log in with {EMAIL}." in newcomer.account
    assert "not confirmed" not in newcomer.account
    assert newcomer.problems == []


@pytest.mark.drill
def test_a_file_is_applied_twice_and_what_differs_is_shown(
    nina: Waypost, browser: Chromium, tmp_path: Path
) -> None:
    file = tmp_path / "tenant.yaml"
    file.write_text(
        yaml.safe_dump(
            {
                "tenant": "newcomer",
                "spaces": [
                    {
                        "name": "orders",
                        "type": "standard",
                        "addresses": [{"address": "jobs", "max_delivery_attempts": 3}],
                        "alarms": [{"address": "jobs", "metric": "depth", "threshold": 1234}],
                    }
                ],
            }
        )
    )

    def delete_alarm(visitor: Visitor) -> list[str]:
        with visitor.open(f"{TENANT}/alarms/", EMAIL, 200) as watched:
            page = watched.page
            page.get_by_role("main").get_by_role("link", name="jobs").first.click()
            page.get_by_role("button", name="Delete the alarm at 1234").click()
            page.get_by_text("No alarms").wait_for()
            return watched.problems

    def read_alarms(visitor: Visitor) -> str:
        with visitor.open(f"{TENANT}/alarms/", EMAIL, 200) as watched:
            return watched.page.inner_text("main")

    first = nina("apply", "-f", file)
    assert first.returncode == 0, first.stderr
    assert "~ address orders/jobs" in first.stdout
    again = nina("apply", "-f", file)
    assert (again.returncode, again.stdout) == (0, "in sync: nothing to change\n")
    problems = browser.run(delete_alarm)
    drift = nina("apply", "-f", file, "--dry-run")
    repaired = nina("apply", "-f", file)

    assert problems == []
    assert drift.returncode == DRIFT
    assert "+ alarm" in drift.stdout
    assert drift.stdout.count("\n") == 1
    assert repaired.returncode == 0
    assert "1,234" in browser.run(read_alarms)


@pytest.fixture(scope="module")
def hook() -> Iterator[Receiver]:
    """A receiver of webhooks on this machine, to which the installation may send."""
    with receiver.running() as there:
        yield there


@dataclass(frozen=True)
class Shop:
    """Nina's program: ``send`` sends a message as her messaging user, by the command."""

    send: Callable[[], CompletedProcess[str]]

    def sends(self) -> bool:
        return self.send().returncode == 0

    def is_refused(self) -> bool:
        return self.send().returncode != 0


@pytest.fixture(scope="module")
def password(browser: Chromium, newcomer: Newcomer) -> str:
    """The password of a messaging user that Nina creates."""

    def create(visitor: Visitor) -> str:
        with visitor.open(f"{SPACES}/orders/users/new", EMAIL, 200) as watched:
            watched.page.get_by_label("Name").fill("shop")
            watched.page.get_by_role("button", name="Create user").click()
            return watched.page.locator(".secret").inner_text()

    return browser.run(create)


@pytest.fixture
def shop(nina: Waypost, password: str, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Nina's program."""
    monkeypatch.setenv("WAYPOST_MESSAGING_USER", "shop")
    monkeypatch.setenv("WAYPOST_MESSAGING_PASSWORD", password)
    return Shop(lambda: nina("send", "orders", "jobs", "hello"))


@pytest.fixture
def secret(newcomer: Newcomer, browser: Chromium, hook: Receiver) -> str:
    """The secret of a webhook that Nina has made for the receiver."""

    def create(visitor: Visitor) -> str:
        with visitor.open(f"{TENANT}/notifications/channels/-/new", EMAIL, 200) as watched:
            page = watched.page
            page.get_by_label("Name").fill("pager")
            page.get_by_label("URL").fill(hook.url)
            page.get_by_role("button", name="Create").click()
            return page.locator(".secret").inner_text()

    return browser.run(create)


def set_limit(messages: int) -> Callable[[Visitor], None]:
    """Return what the operator does to allow so many messages a month."""

    def act(visitor: Visitor) -> None:
        with visitor.open(f"{OPERATOR}/", OPERATOR_EMAIL, 200) as watched:
            page = watched.page
            page.get_by_label("Resource").select_option("messages_per_month")
            page.get_by_label("New limit").fill(str(messages))
            page.get_by_label("Reason").fill("ticket 7")
            page.get_by_role("button", name="Set the limit").click()
            page.get_by_text("The limit is set and applies from now on.").wait_for()

    return act


def suspend(visitor: Visitor) -> None:
    with visitor.open(f"{OPERATOR}/", OPERATOR_EMAIL, 200) as watched:
        page = watched.page
        page.get_by_role("link", name="Suspend").click()
        page.get_by_label("Reason").fill(REASON)
        page.get_by_role("button", name="Suspend").click()
        page.get_by_text("Newcomer is suspended.").wait_for()


def restore(visitor: Visitor) -> None:
    with visitor.open(f"{OPERATOR}/", OPERATOR_EMAIL, 200) as watched:
        watched.page.get_by_role("button", name="Restore").click()
        watched.page.get_by_text("Newcomer is restored.").wait_for()


def read(path: str) -> Callable[[Visitor], str]:
    """Return what reads a page as Nina."""

    def look(visitor: Visitor) -> str:
        with visitor.open(path, EMAIL, 200) as watched:
            assert watched.problems == []
            return watched.page.inner_text("main")

    return look


def send_again(visitor: Visitor) -> str:
    """Replay the newest delivery of the webhook; return the log of its attempts before that."""
    with visitor.open(f"{TENANT}/notifications/", EMAIL, 200) as watched:
        page = watched.page
        page.get_by_role("link", name="pager").click()
        page.get_by_role("row").filter(has_text="quota.threshold").get_by_role("link").click()
        log = page.inner_text("main")
        page.get_by_role("button", name="Send again").click()
        page.wait_for_load_state()
        return log


def of_quota(hook: Receiver, secret: str) -> list[tuple[str, dict[str, Any]]]:
    """Return id and fields of each webhook about the quota; raise if a signature is wrong."""
    ids = [headers["webhook-id"] for headers, _ in hook.got]
    contents = hook.verified(secret)
    return [
        (id, content["data"])
        for id, content in zip(ids, contents, strict=True)
        if content["type"] == "quota.threshold"
    ]


@pytest.mark.drill
def test_a_used_up_quota_stops_sending_until_the_operator_raises_it(
    shop: Shop, secret: str, hook: Receiver, browser: Chromium
) -> None:
    eventually(shop.sends, "the new user may send", 60)
    browser.run(set_limit(1))
    eventually(lambda: of_quota(hook, secret), "the webhook arrives", 120)

    _, data = of_quota(hook, secret)[0]
    assert (data["tenant"], data["level_percent"], data["limit"]) == ("newcomer", 100, 1)
    mail = browser.run(lambda visitor: read_mail(visitor, "100 % of your messages a month is used"))
    assert "Clients can no longer send" in mail
    assert "Clients can no longer send" in browser.run(read(f"{TENANT}/"))
    assert "Sending blocked by the quota" in browser.run(read(f"{SPACES}/orders/"))
    eventually(shop.is_refused, "the broker refuses messages", 60)
    assert "204" in browser.run(send_again)
    eventually(lambda: len(of_quota(hook, secret)) == 2, "the webhook is sent again", 60)
    assert len({id for id, _ in of_quota(hook, secret)}) == 1

    browser.run(set_limit(1000))
    eventually(shop.sends, "messages are taken again", 120)
    assert "Clients can no longer send" not in browser.run(read(f"{TENANT}/"))


@pytest.mark.drill
def test_a_suspended_organization_sends_again_after_it_is_restored(
    shop: Shop, browser: Chromium
) -> None:
    eventually(shop.sends, "the new user may send", 60)
    browser.run(suspend)
    eventually(shop.is_refused, "the broker refuses messages", 60)

    assert f"Newcomer is suspended: {REASON}" in browser.run(read(f"{TENANT}/"))
    space = browser.run(read(f"{SPACES}/orders/"))
    assert "Sending blocked" in space
    assert "by the quota" not in space
    assert REASON in browser.run(lambda visitor: read_mail(visitor, "Newcomer is suspended"))
    browser.run(restore)
    eventually(shop.sends, "messages are taken again", 120)
    assert "is suspended" not in browser.run(read(f"{TENANT}/"))
    browser.run(lambda visitor: read_mail(visitor, "Newcomer works again"))
