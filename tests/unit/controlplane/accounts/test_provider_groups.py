"""Groups at the identity provider give and take staff and roles, and nothing given by hand."""

import pytest
from django.utils import timezone
from pytest_django import Settings

from controlplane.accounts import provider_groups
from controlplane.core.models import AuditEvent
from tenants.models import Membership, Role, Tenant, User
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db
PERSON = "gina@provider.test"


@pytest.fixture(autouse=True)
def _mapped(settings: Settings, cast: Cast) -> None:
    settings.OIDC_STAFF_GROUP = "operators"
    settings.OIDC_GROUP_ROLES = (
        ("devs", cast.tenant.slug, Role.DEVELOPER),
        ("admins", cast.tenant.slug, Role.ADMIN),
        ("ghosts", "no-such-tenant", Role.VIEWER),
    )


def log_in(person: User, *groups: str) -> User:
    provider_groups.apply(person, frozenset(groups))
    return User.objects.get(pk=person.pk)


def other_staff() -> None:
    User.objects.create_user("other@op.test", "other@op.test", "a-password-1", is_staff=True)


def roles(person: User) -> list[str]:
    return list(Membership.objects.filter(user=person).values_list("role", flat=True))


@pytest.mark.parametrize(
    ("claims", "found"),
    [
        ({"groups": ["/devs", "admins"]}, {"devs", "admins"}),
        ({"groups": "devs"}, set()),
        ({}, set()),
    ],
)
def test_groups_are_a_list_of_names_or_paths(claims: dict[str, object], found: set[str]) -> None:
    assert provider_groups.read(claims) == found


def test_a_group_makes_and_unmakes_staff(cast: Cast) -> None:
    person = domain.person(PERSON)
    other_staff()

    joined = log_in(person, "operators").is_staff
    again = log_in(person, "operators").is_staff
    left = log_in(person).is_staff

    assert (joined, again, left) == (True, True, False)
    changes = AuditEvent.objects.filter(subject_name=PERSON).order_by("id")
    assert list(changes.values_list("action", flat=True)) == [
        "user.become_staff",
        "user.leave_staff",
    ]


def test_accounts_that_cannot_log_in_are_no_other_staff(cast: Cast, settings: Settings) -> None:
    person = domain.person(PERSON)
    User.objects.filter(is_staff=True).delete()
    log_in(person, "operators")
    other_staff()
    User.objects.create_user("gone@op.test", "gone@op.test", is_staff=True, is_active=False)

    settings.OIDC_ISSUER = "https://id.test"
    settings.LOCAL_ACCOUNTS_ENABLED = False  # the other account has only a password
    assert log_in(person).is_staff
    User.objects.filter(username="other@op.test").update(oidc_subject="https://id.test#other")
    assert not log_in(person).is_staff


def test_a_login_never_takes_the_right_from_the_last_account_of_staff(cast: Cast) -> None:
    person = domain.person(PERSON)
    log_in(person, "operators")

    kept = log_in(person)
    other_staff()
    left = log_in(person)

    assert (kept.is_staff, left.is_staff) == (True, False)
    changes = AuditEvent.objects.filter(subject_name=PERSON).order_by("id")
    assert list(changes.values_list("action", flat=True)) == [
        "user.become_staff",
        "user.stay_staff",
        "user.leave_staff",
    ]


def test_without_a_staff_group_nobody_becomes_or_stops_being_staff(
    cast: Cast, settings: Settings
) -> None:
    settings.OIDC_STAFF_GROUP = ""
    person = domain.person(PERSON)
    User.objects.filter(pk=person.pk).update(is_staff=True)

    assert log_in(person, "operators").is_staff


def test_a_role_follows_the_groups(cast: Cast) -> None:
    person = domain.person(PERSON)

    found = []
    for groups in (["devs"], ["devs", "admins"], ["ghosts", "devs"], []):
        log_in(person, *groups)
        found.append(roles(person))

    assert found == [["developer"], ["admin"], ["developer"], []]


def test_a_role_that_somebody_gave_stays(cast: Cast) -> None:
    log_in(cast.member, "admins")
    log_in(cast.member)

    assert roles(cast.member) == [Role.DEVELOPER]


def test_the_last_owner_stays_one(cast: Cast) -> None:
    Membership.objects.filter(user=cast.owner).update(from_group="owners")

    log_in(cast.owner)

    assert roles(cast.owner) == [Role.OWNER]


def test_a_full_team_does_not_stop_the_login(cast: Cast) -> None:
    limit = domain.limit(cast.tenant, "members", 1)
    person = domain.person(PERSON)

    log_in(person, "devs")
    full = roles(person)
    limit.delete()
    log_in(person, "devs")

    assert (full, roles(person)) == ([], [Role.DEVELOPER])


def test_a_frozen_tenant_takes_nobody_and_the_login_goes_on(
    cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    person = domain.person(PERSON)
    Tenant.objects.filter(pk=cast.tenant.pk).update(suspended_at=timezone.now())

    frozen = (log_in(person, "devs", "operators").is_staff, roles(person), caplog.text)
    Tenant.objects.filter(pk=cast.tenant.pk).update(suspended_at=None)
    log_in(person, "devs")

    assert frozen == (True, [], "")
    assert roles(person) == [Role.DEVELOPER]


def test_a_role_of_the_organizations_own_provider_stays(cast: Cast) -> None:
    Membership.objects.filter(user=cast.member).update(from_group="organization:coders")

    log_in(cast.member, "admins")
    log_in(cast.member)

    kept = Membership.objects.get(user=cast.member)
    assert (kept.role, kept.from_group) == (Role.DEVELOPER, "organization:coders")


def test_a_membership_names_the_group_that_gives_its_role(cast: Cast) -> None:
    person = domain.person(PERSON)

    log_in(person, "devs")
    log_in(person, "devs", "admins")

    assert Membership.objects.get(user=person).from_group == "admins"
