"""Sign up, create tenants, and change a tenant's billing details."""

import re
import secrets
from dataclasses import asdict, dataclass

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from controlplane.core import audit
from controlplane.core.audit import SYSTEM, Actor
from controlplane.core.errors import Conflict, Denied, Invalid
from plans.catalog import publishing
from plans.models import PlanSubscription
from plans.rating import periods
from tenants import admission
from tenants.models import Membership, Role, Tenant, User

_LONGEST_NAME = 200
_LONGEST_EMAIL = 150  # Django's limit of User.username, which holds the email
_LONGEST_DETAIL = {"billing_address": 2000, "tax_id": 60, "billing_time_zone": 60}
_COUNTRY = re.compile("([A-Z]{2})?")  # ISO 3166-1 alpha-2, or empty


class SignupDisabled(Denied):
    """Signing up is switched off in this installation."""

    code = "signup.disabled"


class EmailTaken(Conflict):
    """An account with this email exists already."""

    code = "signup.email_taken"


@dataclass(frozen=True)
class SignedUp:
    """A user, the tenant they created, and their membership as its owner."""

    user: User
    tenant: Tenant
    membership: Membership


@dataclass(frozen=True)
class BillingDetails:
    """The buyer's details for invoices.

    An invoice waits until the required ones are there; messaging works without them.
    """

    billing_name: str = ""
    billing_email: str = ""
    billing_address: str = ""
    billing_country: str = ""
    tax_id: str = ""
    billing_time_zone: str = "UTC"


def sign_up(
    *,
    email: str,
    password: str | None,
    organization: str,
    plan_key: str = "",
    by: Actor | None = None,
) -> SignedUp:
    """Create a user, their tenant, its plan subscription and their ownership in one transaction.

    ``password`` None means that the user logs in through OIDC. An empty ``plan_key`` means the
    cheapest plan of the catalog.

    Raises:
        SignupDisabled: sign-up is switched off. EmailTaken: the account exists. Invalid: a field is
        wrong. Missing: no such plan.
    """
    # A system actor may create accounts even where sign-up is switched off.
    if by != SYSTEM:
        _require_signup()
    address = _legal_email(email)
    name = _legal_name(organization)
    with transaction.atomic():
        user = _create_user(address, password)
        return _found_tenant(user, name, plan_key, by or Actor(f"user:{address}"))


def found_tenant(*, user: User, organization: str, plan_key: str = "", by: Actor) -> SignedUp:
    """Create a tenant that is owned by an existing user, such as one who logged in through OIDC.

    Staff may do so even where sign-up is switched off.

    Raises:
        SignupDisabled: sign-up is switched off. Invalid: the name is wrong. Missing: no such plan.
    """
    if not user.is_staff:
        _require_signup()
    name = _legal_name(organization)
    with transaction.atomic():
        return _found_tenant(user, name, plan_key, by)


def update_billing(*, tenant: Tenant, details: BillingDetails, by: Actor) -> Tenant:
    """Replace the tenant's billing details.

    Raises:
        Invalid: unknown time zone, country that is not two letters, or an illegal email.
    """
    _check_details(details)
    wanted = asdict(details)
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        before = {name: getattr(locked, name) for name in wanted}
        for name, value in wanted.items():
            setattr(locked, name, value)
        locked.save(update_fields=[*wanted, "updated_at"])
        audit.record(by, "tenant.update_billing", subject(locked), before=before, after=wanted)
    return locked


def subject(tenant: Tenant) -> audit.Subject:
    """Return the tenant as an audit subject."""
    return audit.Subject("tenant", tenant.pk, tenant.name, tenant.pk)


def _require_signup() -> None:
    if not settings.SIGNUP_ENABLED:
        raise SignupDisabled(
            "Sign-up is switched off here: ask the operator for an account, or to set "
            "WAYPOST_SIGNUP_ENABLED=true."
        )


def _legal_email(email: str) -> str:
    address = email.strip().lower()
    if not _is_email(address) or len(address) > _LONGEST_EMAIL:
        raise Invalid(
            f"{email[:80]!r} is not an email address.",
            code="signup.invalid",
            email=[
                f"Give an address such as name@example.com, of at most {_LONGEST_EMAIL} characters."
            ],
        )
    return address


def _legal_name(organization: str) -> str:
    name = organization.strip()
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise Invalid(
            f"Give the organization a name of 1 to {_LONGEST_NAME} characters.",
            code="signup.invalid",
            organization=[f"1 to {_LONGEST_NAME} characters, no control characters."],
        )
    return name


def _is_email(address: str) -> bool:
    try:
        validate_email(address)
    except ValidationError:
        return False
    return True


def _create_user(email: str, password: str | None) -> User:
    user = User(username=email, email=email)
    if password is None:
        user.set_unusable_password()
    else:
        _check_password(password, user)
        user.set_password(password)
    try:
        # A savepoint: without it the IntegrityError would break the caller's transaction.
        with transaction.atomic():
            user.save()
    except IntegrityError:
        raise EmailTaken(f"There is an account for {email} already: log in instead.") from None
    return user


def _check_password(password: str, user: User) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(
            "Choose another password: " + " ".join(error.messages),
            code="signup.invalid",
            password=error.messages,
        ) from None


def _found_tenant(user: User, name: str, plan_key: str, by: Actor) -> SignedUp:
    plan = publishing.plan(plan_key or _cheapest())
    tenant = _create_tenant(name, user.email)
    PlanSubscription.objects.create(tenant=tenant, plan=plan, starts_at=timezone.now())
    membership = Membership.objects.create(tenant=tenant, user=user, role=Role.OWNER)
    audit.record(by, "tenant.sign_up", subject(tenant), after={"plan": plan.key, "name": name})
    return SignedUp(user, tenant, membership)


def _cheapest() -> str:
    # The catalog's plans are sorted by monthly fee, lowest first.
    return publishing.current().plans[0].key


def _create_tenant(name: str, billing_email: str) -> Tenant:
    """Create a tenant. A random suffix makes its slug unique when the plain one is taken."""
    plain = slugify(name)[:50].strip("-_") or "tenant"
    try:
        with transaction.atomic():
            return Tenant.objects.create(name=name, slug=plain, billing_email=billing_email)
    except IntegrityError:
        slug = f"{plain}-{secrets.token_hex(4)}"
        return Tenant.objects.create(name=name, slug=slug, billing_email=billing_email)


def _check_details(details: BillingDetails) -> None:
    wrong: dict[str, list[str]] = {}
    for name, value in asdict(details).items():
        longest = _LONGEST_DETAIL.get(name, _LONGEST_NAME)
        # Line breaks are allowed, because a postal address has several lines.
        if len(value) > longest or not value.replace("\r", "").replace("\n", "").isprintable():
            wrong[name] = [f"At most {longest} characters, no control characters."]
    if details.billing_time_zone not in periods.zone_names():
        wrong["billing_time_zone"] = ["Give an IANA time zone, such as Europe/Berlin."]
    if not _COUNTRY.fullmatch(details.billing_country):
        wrong["billing_country"] = ["Give two capital letters (ISO 3166-1), such as DE."]
    if details.billing_email and not _is_email(details.billing_email):
        wrong["billing_email"] = ["Give an address such as name@example.com."]
    if wrong:
        raise Invalid(
            f"Some billing details are not valid: {', '.join(sorted(wrong))}.",
            code="billing_details.invalid",
            **wrong,
        )
