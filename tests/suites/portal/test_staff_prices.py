"""Prices in the operator's area: draft, differences, back-test, publication; a tenant's choice."""

from datetime import timedelta

import pytest
from django.utils import timezone

from plans.catalog import publishing
from plans.models import BackTest, CatalogDraft, CatalogVersion, PlanSubscription
from tenants.actions import plan_versions
from tenants.models import Tenant
from tenants.notifications.models import Event
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World
from workers.metering import back_tests

pytestmark = pytest.mark.django_db
PAGE = "/staff/prices/"
DEARER = publishing.default_yaml().replace("monthly_fee_minor: 4900", "monthly_fee_minor: 5900")


def drafted(world: World, as_: As) -> str:
    """Upload the dearer catalog; return the path of its draft."""
    answer = as_(world.staff).post(PAGE, {"yaml": DEARER, "note": "Team costs 59"})
    return str(answer.headers["Location"])


def test_the_page_offers_the_catalog_in_force_as_text(world: World, as_: As) -> None:
    page = as_(world.staff).get(PAGE).content.decode()

    assert "monthly_fee_minor: 4900" in page
    assert "No draft yet" in page


def test_mistakes_are_shown_with_their_lines_and_the_text_is_kept(world: World, as_: As) -> None:
    answer = as_(world.staff).post(PAGE, {"yaml": "seller: 1\nplans: 2\n"})

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "line 2: must be a mapping of names to values (plans)" in page
    assert "plans: 2" in page
    assert not CatalogDraft.objects.exists()


def test_a_draft_shows_words_then_money_and_is_published(world: World, as_: As) -> None:
    client, draft = as_(world.staff), drafted(world, as_)
    last_year = timezone.now() - timedelta(days=365)
    PlanSubscription.objects.filter(tenant=world.tenant).update(starts_at=last_year)

    before = client.get(draft).content.decode()
    running = client.post(f"{draft}/back-test", {"months": 2, "source": "copy"})
    progress = client.get(running.headers["Location"]).content.decode()
    back_tests.run(BackTest.objects.get().pk)
    done = client.get(running.headers["Location"]).content.decode()
    after = client.get(draft).content.decode()
    lines = client.get(f"{running.headers['Location']}.csv").content.decode().splitlines()
    published = client.post(
        f"{draft}/publish", {"effective_at": "", "moves": "period", "sure": "on"}
    )

    assert "Monthly fee: 49.00 EUR → 59.00 EUR." in before
    assert f"Made by {world.staff.email}, " in before
    assert "enter 00:00 of the day before it begins" in before
    assert "Rate the last month first" in before
    assert "0 of 2 tenants are rated" in progress
    for words in ("+20.00 EUR", "Acme Shipping", "10 to 25 %: 2 months"):
        assert words in done
    assert "+20.00 EUR" in after
    assert len(lines) == 3
    assert lines[0].startswith("tenant,month_starts_at,plan,follows,currency")
    assert published.status_code == 302
    assert CatalogVersion.objects.count() == 2


def test_without_a_tick_nothing_is_published_or_canceled(world: World, as_: As) -> None:
    client, draft = as_(world.staff), drafted(world, as_)

    publish = client.post(f"{draft}/publish", {"effective_at": "", "moves": "period"})
    cancel = client.post(f"{draft}/cancel")

    for refused in (publish, cancel):
        assert (refused.status_code, "This field is required" in refused.content.decode()) == (
            400,
            True,
        )
    assert CatalogDraft.objects.get().state == CatalogDraft.State.DRAFT


def test_a_draft_says_who_moves_who_stays_and_who_is_told(world: World, as_: As) -> None:
    follower, staff = world.tenant, as_(world.staff)
    plan_versions.choose(tenant=follower, follows=True, by=rows.STAFF, now=timezone.now())

    draft = drafted(world, as_)
    page = staff.get(draft).content.decode()
    staff.post(
        f"{draft}/publish", {"effective_at": "2099-01-01T00:00", "moves": "period", "sure": "on"}
    )
    scheduled = staff.get(draft).content.decode()

    assert "1 tenant on team</a> follows its plan" in page
    assert "1 tenant on team</a> keeps its version" in page
    for show, name, other in (
        ("follows", follower.name, world.other.name),
        ("stays", world.other.name, follower.name),
    ):
        link = f"/staff/tenants/?plan=team&amp;show={show}"
        assert link in page
        listed = staff.get(link.replace("&amp;", "&")).content.decode()
        assert name in listed
        assert other not in listed
        assert f"version 1, {show}" in listed
    assert (
        "version 1, follows new versions"
        in staff.get(f"/staff/tenants/{follower.slug}/").content.decode()
    )
    assert "subscriptions that follow their plan move" in scheduled


def test_a_draft_of_space_plans_alone_moves_nobody_and_tells_nobody(world: World, as_: As) -> None:
    text = publishing.default_yaml().replace('hour_price: "0.04"', 'hour_price: "0.05"')
    staff = as_(world.staff)
    draft = str(staff.post(PAGE, {"yaml": text}).headers["Location"])

    staff.post(
        f"{draft}/publish", {"effective_at": "2099-01-01T00:00", "moves": "period", "sure": "on"}
    )
    page = staff.get(draft).content.decode()

    assert "No subscription moves, and no tenant gets notice" in page
    assert "Spaces and addresses that exist keep their version" in page
    assert "subscriptions that follow their plan move" not in page


def test_a_published_draft_shows_what_it_changed_of_the_catalog_before(
    world: World, as_: As
) -> None:
    staff, draft, same = as_(world.staff), drafted(world, as_), drafted(world, as_)

    for published in (draft, same):
        staff.post(f"{published}/publish", {"effective_at": "", "moves": "period", "sure": "on"})

    assert "Monthly fee: 49.00 EUR → 59.00 EUR." in staff.get(draft).content.decode()
    assert "Nothing: it equaled the catalog in force" in staff.get(same).content.decode()


def test_a_back_test_without_an_ended_month_says_so(world: World, as_: As) -> None:
    client, draft = as_(world.staff), drafted(world, as_)
    running = client.post(f"{draft}/back-test", {"months": 1, "source": "copy"})
    progress = client.get(running.headers["Location"]).content.decode()
    back_tests.run(BackTest.objects.get().pk)

    done = client.get(running.headers["Location"]).content.decode()

    assert "No month is rated yet." in progress
    for page in (done, client.get(draft).content.decode()):
        assert "Done. No tenant has a month that has ended." in page
        assert "No month is rated yet." not in page


def test_a_catalog_is_scheduled_and_canceled(world: World, as_: As) -> None:
    client, draft = as_(world.staff), drafted(world, as_)

    client.post(
        f"{draft}/publish", {"effective_at": "2099-01-01T00:00", "moves": "period", "sure": "on"}
    )
    scheduled = client.get(PAGE).content.decode()
    client.post(f"{draft}/cancel", {"sure": "on"})
    again = client.post(f"{draft}/cancel")
    page = client.get(draft).content.decode()
    assert "It was to be in force from" in page
    assert " In force from" not in page

    assert "A catalog takes effect" in scheduled
    assert again.status_code == 302
    assert CatalogDraft.objects.get().state == CatalogDraft.State.CANCELED
    assert CatalogVersion.objects.count() == 1


def test_a_second_schedule_is_refused_with_what_to_do(world: World, as_: As) -> None:
    client, first, second = as_(world.staff), drafted(world, as_), drafted(world, as_)
    when = {"effective_at": "2099-01-01T00:00", "moves": "instant", "sure": "on"}
    client.post(f"{first}/publish", when)

    refused = client.post(f"{second}/publish", when)

    assert refused.status_code == 409
    assert "cancel it first" in refused.content.decode()


def test_a_failed_back_test_says_why(world: World, as_: As) -> None:
    client, draft = as_(world.staff), drafted(world, as_)
    running = client.post(f"{draft}/back-test", {"months": 1, "source": "lakehouse"})
    back_tests.run(BackTest.objects.get().pk)

    assert "use the copy as the source" in client.get(running.headers["Location"]).content.decode()


def test_a_file_takes_the_place_of_the_text(world: World, as_: As) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    client = as_(world.staff)
    client.post(PAGE, {"yaml": "wrong", "file": SimpleUploadedFile("c.yaml", DEARER.encode())})
    refused = client.post(PAGE, {"file": SimpleUploadedFile("c.yaml", b"\xff\xfe")})

    assert CatalogDraft.objects.get().yaml == DEARER
    assert "not UTF-8" in refused.content.decode()


def test_settings_say_that_a_tenant_may_move_soon_before_it_chooses_to_follow(
    world: World, as_: As
) -> None:
    client, settings = as_(world.billing), f"/t/{world.tenant.slug}/settings/"
    soon = "If there is a newer version already, you move to it with your next billing month"
    before = client.get(settings).content.decode()
    client.post(f"{settings}follow", {"follows": "1"})

    assert soon in before
    assert soon not in client.get(settings).content.decode()


def test_a_tenant_chooses_to_follow_its_plan_and_sees_when_it_moves(world: World, as_: As) -> None:
    Tenant.objects.filter(pk=world.tenant.pk).update(billing_time_zone="Europe/Berlin")
    client = as_(world.billing)
    settings = f"/t/{world.tenant.slug}/settings/"
    before = client.get(settings).content.decode()
    client.post(f"{settings}follow", {"follows": "1"})
    draft = drafted(world, as_)
    as_(world.staff).post(f"{draft}/publish", {"effective_at": "", "moves": "period", "sure": "on"})
    plan_versions.announce(timezone.now())
    told = Event.objects.get(kind="plan.version", tenant=world.tenant).fields
    after = client.get(settings).content.decode()
    client.post(f"{settings}follow")

    assert "You stay with version 1 of your plan" in before
    day = told["headline"].rpartition(" ")[2]
    assert day.endswith("-01")  # in UTC, the month begins the day before
    assert f"You move to a newer version of your plan on {day} (Europe/Berlin)." in after
    row = PlanSubscription.objects.get(tenant=world.tenant)
    assert (row.follows, row.moves_at) == (False, None)


def test_a_draft_says_that_another_one_is_scheduled_before_it_is_published(
    world: World, as_: As
) -> None:
    client, first, second = as_(world.staff), drafted(world, as_), drafted(world, as_)
    assert "is scheduled for" not in client.get(second).content.decode()
    at = (timezone.now() + timedelta(days=30)).strftime("%Y-%m-%dT%H:%M")
    assert (
        client.post(
            f"{first}/publish", {"effective_at": at, "moves": "period", "sure": "on"}
        ).status_code
        == 302
    )

    page = client.get(second).content.decode()
    refused = client.post(
        f"{second}/publish", {"effective_at": "", "moves": "period", "sure": "on"}
    )

    assert f'<a href="{first}">Another draft</a> is scheduled for' in page
    assert refused.status_code == 409
    assert "so no other can be published, also not at once" in refused.content.decode()
    assert "Another draft" not in client.get(first).content.decode()
