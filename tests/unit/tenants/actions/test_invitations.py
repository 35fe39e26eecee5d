"""Invitations: one link, once, for seven days; accepting keeps quotas and the confirmed address."""

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from controlplane.core.audit import SYSTEM, Actor
from controlplane.core.errors import Conflict, Denied, Invalid, Missing, QuotaExceeded
from controlplane.core.models import AuditEvent
from tenants.actions import invitations, memberships, suspensions
from tenants.actions.invitations import OtherAddress
from tenants.actions.tenants import EmailTaken
from tenants.models import Invitation, Membership, Role, User
from tenants.notifications import rendering
from tenants.notifications.models import Event
from tests.support import domain
from tests.support.access import passkeys
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db
NEW = "nina@new.test"
BY = Actor(f"user:{NEW}")


def invite(cast: Cast, email: str = NEW, role: str = Role.VIEWER) -> tuple[Invitation, str]:
    row = invitations.invite(tenant=cast.tenant, email=email, role=role, by=cast.by)
    return row, secret(row)


def secret(invitation: Invitation) -> str:
    """Return the secret of the newest link that was mailed to the invited person."""
    event = Event.objects.filter(email=invitation.email).latest("occurred_at")
    return rendering.message(event).url.rpartition("/")[2]


def test_only_a_hash_of_the_link_is_stored(cast: Cast) -> None:
    row, clear = invite(cast, "Nina@New.test")

    assert row.email == NEW
    assert clear not in str(list(Invitation.objects.values()))
    assert clear not in str(list(AuditEvent.objects.values()))
    assert clear not in str(list(Event.objects.values()))


@pytest.mark.parametrize("wrong", ["no-address", ""])
def test_a_wrong_address_is_refused(cast: Cast, wrong: str) -> None:
    with pytest.raises(Invalid):
        invite(cast, wrong)


def test_a_member_or_an_invited_person_is_not_invited_again(cast: Cast) -> None:
    invite(cast)

    with pytest.raises(Conflict, match="invited already"):
        invite(cast)
    with pytest.raises(Conflict, match="member already"):
        invite(cast, cast.member.email)


def test_members_are_counted_when_inviting_and_when_accepting(cast: Cast) -> None:
    person = domain.person(NEW)
    _, clear = invite(cast)
    domain.limit(cast.tenant, "members", 2)

    with pytest.raises(QuotaExceeded):
        invite(cast, "other@new.test")
    with pytest.raises(QuotaExceeded):
        invitations.accept(clear=clear, user=person, by=BY)
    assert Invitation.objects.get().accepted_at is None


def test_accepting_makes_a_member_once_and_confirms_the_address(cast: Cast) -> None:
    person = domain.person(NEW)
    _, clear = invite(cast, role=Role.BILLING)

    membership = invitations.accept(clear=clear, user=person, by=BY)

    assert (membership.user, membership.role) == (person, Role.BILLING)
    assert EmailAddress.objects.get(user=person).verified
    with pytest.raises(Missing):
        invitations.accept(clear=clear, user=person, by=BY)


def test_an_invitation_is_for_its_address(cast: Cast) -> None:
    _, clear = invite(cast)

    with pytest.raises(OtherAddress):
        invitations.accept(clear=clear, user=cast.outsider, by=BY)
    assert not Membership.objects.filter(tenant=cast.tenant, user=cast.outsider).exists()


def test_a_new_person_gets_an_account_without_an_organization(cast: Cast) -> None:
    _, clear = invite(cast)

    membership = invitations.accept_as_new(clear=clear, password="a long enough one")

    assert membership.user.check_password("a long enough one")
    assert list(membership.user.memberships.all()) == [membership]


def test_an_account_that_exists_keeps_its_password(cast: Cast) -> None:
    person = domain.person(NEW)
    _, clear = invite(cast)

    with pytest.raises(EmailTaken):
        invitations.accept_as_new(clear=clear, password="a long enough one")
    person.refresh_from_db()
    assert not person.check_password("a long enough one")


def test_a_weak_password_leaves_the_invitation_open(cast: Cast) -> None:
    _, clear = invite(cast)

    with pytest.raises(Invalid):
        invitations.accept_as_new(clear=clear, password="short")
    assert invitations.find(clear).email == NEW


def test_expired_renewed_and_revoked_links_open_nothing(cast: Cast) -> None:
    row, first = invite(cast)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Missing):
        invitations.find(first)

    second = secret(invitations.renew(invitation=row, by=cast.by))
    with pytest.raises(Missing):
        invitations.find(first)
    assert invitations.find(second) == row

    invitations.revoke(invitation=row, by=cast.by)
    invitations.revoke(invitation=row, by=cast.by)
    with pytest.raises(Missing):
        invitations.find(second)
    with pytest.raises(Missing):
        invitations.renew(invitation=row, by=cast.by)
    assert AuditEvent.objects.filter(action="invitation.revoke").count() == 1


def test_ownership_goes_to_another_member(cast: Cast) -> None:
    mine = Membership.objects.get(tenant=cast.tenant, user=cast.owner)
    theirs = Membership.objects.get(tenant=cast.tenant, user=cast.member)

    memberships.transfer(owner=mine, to=theirs, by=cast.by)

    roles = {row.user_id: row.role for row in Membership.objects.filter(tenant=cast.tenant)}
    assert roles == {cast.owner.pk: Role.ADMIN, cast.member.pk: Role.OWNER}
    with pytest.raises(Conflict):
        memberships.transfer(owner=mine, to=theirs, by=cast.by)


def test_a_frozen_tenant_takes_no_invited_person_and_the_link_stays(cast: Cast) -> None:
    person = domain.person(NEW)
    _, clear = invite(cast)
    _, to_nobody = invite(cast, "zoe@new.test")
    suspensions.suspend(tenant=cast.tenant, reason="Unpaid.", by=SYSTEM)

    with pytest.raises(Denied, match="no new members"):
        invitations.accept(clear=clear, user=person, by=BY)
    with pytest.raises(Denied, match="no new members"):
        invitations.accept_as_new(clear=to_nobody, password="a long enough one")
    assert not User.objects.filter(email="zoe@new.test").exists()

    suspensions.restore(tenant=cast.tenant, by=SYSTEM)
    assert invitations.accept(clear=clear, user=person, by=BY).user == person


@pytest.mark.parametrize("was_confirmed", [False, True])
def test_accepting_takes_away_what_was_added_before_the_address_was_proven(
    cast: Cast, was_confirmed: bool
) -> None:
    person, other = domain.person(NEW), domain.person("other@new.test")
    EmailAddress.objects.create(user=person, email=NEW, verified=was_confirmed, primary=True)
    for user in (person, other):
        passkeys.register(user, "a key")
    mine, theirs, foreign = (session(user) for user in (person, person, other))
    _, clear = invite(cast)

    invitations.accept(clear=clear, user=person, by=BY, session_key=mine)

    keys = set(Authenticator.objects.values_list("user__email", flat=True))
    open_ones = set(Session.objects.values_list("session_key", flat=True))
    audited = AuditEvent.objects.filter(action="account.remove_second_factor").exists()
    kept = {other.email, NEW} if was_confirmed else {other.email}
    stay = {mine, foreign, theirs} if was_confirmed else {mine, foreign}
    assert (keys, open_ones, audited) == (kept, stay, not was_confirmed)


def session(user: User) -> str:
    """Return the key of a new session of ``user``."""
    made = SessionStore()
    made.save(must_create=True)
    key = str(made.session_key)
    UserSession.objects.create(user=user, session_key=key, ip="192.0.2.1", user_agent="test")
    return key
