"""Journeys of people who log in through a real Keycloak, in a real browser.

A colleague is invited to a portal with local accounts. Another portal on the same rows has none:
its operator and its people come through the provider, and the pages of passwords refuse.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from django.core.management import call_command
from django.test import override_settings
from playwright.sync_api import Page
from pytest_django import DjangoDbBlocker

from controlplane.core import enqueue
from controlplane.embedded import keycloak
from controlplane.embedded.keycloak import Person
from tenants.models import Membership, User
from tests.suites.login.conftest import ALICE, BOB, ERIN, OLGA, OPERATORS, STAFF
from tests.support import web_server
from tests.support.browser import chromium
from tests.support.browser.chromium import Chromium, Visitor
from tests.support.notifications import mails
from tests.support.portal import rows
from tests.support.web_server import WebServer

pytestmark = [
    pytest.mark.keycloak,
    pytest.mark.slow,
    pytest.mark.drill,
    pytest.mark.django_db,
]
SINGLE_SIGN_ON = "Continue with single sign-on"


@dataclass(frozen=True)
class Portals:
    """Two portals on the same rows: ``open`` has local accounts too, ``closed`` has none."""

    open: WebServer
    closed: WebServer


@pytest.fixture(scope="module")
def portals(
    provider: keycloak.Server,
    portal_ports: tuple[int, int],
    tmp_path_factory: pytest.TempPathFactory,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[Portals]:
    """The portals, whose people log in through the provider, and the rows of the cast."""
    folder = tmp_path_factory.mktemp("portals")
    (folder / "open").mkdir()
    (folder / "closed").mkdir()
    settings = {**keycloak.environment(provider), "WAYPOST_OIDC_STAFF_GROUP": OPERATORS}
    without = {**settings, "WAYPOST_LOCAL_ACCOUNTS_ENABLED": "false"}
    with _cast(django_db_blocker), web_server.queue(folder) as queue:
        common = {"threads": 4, "queue_port": queue}
        with (
            web_server.running(
                folder / "open", port=portal_ports[0], settings=settings, **common
            ) as first,
            web_server.running(
                folder / "closed", port=portal_ports[1], settings=without, **common
            ) as second,
        ):
            yield Portals(first, second)


@contextmanager
def _cast(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Commit the rows of the cast, so that a web server sees them; delete them at the end."""
    hashed = override_settings(
        PASSWORD_HASHERS=["django.contrib.auth.hashers.Argon2PasswordHasher"]
    )
    with django_db_blocker.unblock(), hashed, pytest.MonkeyPatch.context() as patched:
        patched.setattr(enqueue, "_send", lambda task, ids, request_id: None)
        try:
            rows.world()
            yield
        finally:
            call_command("flush", verbosity=0, interactive=False)


@pytest.fixture(scope="module")
def browser(portals: Portals) -> Iterator[Chromium]:
    """Chromium, which visits the portal with local accounts."""
    if chromium.installed() is None:
        pytest.skip("this system has no package of Chromium")
    with chromium.started(portals.open.url, rows.PASSWORD) as started:
        yield started


@pytest.fixture
def pictures() -> Path:
    return chromium.picture_folder()


def log_in(page: Page, person: Person) -> None:
    """Log in on a page that leads to the provider, and there with the password."""
    page.get_by_role("link", name=SINGLE_SIGN_ON).click()
    page.locator("#username").fill(person.username)
    page.locator("#password").fill(person.password)
    page.locator("#kc-login").click()


def invited(browser: Chromium, email: str) -> str:
    """Let the owner invite a colleague in the portal; return the path in the mail."""

    def invite(visitor: Visitor) -> list[str]:
        with visitor.open("/t/acme-shipping/team/", OLGA.email, 200) as watched:
            watched.page.get_by_label("Email").fill(email)
            watched.page.get_by_label("Role", exact=True).select_option("developer")
            watched.page.get_by_role("button", name="Send the invitation").click()
            watched.page.get_by_text(f"An invitation is on its way to {email}.").wait_for()
            return watched.problems

    assert browser.run(invite) == []
    return mails.newest_link("/invitations/", to=email)


def test_an_invited_colleague_joins_by_a_login_through_the_provider(
    browser: Chromium, pictures: Path
) -> None:
    link = invited(browser, ALICE.email)

    def join(visitor: Visitor) -> list[str]:
        with visitor.open(link, None, 200) as watched:
            page = watched.page
            page.get_by_role("link", name="Log in and join").click()
            found = chromium.look(watched, "login-provider", pictures)
            log_in(page, ALICE)
            page.get_by_role("button", name="Join").wait_for()
            found = [*found, *chromium.look(watched, "invitation-mine", pictures)]
            page.get_by_role("button", name="Join").click()
            page.get_by_text("Welcome to Acme Shipping.").wait_for()
            return found

    assert browser.run(join) == []
    member = Membership.objects.get(user__email=ALICE.email)
    assert (member.role, member.user.has_usable_password()) == ("developer", False)


def test_somebody_elses_session_is_no_dead_end_for_an_invitation(
    browser: Chromium, pictures: Path
) -> None:
    link = invited(browser, BOB.email)

    def join(visitor: Visitor) -> list[str]:
        with visitor.open(f"/login?next={link}", None, 200) as watched:
            page = watched.page
            log_in(page, ALICE)
            page.get_by_text(f"You are logged in as {ALICE.email}.").wait_for()
            found = chromium.look(watched, "invitation-of-another", pictures)
            page.get_by_role("button", name="Log out").click()
            page.get_by_role("heading", name="Log in").wait_for()
            page.goto(link)
            page.get_by_role("link", name="Log in and join").click()
            # The provider asks who it is: its session of Alice has ended too.
            log_in(page, BOB)
            page.get_by_role("button", name="Join").click()
            page.get_by_text("Welcome to Acme Shipping.").wait_for()
            return found

    assert browser.run(join) == []
    assert Membership.objects.get(user__email=BOB.email).tenant.slug == "acme-shipping"


def test_an_operator_with_a_former_password_works_through_the_provider(
    portals: Portals, browser: Chromium, pictures: Path
) -> None:
    def work(visitor: Visitor) -> tuple[list[str], list[str]]:
        with visitor.open(f"{portals.closed.url}/", None, 200) as watched:
            page = watched.page
            page.goto(f"{portals.closed.url}/login")
            fields = page.locator("input:not([type=hidden])").count()
            found = chromium.look(watched, "login-provider-only", pictures)
            log_in(page, STAFF)
            page.wait_for_url("**/staff/tenants/")
            page.get_by_role("link", name="Acme Shipping").click()
            page.get_by_label("Resource").select_option("members")
            page.get_by_label("New limit").fill("77")
            page.get_by_label("Reason").fill("ticket 8")
            page.get_by_role("button", name="Set the limit").click()
            page.get_by_text("The limit is set and applies from now on.").wait_for()
            page.goto(f"{portals.closed.url}/account/sessions")
            # Once for wide windows, once for narrow ones.
            pages = page.get_by_label("Pages").locator("a").all_text_contents()
            found += chromium.look(watched, "account-provider", pictures)
            page.set_viewport_size({"width": 1280, "height": 900})
            page.locator("summary", has_text=STAFF.email).click()
            page.get_by_role("button", name="Log out", exact=True).first.click()
            page.wait_for_url("**/login")
            return pages, [*found, *[f"{fields} fields"] * bool(fields)]

    assert browser.run(work) == (["Sessions", "Sessions"], [])
    operator = User.objects.get(email=STAFF.email)
    assert operator.is_staff
    assert operator.oidc_subject
    assert not operator.has_usable_password()


def test_an_owner_with_a_former_password_and_a_new_person_come_through_the_provider(
    portals: Portals, browser: Chromium, pictures: Path
) -> None:
    def found_one(visitor: Visitor) -> list[str]:
        with visitor.open(f"{portals.closed.url}/signup", None, 403) as watched:
            page = watched.page
            found = chromium.look(watched, "signup-provider", pictures)
            watched.expected_status = 200
            log_in(page, ERIN)
            page.get_by_label("Organization").fill("Erin and Sons")
            page.locator("input[name=plan]").first.check()
            page.get_by_role("button", name="Create organization").click()
            page.get_by_text("Erin and Sons is ready.").wait_for()
            return found

    def return_as_owner(visitor: Visitor) -> list[str]:
        with visitor.open(f"{portals.closed.url}/login", None, 200) as watched:
            log_in(watched.page, OLGA)
            watched.page.wait_for_url("**/t/acme-shipping/")
            return watched.problems

    assert browser.run(found_one) == []
    assert browser.run(return_as_owner) == []


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/signup", 403),
        ("/account/password", 404),
        ("/account/password/reset", 404),
        ("/account/email", 404),
        ("/account/second-factor", 404),
        ("/account/second-factor/keys", 404),
        ("/account/second-factor/keys/login", 404),
        ("/account/second-factor/app", 404),
    ],
)
def test_pages_of_local_accounts_refuse(portals: Portals, path: str, status: int) -> None:
    answer = httpx.get(f"{portals.closed.url}{path}", timeout=60)

    assert answer.status_code == status
    assert "provider" in answer.text


def test_a_password_logs_nobody_in_without_local_accounts(portals: Portals) -> None:
    def tried(portal: WebServer) -> tuple[int, int, str]:
        with httpx.Client(base_url=portal.url, timeout=60) as client:
            client.get("/login")
            form = {
                "login": "oscar@other.example",
                "password": rows.PASSWORD,
                "csrfmiddlewaretoken": client.cookies.get("csrftoken", ""),
            }
            page = client.post("/login", data=form)
        login = {"email": form["login"], "password": rows.PASSWORD}
        api = httpx.post(f"{portal.url}/api/v1/session", json=login, timeout=60)
        return page.status_code, api.status_code, api.json().get("code", "")

    # The same password works where local accounts are on.
    assert tried(portals.open) == (302, 201, "")
    assert tried(portals.closed) == (403, 403, "local_accounts.disabled")
