"""Which newer versions of its plan a tenant sees, what they change, and when it moves to them."""

from datetime import UTC, datetime

import pytest
from pytest_django import DjangoAssertNumQueries

from plans.catalog import publishing
from plans.models import CatalogDraft, PlanSubscription
from tenants.actions import catalog_drafts, coming_versions, plan_versions
from tenants.actions.catalog_drafts import Timing
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 5, tzinfo=UTC)
JUNE, JULY = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
FEE = '"monthly_fee_minor": 4900'
DEARER = rows.CATALOG.replace(FEE, '"monthly_fee_minor": 5900')
STILL_DEARER = rows.CATALOG.replace(FEE, '"monthly_fee_minor": 6900')


def published(text: str, at: datetime | None = None) -> CatalogDraft:
    draft = catalog_drafts.prepare(yaml=text, by=rows.STAFF)
    done = catalog_drafts.publish(draft=draft, timing=Timing(at), by=rows.STAFF, now=NOW)
    while plan_versions.announce(NOW):
        pass
    return done


def seen(owner: Tenant) -> list[tuple[datetime, str, datetime | None]]:
    row = plan_versions.required_of(owner)
    found = coming_versions.of(row)
    return [(coming.starts_at, " ".join(coming.changes), coming.moves_at) for coming in found]


def follow(owner: Tenant) -> None:
    plan_versions.choose(tenant=owner, follows=True, by=rows.STAFF, now=NOW)


def test_without_a_newer_version_there_is_nothing_to_see() -> None:
    assert seen(rows.tenant()) == []


def test_one_that_stays_sees_the_price_of_the_version_on_sale_and_no_move() -> None:
    owner = rows.tenant()
    published(DEARER)

    [(starts_at, changes, moves_at)] = seen(owner)

    newest = publishing.newest_version()
    assert newest is not None
    assert (starts_at, moves_at) == (newest.published_at, None)
    assert "59.00 EUR" in changes
    assert "49.00 EUR" in changes


def test_one_that_follows_sees_a_scheduled_version_with_its_price_and_the_day_of_its_move() -> None:
    owner = rows.tenant()
    follow(owner)
    published(DEARER, at=JUNE)

    [(starts_at, changes, moves_at)] = seen(owner)

    assert (starts_at, moves_at) == (JUNE, JUNE)
    assert "59.00 EUR" in changes


def test_a_scheduled_version_of_other_plans_is_not_seen() -> None:
    owner = rows.tenant()
    draft = published(DEARER, at=JUNE)
    CatalogDraft.objects.filter(pk=draft.pk).update(changed_plans=["other"])

    assert seen(owner) == []


def test_of_two_versions_the_move_leads_to_the_one_on_sale_at_its_time() -> None:
    owner = rows.tenant()
    published(DEARER)
    published(STILL_DEARER, at=JULY)
    follow(owner)  # to the version on sale, with the next month

    assert [moves_at for _, _, moves_at in seen(owner)] == [JUNE, None]

    PlanSubscription.objects.filter(tenant=owner).update(moves_at=JULY)
    assert [moves_at for _, _, moves_at in seen(owner)] == [None, JULY]


def test_it_takes_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    owner = rows.tenant()
    published(DEARER)
    row = plan_versions.required_of(owner)

    with django_assert_num_queries(2):
        coming_versions.of(row)
