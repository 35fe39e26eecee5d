"""A tenant with one row of every kind that a URL names, and a caller for each column of the matrix.

The rows exist, so that a refusal is a refusal and not the answer to a wrong name.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from controlplane.api import person_tokens
from controlplane.core import secrets
from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from plans.catalog import publishing
from plans.invoicing import (
    back_testing,
    credit_notes,
    invoice_verification,
    issuing,
)
from plans.models import BackTest, CloseRun, CreditNote, Invoice, Payment
from tenants import permissions, queries
from tenants.actions import (
    api_tokens,
    catalog_drafts,
    identity_providers,
    invitations,
    message_requests,
    quota_overrides,
    spend_caps,
)
from tenants.actions.api_tokens import EVERYTHING, TokenScope
from tenants.models import (
    AddressSpace,
    ApiToken,
    EngineRelease,
    IdentityProvider,
    KeptVolumes,
    Membership,
    Role,
    Rollout,
    Tenant,
    User,
)
from tenants.notifications.models import MailboxMessage
from tests.support.access import passkeys, url_map
from tests.support.metering import pipeline_rows
from tests.support.notifications import mails, notified
from tests.support.plans import read_samples, term_rows
from tests.support.portal import rows

_MESSAGES: dict[str, Any] = {"messages": [], "next": ""}


# Sends a method to a path, with a body of JSON if the path is one of the API; returns the answer.
Caller = Callable[[str, str, object], Any]


@dataclass(frozen=True)
class Furnished:
    """``values`` has a value for each parameter of a route; ``callers`` sends as each column."""

    values: Mapping[str, str]
    callers: Mapping[str, Caller]


def furnish() -> Furnished:
    """Return the tenant's rows and callers, on an empty database."""
    world = rows.world("business")
    people = {
        "owner": world.owner,
        "developer": world.member,
        "billing": world.billing,
        "outsider": world.outsider,
        "staff": world.staff,
    }
    for role in (Role.ADMIN, Role.VIEWER):
        people[str(role)] = _member(world.tenant, role, f"{role}@acme.example")
    one, other = TokenScope(spaces=("orders",)), TokenScope(spaces=("elsewhere",))
    expired, expired_token = _token(world.tenant, "old", Role.OWNER)
    ApiToken.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    looks = TokenScope(permissions=(permissions.Permission.VIEW,))
    tokens = {
        "readonly_token": _token(world.tenant, "looks", Role.OWNER, looks)[1],
        "space_token": _token(world.tenant, "one", Role.DEVELOPER, one)[1],
        "elsewhere_token": _token(world.tenant, "other", Role.DEVELOPER, other)[1],
        "expired_token": expired_token,
        "owner_token": _token(world.tenant, "all", Role.OWNER)[1],
        "viewer_token": _token(world.tenant, "few", Role.VIEWER)[1],
        "outsider_token": _token(world.other, "all", Role.OWNER)[1],
    }
    callers = {name: _person(user) for name, user in people.items()}
    callers |= {name: _bearer(token) for name, token in tokens.items()}
    return Furnished(_values(world.tenant), {**callers, "anonymous": _program({})})


def _values(tenant: Tenant) -> dict[str, str]:
    """Make one row of each kind; return the value of every path parameter."""
    space = rows.active_space(tenant, "orders", "brokered-small")
    queue = rows.address(space, "orders/new")
    # Its own name ends like the path of another one's history.
    rows.address(space, f"{queue.address}/history")
    browse = message_requests.browse(address=queue, by=SYSTEM)
    page = queries.get_message_request(space, browse.subject_id)
    page.sealed = secrets.encrypt(json.dumps(_MESSAGES))
    page.save()
    delivery = notified.delivery(notified.webhook(tenant))
    spend_caps.set_cap(tenant=tenant, amount_minor=10**9, action="notify", by=SYSTEM)
    return {
        "tenant": tenant.slug,
        "organization": _provider(tenant).tenant.slug,
        "space": space.name,
        **_of_team(tenant),
        **_of_owner(tenant),
        **_of_operators(space),
        "address": queue.pk,
        "api/v1/address": queue.address,
        "user": rows.messaging_user(space).name,
        "operation": browse.pk,
        "page": page.pk,
        "invoice": (invoice := rows.issued(tenant)).pk,
        "verifications/operation": _verification(invoice).pk,
        "position": str(invoice.lines.get(meter="messages").position),
        "reading": read_samples.finished(invoice).pk,
        "credit_note": _credit_note(invoice).number,
        "payment": str(_payment(invoice).pk),
        "provider": "webhook",
        **term_rows.furnish(tenant),
        "suffix": "json",
        "kind": "csv",
        "exports/kind": "usage",
        "exports/suffix": "csv",
        "alarm": notified.alarm(queue).pk,
        "channel": str(delivery.channel_id),
        "delivery": delivery.pk,
        "key": "none",
        "uidb36": "1",
        "path": "index.html",
    }


def _credit_note(invoice: Invoice) -> CreditNote:
    fee = invoice.lines.get(meter="plan_fee").position
    return credit_notes.issue(invoice=invoice, wanted={fee: 1}, reason="an outage", by=SYSTEM)


def _verification(invoice: Invoice) -> Operation:
    return invoice_verification.request_verify(invoice=invoice, by=SYSTEM)


def _payment(invoice: Invoice) -> Payment:
    return issuing.record_payment(
        invoice=invoice,
        amount_minor=1,
        source="manual",
        reference="bank-0",
        received_on=timezone.now().date(),
        by=SYSTEM,
    )


def _of_team(tenant: Tenant) -> dict[str, str]:
    leaver = _member(tenant, Role.VIEWER, "leaver@acme.example")
    invitation = invitations.invite(
        tenant=tenant, email="invited@acme.example", role=Role.VIEWER, by=SYSTEM
    )
    return {
        "email": leaver.email,
        "member": str(Membership.objects.get(user=leaver).pk),
        "token": str(_token(tenant, "ci", Role.VIEWER)[0].pk),
        "invitation": str(invitation.pk),
        "invitations/token": mails.newest_link("/invitations/").rpartition("/")[2],
    }


def _provider(tenant: Tenant) -> IdentityProvider:
    """Return the tenant's own identity provider, where nobody answers."""
    wish = identity_providers.Wish(
        issuer="https://login.invalid",
        client_id="waypost",
        client_secret="secret",
        domains=["acme.example"],
        default_role=Role.VIEWER,
    )
    return identity_providers.save(tenant=tenant, wish=wish, by=SYSTEM)


def _of_operators(space: AddressSpace) -> dict[str, str]:
    """Make what operators see of a tenant and its space."""
    tenant, gone = space.tenant, _gone(space)
    mail = MailboxMessage.objects.create(sender="a@op.test", recipients=["b@op.test"], subject="Hi")
    note = tenant.notes.create(text="Calls back on Monday.", written_by="user:ops@waypost.example")
    quota_overrides.set_override(
        tenant=tenant, resource="spaces", amount=9, reason="more", expires_at=None, by=SYSTEM
    )
    draft = catalog_drafts.prepare(yaml=publishing.default_yaml(), by=SYSTEM)
    back_test = back_testing.request(
        draft=draft, months=1, source=BackTest.Source.COPY, by=SYSTEM, now=timezone.now()
    )
    pipeline_rows.run(timezone.now(), n_samples=120, n_files=2, n_quarantined=1)
    pipeline_rows.quarantined(timezone.now(), 1)
    return {
        "draft": draft.pk,
        "back_test": back_test.pk,
        "staff/kept-volumes/space": gone.pk,
        "staff/volumes/space": gone.pk,
        "staff/fleet/spaces/space": space.pk,
        "note": str(note.pk),
        "mail": str(mail.pk),
        "staff/finance/suffix": "csv",
        "report": "journal",
        "legal_entity": "waypost",
        "resource": "spaces",
        "run": CloseRun.objects.create(requested_by="user:ops@waypost.example").pk,
        "verb": _rollout(space),
    }


def _of_owner(tenant: Tenant) -> dict[str, str]:
    """Give the owner a session and second factors; return the values of their pages."""
    owner = Membership.objects.get(tenant=tenant, role=Role.OWNER).user
    TOTP.activate(owner, "SECRETSECRETSECRET")
    RecoveryCodes.activate(owner)
    key = passkeys.register(owner, "laptop")
    elsewhere = Session.objects.create(
        session_key="of-another-browser", session_data="", expire_date=timezone.now()
    )
    session = UserSession.objects.create(
        user=owner, session_key=elsewhere.session_key, ip="127.0.0.1", user_agent="", data={}
    )
    return {"pk": str(key.pk), "session": str(session.pk)}


def _member(tenant: Tenant, role: str, email: str) -> User:
    user = rows.person(email)
    Membership.objects.create(tenant=tenant, user=user, role=role)
    return user


def _token(
    tenant: Tenant, name: str, role: str, scope: TokenScope = EVERYTHING
) -> tuple[ApiToken, str]:
    return api_tokens.issue(
        tenant=tenant, name=name, role=role, expires_at=None, by=SYSTEM, scope=scope
    )


def _gone(space: AddressSpace) -> AddressSpace:
    """Return a deleted space whose volumes are kept."""
    now = timezone.now()
    gone = AddressSpace.objects.create(
        tenant=space.tenant,
        name="gone",
        type=space.type,
        space_plan=space.space_plan,
        deletion_requested_at=now,
        deleted_at=now,
        phase="Terminating",
    )
    KeptVolumes.objects.create(space=gone)
    return gone


def _rollout(space: AddressSpace) -> str:
    """Begin a rollout; return what an operator may do with it."""
    former, release = (
        EngineRelease.objects.create(number=n, broker_image=f"broker:{n}") for n in (1, 2)
    )
    AddressSpace.objects.filter(pk=space.pk).update(release=release, observed_release=former)
    Rollout.objects.create(release=release, former=former, is_configured=True)
    return "pause"


def _person(user: User) -> Caller:
    """Return a caller who is logged in: by a session for pages, by a token for the API."""
    browser = Client()
    browser.force_login(user)
    request = HttpRequest()
    request.session = browser.session
    # The pages of second factors want a password of the last minutes.
    record_authentication(request, user, method="password", reauthenticated=True)
    request.session.save()
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    with_token = _bearer(person_tokens.issue(user, timezone.now())[0])

    def call(method: str, path: str, body: object) -> Any:
        if path.startswith(f"/{url_map.API}"):
            return with_token(method, path, body)
        browser.cookies.clear()  # an answer may have taken the session away, or left a message
        browser.cookies[settings.SESSION_COOKIE_NAME] = session
        return browser.generic(method, path)

    return call


def _bearer(token: str) -> Caller:
    """Return a caller who sends a token with every request, to pages too."""
    return _program({"Authorization": f"Bearer {token}"})


def _program(headers: dict[str, str]) -> Caller:
    """Return a caller without a session."""
    client = Client()

    def call(method: str, path: str, body: object) -> Any:
        text = "" if method == "GET" else json.dumps(body)
        # Without a condition, every change would be refused before its caller is looked at.
        condition = {"If-Match": "*"} if method in ("PUT", "PATCH") else {}
        client.cookies.clear()
        sent = {**headers, **condition}
        return client.generic(method, path, text, "application/json", headers=sent)

    return call
