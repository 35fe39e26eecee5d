"""Publishing catalogs: versions, retirement, what stays, and who is affected."""

import threading

import pytest
from django.db import connection

from controlplane.core import audit
from controlplane.core.audit import SYSTEM, Actor
from controlplane.core.errors import Invalid, Missing
from controlplane.core.models import AuditEvent
from plans.catalog import definitions, parsing, publishing
from plans.models import CatalogVersion, Plan, SpacePlan
from tests.support import domain

DEFAULT = publishing.default_yaml()
DEARER = DEFAULT.replace("monthly_fee_minor: 4900", "monthly_fee_minor: 5900")
STAFF = Actor("user:staff@operator.test")


def publish(text: str) -> CatalogVersion:
    return publishing.publish(parsing.parse(text), by=STAFF)


@pytest.mark.django_db
def test_ensure_default_publishes_once_and_never_over_another_catalog() -> None:
    first = publishing.ensure_default(by=SYSTEM)
    publish(DEARER)

    again = publishing.ensure_default(by=SYSTEM)

    assert first.number == 1
    assert again.number == 2
    assert CatalogVersion.objects.count() == 2


@pytest.mark.django_db
def test_publish_of_what_is_in_force_changes_nothing() -> None:
    first = publish(DEFAULT)

    assert publish(DEFAULT.replace("title: Free", 'title: "Free"')) == first
    assert AuditEvent.objects.filter(action="catalogue.publish").count() == 1


@pytest.mark.django_db
def test_publish_makes_a_version_of_what_changed_alone() -> None:
    publish(DEFAULT)

    publish(DEARER)

    assert publishing.plan("team").version == 2
    assert publishing.plan("free").version == 1
    assert list(Plan.objects.filter(key="team").order_by("version").values_list("retired")) == [
        (True,),
        (False,),
    ]


@pytest.mark.django_db
def test_publish_writes_who_did_it() -> None:
    version = publish(DEFAULT)

    event = AuditEvent.objects.get(action="catalogue.publish")
    assert (event.actor, event.subject_id) == (STAFF.name, "1")
    assert version.published_by == STAFF.name


@pytest.mark.django_db
def test_publish_brings_an_older_catalog_back_under_a_new_number() -> None:
    publish(DEFAULT)
    publish(DEARER)

    back = publish(DEFAULT)

    assert back.number == 3
    assert publishing.plan("team").version == 3
    assert publishing.plan_definition(publishing.plan("team")).monthly_fee_minor == 4900


@pytest.mark.django_db
def test_publish_retires_what_is_gone_and_its_users_keep_it() -> None:
    cast = domain.cast("business")
    catalog = parsing.parse(DEFAULT)
    document = {**catalog.document}
    document["plans"] = {key: document["plans"][key] for key in ("free", "team")}

    publishing.publish(definitions.from_document(document), by=STAFF)

    with pytest.raises(Invalid, match="Choose one of: free, team") as refusal:
        publishing.plan("business")
    assert refusal.value.error_code == "plan.unknown"
    assert refusal.value.fields == {"plan": ["Choose one of: free, team."]}
    assert cast.tenant.plan_subscriptions.get().plan.key == "business"


@pytest.mark.django_db
def test_publish_offers_again_what_was_retired() -> None:
    publish(DEFAULT)
    Plan.objects.filter(key="team").update(retired=True)

    publish(DEARER)

    assert publishing.plan("team").retired is False


@pytest.mark.django_db
def test_a_malformed_catalog_publishes_nothing() -> None:
    publish(DEFAULT)

    with pytest.raises(Invalid):
        publish(DEARER.replace("at_quota: notify", "at_quota: explode"))

    assert CatalogVersion.objects.count() == 1
    assert publishing.plan("team").version == 1


@pytest.mark.django_db
def test_a_publication_that_fails_half_way_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    publish(DEFAULT)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the process ends here")

    monkeypatch.setattr(audit, "record", broken)
    with pytest.raises(RuntimeError):
        publish(DEARER)

    assert CatalogVersion.objects.count() == 1
    assert not Plan.objects.filter(version=2).exists()


@pytest.mark.django_db
def test_preview_says_what_changes_and_who_is_affected() -> None:
    cast = domain.cast("team")
    domain.address(domain.space(cast.tenant), "orders")
    wanted = DEARER.replace("standard-medium:", "standard-huge:").replace(
        "- standard-medium\n", "- standard-huge\n"
    )

    changes = {
        (change.section, change.key): change for change in publishing.preview(parsing.parse(wanted))
    }

    team = changes["plans", "team"]
    assert (team.kind, team.n_subscribers) == ("changed", 2)
    assert changes["space_plans", "standard-huge"].kind == "new"
    assert changes["space_plans", "standard-medium"].kind == "retired"
    small = changes["space_plans", "standard-small"]
    assert (small.kind, small.n_subscribers) == ("same", 1)
    assert changes["address_plans", "standard-small-queue"].n_subscribers == 1
    assert CatalogVersion.objects.count() == 1


@pytest.mark.django_db
def test_preview_leaves_ended_subscriptions_and_retired_plans_alone() -> None:
    publish(DEFAULT)
    Plan.objects.filter(key="business").update(retired=True)
    kept = {**parsing.parse(DEFAULT).document}
    kept["plans"] = {key: kept["plans"][key] for key in ("free", "team")}

    changes = publishing.preview(definitions.from_document(kept))

    assert {change.key: change.kind for change in changes}["business"] == "same"


@pytest.mark.django_db
def test_looking_up_before_anything_is_published_says_what_to_do() -> None:
    with pytest.raises(Missing, match="waypost catalog publish") as refusal:
        publishing.current()
    assert refusal.value.error_code == "catalog.missing"
    with pytest.raises(Invalid, match="none yet"):
        publishing.space_plan("standard-small")


@pytest.mark.django_db
def test_seller_is_the_newest_or_the_one_of_a_version() -> None:
    publish(DEFAULT)
    publish(DEFAULT.replace("name: Waypost Example Operator", "name: Successor"))

    assert publishing.seller().name == "Successor"
    assert publishing.seller(1).name == "Waypost Example Operator"
    with pytest.raises(Missing, match="version 7"):
        publishing.seller(7)


@pytest.mark.django_db
def test_definitions_of_rows_are_of_that_very_version() -> None:
    publish(DEFAULT)
    publish(DEFAULT.replace("max_addresses: 50,", "max_addresses: 60,"))

    old, new = SpacePlan.objects.filter(key="standard-small").order_by("version")

    assert publishing.space_plan_definition(old).max_addresses == 50
    assert publishing.space_plan_definition(new).max_addresses == 60
    assert publishing.address_plan_definition(
        publishing.address_plan("brokered-small-topic")
    ).address_type == "topic"  # fmt: skip


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_publications_at_once_make_two_numbers() -> None:
    texts = [DEFAULT, DEARER]
    barrier, failures = threading.Barrier(2), []

    def run(text: str) -> None:
        try:
            barrier.wait(60)
            publish(text)
        except Exception as error:  # noqa: BLE001 - told by the assertion below
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[text]) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert sorted(CatalogVersion.objects.values_list("number", flat=True)) == [1, 2]
