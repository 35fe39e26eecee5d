"""Sign up, create tenants, and change a tenant's billing details."""

import secrets
from dataclasses import asdict, dataclass

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from controlplane.core import audit
from controlplane.core.audit import SYSTEM, Actor
from controlplane.core.errors import Conflict
from plans.catalog import publishing, selling
from plans.catalog.selling import Offer
from plans.models import PlanSubscription
from tenants import account_rules, admission
from tenants.actions import memberships, tax_details
from tenants.models import Membership, Role, Tenant, User


class EmailTaken(Conflict):
    """A person's account with this email exists already."""

    code = "signup.email_taken"


@dataclass(frozen=True)
class Choice:
    """What a new tenant chose: a plan ("": the cheapest), and an offer (None: the first one)."""

    plan_key: str
    offer: Offer | None


@dataclass(frozen=True)
class SignedUp:
    """The result of a sign-up: the user, the new tenant, and the user's membership as its owner."""

    user: User
    tenant: Tenant
    membership: Membership


def sign_up(
    *,
    email: str,
    password: str | None,
    organization: str,
    plan_key: str = "",
    offer: Offer | None = None,
    by: Actor | None = None,
) -> SignedUp:
    """Create a user, a tenant that the user owns, and its plan subscription, in one transaction.

    ``password`` None means that the user logs in through OIDC. An empty ``plan_key`` means the plan
    with the lowest monthly fee. ``offer`` is the tenant's seller and currency (None: the main
    ones). ``by`` None means that the new user is the actor. The actor ``audit.SYSTEM`` may do this
    even where sign-up is switched off.

    Raises:
        SignupDisabled: sign-up is switched off. EmailTaken: the account exists. Invalid: email,
        password or name is wrong. Invalid: no such plan, or no catalog.
    """
    # The system actor may create accounts even where sign-up is switched off.
    if by != SYSTEM:
        account_rules.require_signup()
    address = account_rules.legal_email(email)
    name = account_rules.legal_name(organization)
    # The installation vouches for its own accounts, and the identity provider for its.
    is_confirmed = by == SYSTEM or password is None
    with transaction.atomic():
        user = create_user(address, password, is_confirmed=is_confirmed)
        return _found_tenant(user, name, Choice(plan_key, offer), by or Actor(f"user:{address}"))


def found_tenant(
    *,
    user: User,
    organization: str,
    plan_key: str = "",
    offer: Offer | None = None,
    by: Actor,
) -> SignedUp:
    """Create a tenant with a plan subscription, owned by an existing user.

    The user may, for example, have logged in through OIDC. A user of the staff may do so even where
    sign-up is switched off. An empty ``plan_key`` means the plan with the lowest monthly fee.
    ``offer`` is the tenant's seller and currency (None: the main ones).

    Raises:
        SignupDisabled: sign-up is switched off. OtherTenantsPerson: the identity provider of a
        tenant logs the user in. Invalid: the name is wrong. Invalid: no such plan, or no catalog.
    """
    if not user.is_staff:
        account_rules.require_signup()
    name = account_rules.legal_name(organization)
    with transaction.atomic():
        return _found_tenant(user, name, Choice(plan_key, offer), by)


def update_billing(*, tenant: Tenant, details: account_rules.BillingDetails, by: Actor) -> Tenant:
    """Replace all billing details of the tenant by ``details``; return the changed tenant.

    Raises:
        Invalid: a detail is wrong; see ``account_rules.check_details``.
    """
    account_rules.check_details(details)
    wanted = asdict(details)
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        before = {name: getattr(locked, name) for name in wanted}
        for name, value in wanted.items():
            setattr(locked, name, value)
        tax_details.check_form(locked, timezone.now())
        locked.save(update_fields=[*wanted, "tax_id_status", "updated_at"])
        audit.record(by, "tenant.update_billing", subject(locked), before=before, after=wanted)
    return locked


def subject(tenant: Tenant) -> audit.Subject:
    """Return the subject of audit events about the tenant itself."""
    return audit.Subject("tenant", tenant.pk, tenant.name, tenant.pk)


def create_user(email: str, password: str | None, *, is_confirmed: bool) -> User:
    """Create an account; ``email`` is one that ``account_rules.legal_email`` returned.

    ``password`` None means that the user logs in through OIDC. ``is_confirmed`` says whether the
    email address is known to be the user's. Call it in a transaction.

    Raises:
        EmailTaken: the account exists. Invalid: the password is refused.
    """
    user = User(username=email, email=email)
    if password is None:
        user.set_unusable_password()
    else:
        account_rules.check_password(password, user)
        user.set_password(password)
    try:
        # The inner transaction is a savepoint. Without it, an IntegrityError would make the outer
        # transaction unusable.
        with transaction.atomic():
            user.save()
    except IntegrityError:
        raise EmailTaken(f"There is an account for {email} already: log in instead.") from None
    EmailAddress.objects.create(user=user, email=email, primary=True, verified=is_confirmed)
    return user


def _found_tenant(user: User, name: str, choice: Choice, by: Actor) -> SignedUp:
    # ``current`` sorts plans by monthly fee, so the first one has the lowest.
    catalog = publishing.current()
    plan = publishing.plan(choice.plan_key or catalog.plans[0].key)
    offer = choice.offer or selling.offers(catalog)[0]
    memberships.require_free(user, None)
    # An operator who makes a tenant for a customer is not the one to get its invoices.
    tenant = _create_tenant(name, "" if user.is_staff else user.email)
    if len(selling.offers(catalog)) > 1:  # with one seller there is nothing to remember
        selling.assign(tenant.pk, offer, by.name)
    now = timezone.now()
    PlanSubscription.objects.create(
        tenant=tenant, plan=plan, starts_at=now, trial_ends_at=publishing.trial_end(plan, now)
    )
    membership = Membership.objects.create(tenant=tenant, user=user, role=Role.OWNER)
    after = {"plan": plan.key, "name": name, "seller": offer.value}
    audit.record(by, "tenant.sign_up", subject(tenant), after=after)
    return SignedUp(user, tenant, membership)


def _create_tenant(name: str, billing_email: str) -> Tenant:
    """Create the tenant's row, with a slug made from ``name``.

    If another tenant has this slug, a random suffix makes it unique.
    """
    plain = slugify(name)[:50].strip("-_") or "tenant"
    try:
        with transaction.atomic():
            return Tenant.objects.create(name=name, slug=plain, billing_email=billing_email)
    except IntegrityError:
        slug = f"{plain}-{secrets.token_hex(4)}"
        return Tenant.objects.create(name=name, slug=slug, billing_email=billing_email)
