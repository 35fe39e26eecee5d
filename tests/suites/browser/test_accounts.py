"""Journeys of people and their accounts in a real browser, with the mails of a real outbox."""

from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Page

from plans.models import PlanSubscription
from tenants.models import Membership
from tests.support.browser import chromium
from tests.support.browser.chromium import Chromium, Visitor
from tests.support.notifications import mails
from tests.support.portal.rows import PASSWORD

pytestmark = pytest.mark.django_db
OWNER, DEVELOPER = "olga@acme.example", "dev@acme.example"
BILLING = "bills@acme.example"
NEW_PASSWORD = "another long phrase"


def log_in(page: Page, email: str, password: str) -> None:
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.wait_for_url("**/t/**")


def test_a_forgotten_password_is_replaced(browser: Chromium, pictures: Path) -> None:
    def forget(visitor: Visitor) -> list[str]:
        with visitor.open("/login", None, 200) as watched:
            page = watched.page
            page.get_by_role("link", name="Forgot your password?").click()
            page.get_by_label("Email").fill(DEVELOPER)
            page.get_by_role("button", name="Send the mail").click()
            page.get_by_role("heading", name="Open the mail").wait_for()
            return watched.problems

    def replace(visitor: Visitor) -> list[str]:
        with visitor.open(link, None, 200) as watched:
            page = watched.page
            page.get_by_label("New Password", exact=True).fill(NEW_PASSWORD)
            found = chromium.look(watched, "password-new", pictures)
            page.get_by_label("New Password (again)").fill(NEW_PASSWORD)
            page.get_by_role("button", name="Change Password").click()
            page.wait_for_url("**/t/**")
        with visitor.open("/login", None, 200) as watched:
            log_in(watched.page, DEVELOPER, NEW_PASSWORD)
            return [*found, *watched.problems]

    asked = browser.run(forget)
    link = mails.newest_link("/account/password/reset/", to=DEVELOPER)

    assert asked == []
    assert browser.run(replace) == []


def test_a_colleague_is_invited_and_signs_up(browser: Chromium, pictures: Path) -> None:
    def invite(visitor: Visitor) -> list[str]:
        with visitor.open("/t/acme-shipping/team/", OWNER, 200) as watched:
            page = watched.page
            page.get_by_label("Email").fill("colleague@new.example")
            page.get_by_label("Role", exact=True).select_option("developer")
            page.get_by_role("button", name="Send the invitation").click()
            page.get_by_text("An invitation is on its way to colleague@new.example.").wait_for()
            return watched.problems

    def join(visitor: Visitor) -> tuple[str, list[str]]:
        with visitor.open(link, None, 200) as watched:
            page = watched.page
            found = chromium.look(watched, "invitation", pictures)
            page.get_by_label("Password").fill(NEW_PASSWORD)
            page.get_by_role("button", name="Sign up and join").click()
            page.get_by_text("Welcome to Acme Shipping.").wait_for()
            return page.url, [*found, *watched.problems]

    invited = browser.run(invite)
    link = mails.newest_link("/invitations/", to="colleague@new.example")
    url, problems = browser.run(join)

    assert (invited, problems) == ([], [])
    assert url.endswith("/t/acme-shipping/")
    assert Membership.objects.get(user__email="colleague@new.example").role == "developer"


def test_a_plan_is_changed_after_its_price_is_shown(browser: Chromium, pictures: Path) -> None:
    def change(visitor: Visitor) -> tuple[list[str], list[str], list[str]]:
        with visitor.open("/t/acme-shipping/settings/", BILLING, 200) as watched:
            page = watched.page
            page.get_by_role("link", name="Compare plans or change the plan").click()
            page.get_by_role("radio", name="Team").check()
            page.get_by_role("button", name="See what it costs").click()
            page.get_by_role("heading", name="Change from Business to Team?").wait_for()
            titles = page.locator(".stats h2").all_text_contents()
            amounts = page.locator(".stats .figure").all_text_contents()
            page.get_by_role("button", name="Change to Team").click()
            page.get_by_text("You are now on the plan Team.").wait_for()
            return titles, amounts, chromium.look(watched, "plan-changed", pictures)

    titles, amounts, problems = browser.run(change)

    assert problems == []
    assert titles == ["Due now", "Next month", "What last month would have cost"]
    assert amounts[0] == "0.00 EUR"
    assert all(amount.endswith(" EUR") for amount in amounts)
    subscription = PlanSubscription.objects.get(tenant__slug="acme-shipping", ends_at=None)
    assert subscription.plan.key == "team"


def test_a_passkey_is_added_and_logs_in(browser: Chromium) -> None:
    def visit(visitor: Visitor) -> tuple[str, list[str]]:
        with visitor.open_with_passkeys("/login") as watched:
            page = watched.page
            log_in(page, OWNER, PASSWORD)
            page.goto("/account/second-factor/keys/new")
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Confirm").click()
            page.get_by_label("Passwordless").check()
            page.get_by_role("button", name="Add").click()
            page.get_by_role("heading", name="Recovery Codes").wait_for()
            page.goto("/account/sessions")
            page.locator("summary", has_text=OWNER).click()
            page.get_by_role("button", name="Log out", exact=True).first.click()
            page.wait_for_url("**/login")
            page.get_by_role("button", name="Log in with a passkey").click()
            page.wait_for_url("**/t/**")
            return page.url, watched.problems

    url, problems = browser.run(visit)

    assert url.endswith("/t/acme-shipping/")
    assert problems == []
    assert set(Authenticator.objects.values_list("type", flat=True)) == {
        "webauthn",
        "recovery_codes",
    }
