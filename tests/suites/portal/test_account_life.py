"""The life of a local account: confirmation, passwords, second factors, sessions, the audit."""

import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from controlplane.core.models import AuditEvent
from tenants.models import Tenant, User
from tenants.notifications.models import Event
from tests.suites.portal.conftest import As
from tests.support.access import passkeys
from tests.support.notifications import mails
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
Callbacks = Callable[..., AbstractContextManager[object]]
ASKED = {
    "organization": "New Shop",
    "email": "nina@new.example",
    "password": "a long enough one",
    "plan": "free",
}
OLGA = "olga@acme.example"


@pytest.fixture
def _confirmed(settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


def link() -> str:
    """Return the path that the newest mail links to."""
    return mails.newest_link("/account/")


def actions(subject: str = "") -> list[str]:
    found = AuditEvent.objects.filter(subject_type="user")
    if subject:
        found = found.filter(subject_name=subject)
    return list(found.order_by("id").values_list("action", flat=True))


def code_of(user: User) -> str:
    """Give ``user`` an authenticator app; return the code that it shows now."""
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(user, secret)
    return shown(secret)


def shown(secret: str) -> str:
    return str(totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30)))


@pytest.mark.usefixtures("_confirmed")
def test_a_new_account_works_after_its_address_is_confirmed(world: World) -> None:
    client = Client()
    answer = client.post("/signup", ASKED, follow=True)
    early = Client().post("/login", {"login": ASKED["email"], "password": ASKED["password"]})

    page = client.get(link())
    confirmed = client.post(link())

    assert "Open it in this browser" in answer.content.decode()
    assert early["Location"] == reverse("account_email_verification_sent")
    assert "nina@new.example" in page.content.decode()
    assert confirmed["Location"] == "/t/new-shop/spaces/-/new"
    assert EmailAddress.objects.get(email="nina@new.example").verified
    assert actions("nina@new.example") == ["account.confirm_email", "login.succeed"]


@pytest.mark.usefixtures("_confirmed")
def test_a_link_opened_elsewhere_confirms_and_does_not_log_in(world: World) -> None:
    Client().post("/signup", ASKED)
    elsewhere = Client()

    answer = elsewhere.post(link())

    assert answer["Location"].startswith("/login")
    assert "_auth_user_id" not in elsewhere.session
    assert EmailAddress.objects.get(email="nina@new.example").verified


@pytest.mark.usefixtures("_confirmed")
def test_sign_up_does_not_reveal_who_has_an_account(world: World) -> None:
    new = Client().post("/signup", ASKED, follow=True)
    known = Client().post("/signup", {**ASKED, "email": OLGA}, follow=True)

    def seen(answer: object, email: str) -> str:
        page = answer.content.decode()  # type: ignore[attr-defined]
        return re.sub(r'value="\w{64}"', "", page.replace(email, "EMAIL"))

    assert seen(known, OLGA) == seen(new, ASKED["email"])
    assert known.redirect_chain == new.redirect_chain
    assert {mail.recipients[0]: mail.subject for mail in mails.delivered()} == {
        ASKED["email"]: "Confirm your email address",
        OLGA: "You have an account already",
    }
    assert Tenant.objects.filter(name="New Shop").count() == 1
    assert User.objects.filter(email=OLGA).count() == 1


@pytest.mark.usefixtures("_confirmed")
@pytest.mark.parametrize(
    ("wrong", "status"), [({"password": "short"}, 400), ({"organization": "x\x07y"}, 422)]
)
def test_a_wrong_sign_up_says_the_same_for_a_known_address(
    world: World, wrong: dict[str, str], status: int
) -> None:
    answers = [
        Client().post("/signup", {**ASKED, **wrong, "email": email}) for email in ("a@b.test", OLGA)
    ]

    assert [answer.status_code for answer in answers] == [status, status]
    assert mails.delivered() == []


@pytest.mark.usefixtures("_confirmed")
def test_sign_up_hashes_a_password_for_a_known_address_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    plain = User.set_password

    def counted(self: User, password: str | None) -> None:
        hashed.append(self.email)
        plain(self, password)

    monkeypatch.setattr(User, "set_password", counted)

    for email in ("nina@new.example", OLGA):
        Client().post("/signup", {**ASKED, "email": email})

    assert len(hashed) == 2


def test_a_forgotten_password_is_set_again_by_mail(world: World) -> None:
    client, other = Client(), Client()
    other.login(username=OLGA, password=rows.PASSWORD)
    client.post(reverse("account_reset_password"), {"email": "Olga@Acme.example"})
    path = link()
    page = client.get(path, follow=True)
    new = "quite another phrase"

    answer = client.post(page.redirect_chain[-1][0], {"password1": new, "password2": new})

    assert answer.status_code == 302
    assert User.objects.get(email=OLGA).check_password(new)
    assert "_auth_user_id" in client.session
    assert other.get("/t/acme-shipping/")["Location"].startswith("/login")
    assert "account.reset_password" in actions(OLGA)
    used = Client().get(path, follow=True)
    assert "password reset link was invalid" in used.content.decode()


def test_a_reset_does_not_reveal_who_has_an_account(world: World) -> None:
    answers = [
        Client().post(reverse("account_reset_password"), {"email": email}, follow=True)
        for email in (OLGA, "nobody@nowhere.example")
    ]

    assert answers[0].content == answers[1].content
    receivers = {mail.recipients[0] for mail in mails.delivered()}
    assert receivers == {OLGA, "nobody@nowhere.example"}


def test_an_account_of_the_identity_provider_gets_no_password_by_mail(world: World) -> None:
    world.owner.set_unusable_password()
    world.owner.oidc_subject = "https://id.example#1"
    world.owner.save()

    Client().post(reverse("account_reset_password"), {"email": OLGA})

    text = mails.delivered()[0].text
    assert "your identity provider" in text
    assert "/account/password/reset/" not in text


def test_the_host_of_a_request_is_not_in_a_mail(world: World, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]

    Client().post(reverse("account_reset_password"), {"email": OLGA}, headers={"host": "evil.test"})

    mail = mails.delivered()[0]
    assert "evil.test" not in mail.text + mail.html


def test_a_changed_password_ends_the_other_sessions(world: World, as_: As) -> None:
    mine, other = as_(world.owner), as_(world.owner)
    new = "quite another phrase"

    answer = mine.post(
        reverse("account_change_password"),
        {"oldpassword": rows.PASSWORD, "password1": new, "password2": new},
    )

    assert answer.status_code == 302
    assert mine.get("/")["Location"] == "/t/acme-shipping/"
    assert other.get("/t/acme-shipping/")["Location"].startswith("/login")
    assert mails.delivered()[0].subject == "Your password is changed"


def test_a_second_factor_is_asked_for_by_portal_and_api(world: World) -> None:
    code = code_of(world.owner)
    client, body = Client(), {"email": OLGA, "password": rows.PASSWORD}

    first = client.post("/login", {"login": OLGA, "password": rows.PASSWORD, "next": "/t/x/"})
    early = client.get("/t/acme-shipping/")
    without = Client().post("/api/v1/session", body, "application/json")
    wrong = Client().post("/api/v1/session", {**body, "code": "000000"}, "application/json")
    second = client.post(first["Location"], {"code": code})

    assert first["Location"] == reverse("mfa_authenticate")
    assert early["Location"].startswith("/login")
    assert second["Location"] == "/t/x/"
    assert (without.status_code, without.json()["code"]) == (403, "login.second_factor_needed")
    assert wrong.status_code == 403
    assert "login.fail" in actions(OLGA)


def test_the_api_takes_the_code_and_each_code_once(world: World) -> None:
    body = {"email": OLGA, "password": rows.PASSWORD, "code": code_of(world.owner)}

    answers = [Client().post("/api/v1/session", body, "application/json") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [201, 403]


def test_secrets_of_second_factors_are_encrypted(world: World) -> None:
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(world.owner, secret)

    assert secret not in str(Authenticator.objects.get().data)


def test_an_app_is_added_after_the_password_and_gives_recovery_codes(
    world: World, as_: As, django_capture_on_commit_callbacks: Callbacks
) -> None:
    client = as_(world.owner)
    asked = client.get(reverse("mfa_activate_totp"))
    client.post(asked["Location"], {"password": rows.PASSWORD})
    page = client.get(reverse("mfa_activate_totp"))
    secret = page.context["form"].secret

    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("mfa_activate_totp"), {"code": shown(secret)}, follow=True)

    assert asked["Location"].startswith(reverse("account_reauthenticate"))
    assert "Recovery Codes" in answer.content.decode()
    assert "account.add_second_factor" in actions(OLGA)
    assert mails.delivered()[-1].subject == "An authenticator app is added"


@pytest.fixture
def of_provider(world: World) -> User:
    """A member whose logins the identity provider decides about."""
    world.owner.set_unusable_password()
    world.owner.save()
    return world.owner


@pytest.mark.parametrize(
    "page",
    [
        "mfa_index",
        "mfa_add_webauthn",
        "mfa_activate_totp",
        "account_email",
        "account_reauthenticate",
    ],
)
def test_people_of_the_provider_add_no_way_to_log_in(of_provider: User, as_: As, page: str) -> None:
    assert as_(of_provider).get(reverse(page)).status_code == 404


def test_people_of_the_provider_do_not_log_in_with_a_passkey(
    of_provider: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = passkeys.register(of_provider, "from before")
    # The browser has signed the challenge.
    monkeypatch.setattr(AuthenticateWebAuthnForm, "clean_credential", lambda form: key)
    client = Client()

    answer = client.post(reverse("mfa_login_webauthn"), {"credential": '{"id": "signed"}'})

    assert answer.status_code == 403
    assert "identity provider" in answer.content.decode()
    assert client.get("/t/acme-shipping/")["Location"].startswith("/login")


def test_a_passkey_logs_in(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    key = passkeys.register(world.owner, "laptop")
    monkeypatch.setattr(AuthenticateWebAuthnForm, "clean_credential", lambda form: key)
    client = Client()

    client.post(reverse("mfa_login_webauthn"), {"credential": '{"id": "signed"}'})

    assert client.get("/t/acme-shipping/").status_code == 200


def test_sessions_are_listed_and_ended(world: World, as_: As) -> None:
    mine, other = as_(world.owner), as_(world.owner)
    body = {"email": OLGA, "password": rows.PASSWORD}
    token = Client().post("/api/v1/session", body, "application/json").json()["token"]
    foreign = as_(world.outsider)
    page = mine.get(reverse("account_sessions")).content.decode()

    answer = mine.post(reverse("account_sessions_end"), follow=True)

    assert page.count('<th scope="row">') == 3
    assert "API or command" in page
    assert "2 other sessions ended." in answer.content.decode()
    assert mine.get("/")["Location"] == "/t/acme-shipping/"
    assert other.get("/t/acme-shipping/")["Location"].startswith("/login")
    me = Client().get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    assert me.status_code == 401
    assert foreign.get("/").status_code == 302


def test_nobody_ends_the_session_of_another_person(world: World, as_: As) -> None:
    mine, foreign = as_(world.owner), as_(world.outsider)
    page = mine.get(reverse("account_sessions"))
    session = page.context["sessions"][0].pk

    answer = foreign.post(reverse("account_session_end", args=[session]))

    assert answer.status_code == 404
    assert mine.get("/")["Location"] == "/t/acme-shipping/"


@pytest.mark.parametrize(("setting", "value"), [("IDLE_HOURS", 0), ("LONGEST_DAYS", 0)])
def test_a_session_ends_when_it_is_unused_or_old(
    world: World, as_: As, settings: Settings, setting: str, value: int
) -> None:
    client = as_(world.owner)
    first = client.get("/")["Location"]
    setattr(settings, f"SESSION_{setting}", value)

    assert first == "/t/acme-shipping/"
    assert client.get("/").status_code == 200  # the page for visitors


def test_a_stranger_does_not_lock_the_owner_out(world: World, settings: Settings) -> None:
    settings.LOGIN_RATE, settings.ACCOUNT_RATE = "1000/day", "5/day"
    settings.ACCOUNT_FAILURE_RATE = "8/day"
    asked = {"login": OLGA, "password": rows.PASSWORD}
    known = Client()
    known.post("/login", asked)
    known.post("/logout")

    def guess(address: str, password: str = "wrong") -> int:
        client = Client(REMOTE_ADDR=address)
        return client.post("/login", {**asked, "password": password}).status_code

    here = [guess("203.0.113.1") for _ in range(7)]
    elsewhere = guess("203.0.113.2", rows.PASSWORD)
    many = [guess(f"203.0.113.{number}") for number in range(3, 9)]
    stopped = guess("203.0.113.9", rows.PASSWORD)
    owner = known.post("/login", asked).status_code

    assert here == [200] * 5 + [429] * 2
    assert elsewhere == 302
    assert many == [200] * 3 + [429] * 3
    assert stopped == 429
    assert owner == 302


def test_a_cookie_of_another_account_does_not_help(world: World, settings: Settings) -> None:
    settings.ACCOUNT_RATE, settings.LOGIN_RATE = "3/day", "1000/day"
    client = Client()
    client.post("/login", {"login": "oscar@other.example", "password": rows.PASSWORD})
    client.post("/logout")

    asked = {"login": OLGA, "password": "wrong"}
    statuses = [client.post("/login", asked).status_code for _ in range(4)]

    assert statuses == [200, 200, 200, 429]


def test_logins_failures_and_refusals_are_in_the_audit(world: World, settings: Settings) -> None:
    settings.ACCOUNT_RATE = "1/day"
    client = Client()
    client.post("/login", {"login": OLGA, "password": rows.PASSWORD})
    client.post("/logout")
    stranger = Client()
    for _ in range(3):
        stranger.post("/login", {"login": OLGA, "password": "wrong"})
    Client().post("/login", {"login": "nobody@nowhere.example", "password": "wrong"})

    assert actions(OLGA) == ["login.succeed", "login.end", "login.fail", "login.refuse"]
    assert actions("nobody@nowhere.example") == ["login.fail"]
    failure = AuditEvent.objects.filter(action="login.fail").earliest("id")
    assert (failure.actor, failure.source_ip) == ("anonymous", "127.0.0.1")
    assert rows.PASSWORD not in str(list(AuditEvent.objects.values()))


def test_a_mail_waits_in_the_outbox_and_its_link_is_encrypted(world: World) -> None:
    client = Client()
    began = client.post(reverse("account_reset_password"), {"email": OLGA})
    stored = str(list(Event.objects.values()))

    path = link()

    assert began.status_code == 302
    assert path.startswith("/account/password/reset/")
    assert path not in stored
    assert "Choose one" not in stored
    assert client.get(path, follow=True).status_code == 200


PAGES = [
    "account_sessions",
    "account_email",
    "account_change_password",
    "mfa_index",
    "mfa_list_webauthn",
]


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_the_account_look_like_the_portal(
    world: World, as_: As, name: str, settings: Settings
) -> None:
    page = as_(world.owner).get(reverse(name)).content.decode()

    assert "console/console.css" in page
    assert page.count("<h1>") == 1
    assert 'aria-label="Pages"' in page
    assert "example.com" not in page
    assert Client().get(reverse(name))["Location"].startswith("/login")
    settings.LOCAL_ACCOUNTS_ENABLED = False
    assert as_(world.owner).get(reverse(name)).status_code in {200, 404}


def test_pages_of_passwords_are_gone_without_local_accounts(
    world: World, as_: As, settings: Settings
) -> None:
    settings.LOCAL_ACCOUNTS_ENABLED = False
    names = ["account_reset_password", "account_change_password", "mfa_index", "account_email"]

    assert [as_(world.owner).get(reverse(name)).status_code for name in names] == [404] * 4
    assert as_(world.owner).get(reverse("account_sessions")).status_code == 200
