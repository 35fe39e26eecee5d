"""Team, tokens, audit and settings pages."""

import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controlplane.core import audit
from plans.models import PlanSubscription
from tenants.actions import api_tokens, invitations, quota_overrides
from tenants.models import ApiToken, Invitation, Membership, User
from tests.suites.portal.conftest import As
from tests.support.notifications import mails
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"


def membership(world: World, email: str) -> Membership:
    return Membership.objects.get(tenant=world.tenant, user__email=email)


def link() -> str:
    """Return the path that the latest mail links to."""
    return mails.newest_link("/invitations/")


def invite(world: World, as_: As, email: str, role: str = "viewer") -> str:
    as_(world.owner).post(HOME + "team/", {"email": email, "role": role})
    return link()


def test_an_invited_person_without_an_account_signs_up_and_is_in(world: World, as_: As) -> None:
    path, client = invite(world, as_, "Nina@acme.example"), Client()
    page = client.get(path).content.decode()
    weak = client.post(f"{path}/signup", {"password": "short"})

    answer = client.post(f"{path}/signup", {"password": "a long enough one"})

    assert "Join Acme Shipping" in page
    assert "organization" not in re.findall(r'name="(\w+)"', page)
    assert weak.status_code == 422
    assert answer["Location"] == HOME
    assert membership(world, "nina@acme.example").role == "viewer"
    assert EmailAddress.objects.get(email="nina@acme.example").verified
    assert client.get(path).status_code == 404


def test_an_invited_person_logs_in_and_comes_back(world: World, as_: As) -> None:
    path, client = invite(world, as_, "oscar@other.example"), Client()
    page = client.get(path).content.decode()
    login = re.search(r'href="(/login\?next=[^"]+)"', page)
    assert login
    asked = {"login": "oscar@other.example", "password": rows.PASSWORD, "next": path}

    back = client.post(login[1], asked)["Location"]
    opened = client.get(back).content.decode()
    joined = Membership.objects.filter(user=world.outsider, tenant=world.tenant).exists()
    answer = client.post(back)

    assert f"{path}/signup" not in page
    assert back == path
    assert ">Join</button>" in opened
    assert not joined
    assert answer["Location"] == HOME


def test_another_person_cannot_take_an_invitation(world: World, as_: As) -> None:
    path = invite(world, as_, "nina@acme.example")

    answer = as_(world.outsider).post(path)

    assert (answer.status_code, "invitation.other_address" in answer.content.decode()) == (
        403,
        True,
    )


def test_an_invitation_is_sent_again_and_revoked(world: World, as_: As) -> None:
    first, client = invite(world, as_, "nina@acme.example"), as_(world.owner)
    pk = Invitation.objects.get().pk

    client.post(f"{HOME}team/invitations/{pk}/send")
    second = link()
    statuses = [Client().get(path).status_code for path in (first, second)]
    client.post(f"{HOME}team/invitations/{pk}/revoke")

    assert statuses == [404, 200]
    assert Client().get(second).status_code == 404
    client.get(HOME)  # shows the messages
    assert "nina@acme.example" not in client.get(HOME + "team/").content.decode()


def test_an_owner_hands_over_and_a_member_leaves(world: World, as_: As) -> None:
    client, row = as_(world.owner), membership(world, "dev@acme.example")

    client.post(f"{HOME}team/{row.pk}/transfer")
    answer = client.post(f"{HOME}team/leave")

    assert membership(world, "dev@acme.example").role == "owner"
    assert answer["Location"] == "/"
    assert client.get(HOME).status_code == 404


@pytest.mark.parametrize(
    ("email", "words", "status"),
    [("nobody", "valid email", 400), ("dev@acme.example", "membership.exists", 409)],
)
def test_somebody_who_cannot_be_invited_is_refused_in_words(
    world: World, as_: As, email: str, words: str, status: int
) -> None:
    answer = as_(world.owner).post(HOME + "team/", {"email": email, "role": "viewer"})

    assert (answer.status_code, words in answer.content.decode()) == (status, True)
    assert mails.delivered() == []


def test_a_role_is_changed_and_a_member_removed(world: World, as_: As) -> None:
    client, row = as_(world.owner), membership(world, "dev@acme.example")

    client.post(f"{HOME}team/{row.pk}/role", {"role": "admin"})
    role = membership(world, "dev@acme.example").role
    client.post(f"{HOME}team/{row.pk}/remove")

    assert role == "admin"
    assert not Membership.objects.filter(pk=row.pk).exists()


def test_the_last_owner_stays(world: World, as_: As) -> None:
    row = membership(world, "olga@acme.example")

    answer = as_(world.owner).post(f"{HOME}team/{row.pk}/remove")

    assert answer.status_code == 409
    assert "membership.last_owner" in answer.content.decode()


def test_another_tenants_member_cannot_be_touched(world: World, as_: As) -> None:
    theirs = Membership.objects.get(tenant=world.other)

    answer = as_(world.owner).post(f"{HOME}team/{theirs.pk}/role", {"role": "viewer"})

    theirs.refresh_from_db()
    assert (answer.status_code, theirs.role) == (404, "owner")


def test_a_token_is_shown_once_and_works(world: World, as_: As) -> None:
    client = as_(world.owner)

    page = client.post(HOME + "tokens/", {"name": "ci", "role": "developer", "days": "30"})

    (secret,) = re.findall(r"wp_[\w-]{20,}", page.content.decode())
    found = api_tokens.find(secret)
    assert found is not None
    assert found.expires_at is not None
    assert timedelta(days=29) < found.expires_at - timezone.now() < timedelta(days=31)
    assert secret not in client.get(HOME + "tokens/").content.decode()


def test_a_token_that_cannot_be_issued_is_refused_in_words(world: World, as_: As) -> None:
    client, asked = as_(world.owner), {"name": "ci", "role": "developer", "days": "0"}
    client.post(HOME + "tokens/", asked)

    answer = client.post(HOME + "tokens/", asked)

    assert (answer.status_code, ApiToken.objects.count()) == (409, 1)
    assert "api_token.exists" in answer.content.decode()


def test_a_revoked_token_ends_and_another_tenants_is_not_there(world: World, as_: As) -> None:
    issued = {
        tenant.slug: api_tokens.issue(
            tenant=tenant, name="ci", role="viewer", expires_at=None, by=audit.SYSTEM
        )
        for tenant in (world.tenant, world.other)
    }
    mine, theirs = issued["acme-shipping"], issued["other-people"]
    client = as_(world.owner)

    client.post(f"{HOME}tokens/{mine[0].pk}/revoke")
    answer = client.post(f"{HOME}tokens/{theirs[0].pk}/revoke")

    assert api_tokens.find(mine[1]) is None
    assert api_tokens.find(theirs[1]) is not None
    assert answer.status_code == 404


def test_the_audit_is_paged_and_of_this_tenant_only(world: World, as_: As) -> None:
    for tenant in (world.tenant, world.other):
        for number in range(60):
            subject = audit.Subject("thing", "1", f"{tenant.slug}-{number}", tenant.pk)
            audit.record(audit.SYSTEM, "thing.done", subject, after={"size": number})
    client = as_(world.owner)

    newest = client.get(HOME + "audit/").content.decode()
    older = client.get(HOME + "audit/?page=2").content.decode()

    assert newest.count("Done: thing acme-shipping-") == 50
    assert 'href="?page=2"' in newest
    assert "acme-shipping-9<" in older
    assert "other-people" not in newest + older
    assert "size: 59" in newest


def test_billing_details_are_saved(world: World, as_: As) -> None:
    asked = {
        "billing_name": "Acme Ltd",
        "billing_email": "a@acme.example",
        "billing_address": "Street 1",
        "billing_country": "gb",
        "billing_time_zone": "Europe/London",
    }

    as_(world.billing).post(HOME + "settings/", asked)
    # The first two letters of it are those of Georgia.
    named = as_(world.billing).post(HOME + "settings/", {**asked, "billing_country": "Germany"})

    assert "Write the two letters of the country" in named.content.decode()
    world.tenant.refresh_from_db()
    assert (world.tenant.billing_name, world.tenant.billing_country) == ("Acme Ltd", "GB")
    assert world.tenant.billing_time_zone == "Europe/London"


def test_missing_billing_details_are_asked_for_on_the_overview(world: World, as_: As) -> None:
    before = as_(world.owner).get(HOME).content.decode()
    rows.bill_to(world.tenant)
    after = as_(world.owner).get(HOME).content.decode()

    assert "Your billing details are not complete" in before
    assert "Your billing details are not complete" not in after


def test_the_plan_is_changed_or_the_limit_is_named(world: World, as_: As) -> None:
    client = as_(world.owner)
    for number in range(3):
        rows.space(world.tenant, f"space-{number}")

    refused = client.post(HOME + "settings/plan", {"plan": "free", "version": 1})
    client.post(HOME + "settings/plan", {"plan": "business", "version": 1})

    assert refused.status_code == 403
    assert "quota_exceeded" in refused.content.decode()
    open_one = PlanSubscription.objects.get(tenant=world.tenant, ends_at__isnull=True)
    assert open_one.plan.key == "business"


def test_the_team_takes_as_many_queries_for_few_as_for_many(world: World, as_: As) -> None:
    client = as_(world.owner)
    # An empty list takes one query less: no rows are read for its keys.
    client.post(HOME + "team/", {"email": "first@acme.example", "role": "viewer"})
    client.get(HOME + "team/")

    with CaptureQueriesContext(connection) as few:
        client.get(HOME + "team/")
    for number in range(5):
        rows.person(f"p{number}@acme.example")
        client.post(HOME + "team/", {"email": f"p{number}@acme.example", "role": "viewer"})
    client.get(HOME + "team/")  # takes the messages of the posts
    with CaptureQueriesContext(connection) as many:
        client.get(HOME + "team/")

    assert len(many) == len(few)


@pytest.fixture
def admin(world: World) -> Membership:
    person = rows.person("admin@acme.example")
    return Membership.objects.create(tenant=world.tenant, user=person, role="admin")


def test_an_admin_cannot_make_an_owner_of_anybody(world: World, as_: As, admin: Membership) -> None:
    rows.person("nina@acme.example")
    client = as_(admin.user)

    added = client.post(HOME + "team/", {"email": "nina@acme.example", "role": "owner"})
    raised = client.post(f"{HOME}team/{admin.pk}/role", {"role": "owner"})

    assert (added.status_code, raised.status_code) == (403, 403)
    assert Membership.objects.get(pk=admin.pk).role == "admin"
    assert not Membership.objects.filter(user__email="nina@acme.example").exists()


def test_an_admin_cannot_lower_or_remove_an_owner(world: World, as_: As, admin: Membership) -> None:
    other = rows.person("second@acme.example")
    owner = Membership.objects.create(tenant=world.tenant, user=other, role="owner")
    client = as_(admin.user)

    lowered = client.post(f"{HOME}team/{owner.pk}/role", {"role": "viewer"})
    removed = client.post(f"{HOME}team/{owner.pk}/remove")

    assert (lowered.status_code, removed.status_code) == (403, 403)
    assert Membership.objects.get(pk=owner.pk).role == "owner"


def test_an_admin_cannot_issue_an_owners_token(world: World, as_: As, admin: Membership) -> None:
    before = ApiToken.objects.count()

    answer = as_(admin.user).post(HOME + "tokens/", {"name": "ci", "role": "owner", "days": "90"})

    assert answer.status_code == 403
    assert ApiToken.objects.count() == before


def test_a_large_team_is_shown_in_short_pages(world: World, as_: As) -> None:
    """Members and invitations turn their pages apart, and a page stays light with all commands."""
    client = as_(world.owner)
    quota_overrides.set_override(
        tenant=world.tenant, resource="members", amount=99, reason="many", expires_at=None,
        by=audit.SYSTEM,
    )  # fmt: skip
    people = User.objects.bulk_create(
        User(username=f"p{n:02}", email=f"p{n:02}@acme.example") for n in range(60)
    )
    Membership.objects.bulk_create(
        Membership(tenant=world.tenant, user=person, role="viewer") for person in people
    )
    for n in range(30):
        invitations.invite(
            tenant=world.tenant, email=f"i{n:02}@x.test", role="viewer", by=audit.SYSTEM
        )

    first = client.get(HOME + "team/")
    other = client.get(HOME + "team/", {"page": 2, "invited": 2})

    def shown(answer: Any, pattern: str) -> set[str]:
        return set(re.findall(rf'<th scope="row">({pattern})', answer.content.decode()))

    assert [len(shown(page, r"p\d\d@\S+?")) <= 25 for page in (first, other)] == [True, True]
    assert len(shown(other, r"p\d\d@acme.example")) == 25
    assert (len(shown(first, r"i\d\d@x.test")), len(shown(other, r"i\d\d@x.test"))) == (25, 5)
    assert not shown(first, r"i\d\d@x.test") & shown(other, r"i\d\d@x.test")
    assert not shown(first, r"p\d\d@acme.example") & shown(other, r"p\d\d@acme.example")
    # What a button keeps of the other list: its page.
    assert 'href="?page=2&amp;invited=1"' in other.content.decode()
    assert len(first.content) < 200_000
