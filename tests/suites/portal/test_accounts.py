"""Signing up, logging in and out, and where one lands."""

import re
from dataclasses import replace

import pytest
from django.template.loader import render_to_string
from django.test import Client
from pytest_django import Settings

from controlplane.console.forms.accounts import SignUpForm
from controlplane.console.plan_reads import Offer
from controlplane.core.models import AuditEvent
from plans.catalog import parsing, publishing
from tenants.models import Membership, Role, Tenant, User
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
ASKED = {
    "organization": "New Shop",
    "email": "Nina@New.example",
    "password": "a long enough one",
    "plan": "free",
}


def test_sign_up_makes_an_organization_logs_in_and_leads_to_the_first_space(world: World) -> None:
    client = Client()

    answer = client.post("/signup", ASKED, follow=True)

    assert answer.redirect_chain == [("/t/new-shop/spaces/-/new", 302)]
    assert "New Shop is ready" in answer.content.decode()
    told = "A mail to nina@new.example has a link: open it to confirm the address."
    assert answer.content.decode().count(told) == 1
    assert told not in client.get("/t/new-shop/").content.decode()
    membership = Membership.objects.get(user__email="nina@new.example")
    assert (membership.role, membership.tenant.slug) == ("owner", "new-shop")


@pytest.mark.parametrize(
    ("wrong", "words", "status"),
    [
        ({"email": "olga@acme.example"}, "signup.email_taken", 409),
        ({"password": "short"}, "This password is too short", 400),
        ({"email": "nobody"}, "Enter a valid email address", 400),
        ({"plan": "gold"}, "gold is not one of the available choices", 400),
        ({"organization": "  "}, "This field is required", 400),
    ],
)
def test_a_refused_sign_up_says_why_and_makes_nothing(
    world: World, wrong: dict[str, str], words: str, status: int
) -> None:
    before = set(User.objects.values_list("email", flat=True))

    answer = Client().post("/signup", {**ASKED, **wrong})

    assert answer.status_code == status
    assert words in answer.content.decode()
    assert set(User.objects.values_list("email", flat=True)) == before


def test_a_refused_sign_up_does_not_give_the_password_back(world: World) -> None:
    answer = Client().post("/signup", {**ASKED, "email": "nobody"})

    assert ASKED["password"] not in answer.content.decode()


def test_sign_up_can_be_switched_off(world: World, settings: Settings, as_: As) -> None:
    settings.SIGNUP_ENABLED = False

    answers = [Client().post("/signup", ASKED), as_(world.owner).get("/organizations/new")]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert "Sign-up is closed" in answers[0].content.decode()
    assert "Sign up</a>" not in Client().get("/login").content.decode()


def test_staff_create_tenants_where_sign_up_is_switched_off(
    world: World, settings: Settings, as_: As
) -> None:
    settings.SIGNUP_ENABLED = False
    client = as_(world.staff)

    assert 'href="/organizations/new"' in client.get("/staff/tenants/").content.decode()
    assert "<h1>New tenant</h1>" in client.get("/organizations/new").content.decode()
    answer = client.post("/organizations/new", {"organization": "Customer", "plan": "team"})

    assert answer["Location"] == "/t/customer/team/"
    owner = Membership.objects.get(tenant__slug="customer")
    assert (owner.user, owner.role) == (world.staff, Role.OWNER)
    # The invoices are the customer's: the overview asks the owner where they go.
    assert Tenant.objects.get(slug="customer").billing_email == ""
    overview = client.get("/t/customer/").content.decode()
    assert "fill in: legal name, email for invoices, address, country" in overview
    # Staff invite the customer's owner first.
    assert '<option value="owner" selected>' in client.get("/t/customer/team/").content.decode()
    assert (
        '<option value="developer" selected>'
        in as_(world.owner).get("/t/acme-shipping/team/").content.decode()
    )


def test_who_may_found_no_organization_is_told_who_does_and_logs_out(
    world: World, settings: Settings, as_: As
) -> None:
    settings.SIGNUP_ENABLED = False
    client = as_(rows.person("alone@example.org"))

    page = client.get(client.get("/")["Location"])

    assert page.status_code == 403
    assert "to invite alone@example.org" in page.content.decode()
    assert 'action="/logout"' in page.content.decode()
    # It would only lead back here.
    assert 'href="/login"' not in page.content.decode()


def test_a_person_without_an_organization_makes_one(world: World, as_: As) -> None:
    person = rows.person("alone@example.org")

    landed = as_(person).get("/")
    answer = as_(person).post("/organizations/new", {"organization": "Solo", "plan": "team"})

    assert landed["Location"] == "/organizations/new"
    assert answer["Location"] == "/t/solo/spaces/-/new"
    assert Tenant.objects.get(slug="solo").memberships.get().user == person


def test_home_leads_each_person_to_their_place(world: World, as_: As) -> None:
    places = [as_(who).get("/")["Location"] for who in (world.owner, world.staff)]

    assert places == ["/t/acme-shipping/", "/staff/tenants/"]


def test_log_in_takes_the_email_in_any_case_and_leads_back(world: World) -> None:
    asked = {"login": "OLGA@acme.example", "password": rows.PASSWORD, "next": "/t/x/"}

    assert Client().post("/login", asked)["Location"] == "/t/x/"


def test_log_in_never_leads_to_another_site(world: World) -> None:
    asked = {
        "login": "olga@acme.example",
        "password": rows.PASSWORD,
        "next": "https://evil.example/",
    }

    assert Client().post("/login", asked)["Location"] == "/"


@pytest.mark.parametrize("email", ["olga@acme.example", "unknown@acme.example"])
def test_a_wrong_login_says_the_same_for_known_and_unknown(world: World, email: str) -> None:
    answer = Client().post("/login", {"login": email, "password": "wrong"})

    assert answer.status_code == 200
    assert "Email or password is wrong" in answer.content.decode()
    assert "_auth_user_id" not in answer.client.session


def test_log_out_ends_the_session(world: World, as_: As) -> None:
    client = as_(world.owner)

    client.post("/logout")

    assert client.get("/t/acme-shipping/")["Location"] == "/login?next=/t/acme-shipping/"


def test_local_accounts_can_be_switched_off(world: World, settings: Settings) -> None:
    settings.LOCAL_ACCOUNTS_ENABLED = False

    page = Client().get("/login").content.decode()
    answer = Client().post("/login", {"login": "olga@acme.example", "password": rows.PASSWORD})

    assert 'name="password"' not in page
    assert answer["Location"] == "/login"
    assert Client().post("/signup", ASKED).status_code == 403


def test_forms_want_a_token_against_forgery(world: World) -> None:
    answer = Client(enforce_csrf_checks=True).post("/signup", ASKED)

    assert answer.status_code == 403
    assert "The form has expired" in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "asked"),
    [("/login", {"login": "olga@acme.example", "password": "wrong"}), ("/signup", ASKED)],
)
@pytest.mark.parametrize("setting", ["LOGIN_RATE SIGNUP_RATE", "ACCOUNT_RATE"])
def test_too_many_tries_are_refused_and_told_when_to_come_back(
    world: World, settings: Settings, path: str, asked: dict[str, str], setting: str
) -> None:
    for name in setting.split():
        setattr(settings, name, "1/day")
    Client().post(path, asked)

    answer = Client().post(path, asked)

    assert answer.status_code == 429
    page = answer.content.decode()
    assert re.search(r"Too many attempts. Try again in \d+ (minutes|seconds?)\.", page)
    assert "rate_limited" in page
    assert f'action="{path}"' in page or 'name="password"' in page


def test_too_many_tries_keep_the_right_password_out_too(world: World, settings: Settings) -> None:
    settings.ACCOUNT_RATE = "1/day"
    asked = {"login": "olga@acme.example", "password": rows.PASSWORD}
    Client().post("/login", {**asked, "password": "wrong"})

    answer = Client().post("/login", asked)

    assert answer.status_code == 429
    assert "_auth_user_id" not in answer.client.session


def test_portal_and_api_count_together(world: World, settings: Settings) -> None:
    settings.ACCOUNT_RATE = "1/day"
    Client().post("/login", {"login": "olga@acme.example", "password": "wrong"})

    body = {"email": "olga@acme.example", "password": "wrong"}
    answer = Client().post("/api/v1/session", body, "application/json")

    assert answer.status_code == 429


@pytest.mark.parametrize(("proxies", "seen"), [(0, "127.0.0.1"), (1, "203.0.113.9")])
def test_audit_tells_the_address_behind_trusted_proxies(
    world: World, settings: Settings, as_: As, proxies: int, seen: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    asked = {"organization": "Solo", "plan": "team"}
    headers = {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}

    as_(rows.person("alone@example.org")).post("/organizations/new", asked, headers=headers)

    event = AuditEvent.objects.filter(actor="user:alone@example.org").latest("id")
    assert event.source_ip == seen


@pytest.mark.parametrize(
    ("key", "fee", "words"),
    [
        ("free", 0, "Free of charge"),
        ("team", 0, "No monthly fee"),
        ("team", 4900, "49.00 EUR a month"),
    ],
)
def test_a_plan_is_called_free_only_if_nothing_in_it_costs(key: str, fee: int, words: str) -> None:
    plans = {plan.key: plan for plan in parsing.parse(publishing.default_yaml()).plans}
    form = SignUpForm(offers=[Offer(replace(plans[key], monthly_fee_minor=fee))])

    page = render_to_string("console/accounts/plan_choice.html", {"form": form})

    assert f'<span class="price">{words}</span>' in page


def test_what_only_a_count_protects_is_refused_without_the_cache(
    world: World, client: Client, settings: Settings
) -> None:
    """A code of a second factor must not be guessed as often as a server answers."""
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:9/0",
        }
    }

    answer = client.post("/account/password/reset", {"email": world.owner.email})

    assert answer.status_code == 503
    assert "cache.unavailable" in answer.content.decode()
    assert client.get("/login").status_code == 200
