"""Signing up, founding a tenant, billing details."""

from typing import Any

import pytest
from django.contrib.auth import authenticate
from pytest_django import Settings

from controlplane.core.audit import SYSTEM, Actor
from controlplane.core.errors import Conflict, Denied, Invalid
from controlplane.core.models import AuditEvent
from plans.catalog import publishing
from tenants.account_rules import BillingDetails
from tenants.actions import tenants
from tenants.models import Role, Tenant, User
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db
PASSWORD = "seventeen lazy dogs"


@pytest.fixture(autouse=True)
def catalog(db: None) -> None:
    publishing.ensure_default(by=SYSTEM)


def sign_up(**changes: Any) -> tenants.SignedUp:
    arguments: dict[str, Any] = {
        "email": "ana@acme.test",
        "password": PASSWORD,
        "organization": "Acme Shipping",
        **changes,
    }
    return tenants.sign_up(**arguments)


def nothing_was_made() -> bool:
    return not (User.objects.exists() or Tenant.objects.exists())


def test_sign_up_makes_person_tenant_subscription_and_ownership() -> None:
    done = sign_up(plan_key="team")

    assert done.user == authenticate(username="ana@acme.test", password=PASSWORD)
    assert (done.tenant.name, done.tenant.slug) == ("Acme Shipping", "acme-shipping")
    assert done.tenant.billing_email == "ana@acme.test"
    assert done.tenant.plan_subscriptions.get(ends_at__isnull=True).plan.key == "team"
    assert (done.membership.role, done.membership.user) == (Role.OWNER, done.user)
    event = AuditEvent.objects.get(action="tenant.sign_up")
    assert (event.actor, event.tenant_id) == ("user:ana@acme.test", done.tenant.pk)
    assert event.after["plan"] == "team"


def test_sign_up_takes_the_cheapest_plan_when_none_is_named() -> None:
    assert sign_up().tenant.plan_subscriptions.get().plan.key == "free"


def test_sign_up_knows_an_email_whatever_its_case() -> None:
    assert sign_up(email=" Ana@Acme.TEST ").user.email == "ana@acme.test"

    with pytest.raises(Conflict, match="log in instead") as refusal:
        sign_up(email="ANA@acme.test", organization="Other")

    assert refusal.value.error_code == "signup.email_taken"
    assert Tenant.objects.count() == 1


def test_sign_up_without_a_password_makes_an_account_that_no_password_opens() -> None:
    assert not sign_up(password=None).user.has_usable_password()


def test_sign_up_gives_each_tenant_a_slug_of_its_own() -> None:
    first = sign_up().tenant.slug
    second = sign_up(email="bo@acme.test").tenant.slug

    assert second.startswith(f"{first}-")
    assert len(second) <= 63


@pytest.mark.parametrize(
    ("organization", "slug"), [("日本", "tenant"), ("___", "tenant"), ("Ü 1", "u-1")]
)
def test_sign_up_finds_a_slug_for_any_name(organization: str, slug: str) -> None:
    assert sign_up(organization=organization).tenant.slug == slug


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"email": "ana"}, "email"),
        ({"email": ""}, "email"),
        ({"email": "a@b.test\0"}, "email"),
        ({"email": f"{'a' * 60}@{'b' * 60}.{'c' * 60}.test"}, "email"),
        ({"password": "short"}, "password"),
        ({"password": "password123"}, "password"),
        ({"password": "ana@acme.test"}, "password"),
        ({"organization": "  "}, "organization"),
        ({"organization": "x" * 201}, "organization"),
        ({"organization": "a\0b"}, "organization"),
    ],
)
def test_sign_up_names_the_field_that_is_wrong(changes: dict[str, str], field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        sign_up(**changes)

    assert refusal.value.error_code == "signup.invalid"
    assert set(refusal.value.fields) == {field}
    assert nothing_was_made()


def test_sign_up_with_an_unknown_plan_lists_what_is_offered() -> None:
    with pytest.raises(Invalid, match="business, free, team") as refusal:
        sign_up(plan_key="platinum")

    assert refusal.value.error_code == "plan.unknown"
    assert nothing_was_made()


def test_sign_up_switched_off_says_what_to_do(settings: Settings) -> None:
    settings.SIGNUP_ENABLED = False

    with pytest.raises(Denied, match="ask the operator") as refusal:
        sign_up()

    assert refusal.value.error_code == "signup.disabled"
    assert nothing_was_made()


def test_sign_up_by_the_system_works_where_it_is_switched_off(settings: Settings) -> None:
    settings.SIGNUP_ENABLED = False

    assert sign_up(by=SYSTEM).tenant.slug == "acme-shipping"


def test_a_person_founds_a_further_tenant() -> None:
    user = domain.person("ana@acme.test")

    made = tenants.found_tenant(user=user, organization="Second", by=Actor("user:ana@acme.test"))

    assert (made.user, made.membership.role) == (user, Role.OWNER)
    with pytest.raises(Invalid):
        tenants.found_tenant(user=user, organization="", by=SYSTEM)


def test_founding_a_tenant_is_for_staff_alone_where_signup_is_switched_off(
    settings: Settings,
) -> None:
    settings.SIGNUP_ENABLED = False
    user = domain.person("ana@acme.test")
    with pytest.raises(Denied):
        tenants.found_tenant(user=user, organization="Second", by=SYSTEM)

    user.is_staff = True
    assert tenants.found_tenant(user=user, organization="Second", by=SYSTEM).tenant.name == "Second"


def test_update_billing_replaces_the_details_and_tells_the_audit(cast: Cast) -> None:
    details = BillingDetails("Acme Ltd", "bills@acme.test", "High Street 5\r\nLeeds", "GB", "GB1")

    tenants.update_billing(tenant=cast.tenant, details=details, by=cast.by)

    cast.tenant.refresh_from_db()
    assert (cast.tenant.billing_name, cast.tenant.billing_country) == ("Acme Ltd", "GB")
    assert cast.tenant.billing_address == "High Street 5\r\nLeeds"
    event = AuditEvent.objects.get(action="tenant.update_billing")
    assert (event.before["tax_id"], event.after["tax_id"]) == ("", "GB1")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("billing_time_zone", "Mars/Olympus"),
        ("billing_time_zone", ""),
        ("billing_time_zone", "localtime"),
        ("billing_time_zone", "Factory"),
        ("billing_country", "DEU"),
        ("billing_country", "de"),
        ("billing_country", "ÄÖ"),
        ("billing_email", "bills"),
        ("billing_name", "x" * 201),
        ("billing_name", "a\0b"),
        ("billing_name", "Acme\r\nBcc: all@example.com"),
        ("billing_name", "Acme\n"),
        ("billing_address", "High Street 5\0Leeds"),
        ("tax_id", "GB1\nGB2"),
        ("billing_address", "x" * 2001),
        ("tax_id", "x" * 61),
    ],
)
def test_update_billing_names_the_field_that_is_wrong(cast: Cast, field: str, value: str) -> None:
    with pytest.raises(Invalid, match=field) as refusal:
        tenants.update_billing(
            tenant=cast.tenant, details=BillingDetails(**{field: value}), by=cast.by
        )

    assert refusal.value.error_code == "billing_details.invalid"
    assert set(refusal.value.fields) == {field}


def test_update_billing_takes_empty_details(cast: Cast) -> None:
    tenants.update_billing(tenant=cast.tenant, details=BillingDetails(), by=cast.by)

    cast.tenant.refresh_from_db()
    assert cast.tenant.billing_email == ""
