"""Drafts of catalogs: prepared, published now or later, canceled; one is scheduled at a time."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from controlplane.core.errors import Invalid, Missing
from controlplane.core.models import AuditEvent
from plans.catalog import parsing, publishing, selling
from plans.catalog.kept_sellers import SellerInUse
from plans.catalog.yaml_document import CatalogInvalid
from plans.models import CatalogDraft, CatalogVersion, Plan
from tenants.actions import catalog_drafts
from tenants.actions.catalog_drafts import AlreadyScheduled, NotOpen, Timing
from tests.support.plans import billing_rows as rows
from tests.support.plans import two_sellers
from tests.support.plans.two_sellers import DOLLARS

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 5, tzinfo=UTC)
AT_ONCE = Timing()
LATER = NOW + timedelta(days=30)
DEARER = rows.CATALOG.replace('"monthly_fee_minor": 4900', '"monthly_fee_minor": 5900')


def prepared(text: str = DEARER) -> CatalogDraft:
    rows.plan()
    return catalog_drafts.prepare(yaml=text, by=rows.STAFF)


def published(draft: CatalogDraft, timing: Timing = AT_ONCE) -> CatalogDraft:
    return catalog_drafts.publish(draft=draft, timing=timing, by=rows.STAFF, now=NOW)


def test_a_draft_publishes_nothing_and_is_compared_in_words() -> None:
    draft = prepared()

    assert CatalogVersion.objects.count() == 1
    (found,) = catalog_drafts.compared(draft.document)
    assert (found.section, found.key, found.kind) == ("plans", "team", "changed")
    assert found.sentences == ("Monthly fee: 49.00 EUR → 59.00 EUR.",)


def test_mistakes_are_listed_with_their_lines_and_nothing_is_stored() -> None:
    with pytest.raises(CatalogInvalid) as refused:
        catalog_drafts.prepare(yaml="seller: 1\nplans: 2\n", by=rows.STAFF)

    assert refused.value.fields["plans"] == ["line 2: must be a mapping of names to values"]
    assert not CatalogDraft.objects.exists()


def test_publishing_now_makes_a_version_and_names_who_did_it() -> None:
    draft = published(prepared())

    assert draft.state == CatalogDraft.State.PUBLISHED
    assert draft.version is not None
    assert (draft.version.number, draft.version.published_by) == (2, rows.STAFF.name)
    assert publishing.plan("team").version == 2
    assert draft.changed_plans == ["team"]
    actions = AuditEvent.objects.filter(action__startswith="catalogue.").order_by("id")
    assert list(actions.values_list("action", flat=True)) == [
        "catalogue.publish", "catalogue.prepare", "catalogue.schedule", "catalogue.publish"
    ]  # fmt: skip


def test_a_scheduled_draft_takes_effect_at_its_instant_and_once() -> None:
    draft = published(prepared(), Timing(LATER))

    assert catalog_drafts.publish_due(LATER - timedelta(seconds=1)) is None
    assert publishing.plan("team").version == 1
    done = catalog_drafts.publish_due(LATER)
    again = catalog_drafts.publish_due(LATER)

    assert done == draft
    assert again is None
    assert publishing.plan("team").version == 2
    assert CatalogVersion.objects.count() == 2


def test_a_repeated_request_changes_nothing() -> None:
    draft = prepared()
    first, second = published(draft, Timing(LATER)), published(draft, Timing(LATER))

    assert first == second
    assert AuditEvent.objects.filter(action="catalogue.schedule").count() == 1
    with pytest.raises(NotOpen):
        published(draft, Timing(LATER + timedelta(days=1)))


def test_only_one_draft_is_scheduled_at_a_time() -> None:
    published(prepared(), Timing(LATER))
    with pytest.raises(AlreadyScheduled, match="cancel it first"):
        published(prepared(rows.CATALOG), Timing(LATER))
    # Publishing now would be undone by the scheduled one.
    with pytest.raises(AlreadyScheduled):
        published(prepared(rows.CATALOG))


def test_a_canceled_draft_takes_no_effect() -> None:
    draft = published(prepared(), Timing(LATER))
    canceled = catalog_drafts.cancel(draft=draft, by=rows.STAFF)

    assert canceled.state == CatalogDraft.State.CANCELED
    assert catalog_drafts.publish_due(LATER) is None
    assert catalog_drafts.cancel(draft=draft, by=rows.STAFF) == canceled
    with pytest.raises(NotOpen, match="upload the catalog again"):
        published(draft)


def test_a_published_draft_is_not_canceled() -> None:
    draft = published(prepared())

    with pytest.raises(NotOpen):
        catalog_drafts.cancel(draft=draft, by=rows.STAFF)


def test_a_catalog_in_another_currency_is_refused() -> None:
    content = json.loads(rows.CATALOG)
    content["seller"]["currency"] = "USD"

    with pytest.raises(Invalid, match="Keep the currency") as refused:
        published(prepared(json.dumps(content)))

    assert refused.value.error_code == "catalog.currency"


def test_scheduling_a_catalog_without_a_seller_of_tenants_is_refused() -> None:
    two_sellers.tenant(DOLLARS)
    draft = catalog_drafts.prepare(yaml=DEARER, by=rows.STAFF)

    with pytest.raises(SellerInUse):
        published(draft, Timing(LATER))


def test_a_scheduled_catalog_that_cannot_be_published_says_why_and_is_canceled() -> None:
    owner = two_sellers.tenant()
    draft = catalog_drafts.prepare(yaml=DEARER, by=rows.STAFF)
    published(draft, Timing(LATER))
    selling.assign(owner.pk, selling.offer(*DOLLARS), "x")

    assert catalog_drafts.publish_due(LATER) is None

    stored = catalog_drafts.get(draft.pk)
    assert (stored.state, "wp-inc in USD" in stored.error) == ("scheduled", True)
    assert catalog_drafts.cancel(draft=draft, by=rows.STAFF).state == "canceled"


def test_an_equal_catalog_makes_no_version() -> None:
    first = published(prepared(rows.CATALOG))

    assert (first.state, first.version) == (
        CatalogDraft.State.PUBLISHED,
        publishing.newest_version(),
    )
    second = published(prepared(rows.CATALOG))
    assert (second.state, second.version) == (CatalogDraft.State.PUBLISHED, None)
    assert Plan.objects.filter(key="team").count() == 1


def test_a_draft_that_does_not_exist_is_missing() -> None:
    with pytest.raises(Missing):
        catalog_drafts.get("cat_none")


def test_the_text_in_force_is_a_catalog_that_changes_nothing() -> None:
    assert catalog_drafts.text_in_force() == publishing.default_yaml()
    publishing.ensure_default(by=rows.STAFF)
    from_document = catalog_drafts.text_in_force()

    assert from_document != publishing.default_yaml()
    assert catalog_drafts.compared(dict(parsing.parse(from_document).document)) == []
    published(prepared())
    assert catalog_drafts.text_in_force() == DEARER
