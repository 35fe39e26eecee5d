"""Visitors learn what this is, what it costs and whether it works."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from controlplane.core import reachability
from plans.models import CatalogVersion
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


def test_visitors_see_plans_compared_and_the_way_to_docs_and_status(world: World) -> None:
    page = Client().get("/").content.decode()

    for words in ("Messaging for your programs", 'href="/docs/"', 'href="/status"',
                  'href="/signup"', "Monthly fee", "Free", "Team", "Business"):  # fmt: skip
        assert words in page


def test_before_a_catalog_is_published_the_page_has_no_table() -> None:
    assert not CatalogVersion.objects.exists()

    answer = Client().get("/")

    assert answer.status_code == 200
    assert "Monthly fee" not in answer.content.decode()


def test_without_sign_up_the_page_offers_the_login(world: World, settings: Settings) -> None:
    settings.SIGNUP_ENABLED = False

    assert 'href="/signup"' not in Client().get("/").content.decode()


def test_the_page_takes_few_queries(world: World) -> None:
    with CaptureQueriesContext(connection) as queries:
        Client().get("/")

    assert len(queries) <= 3


@pytest.mark.parametrize(("works", "words"), [(True, "Everything works"), (False, "take longer")])
def test_the_status_says_what_works(
    monkeypatch: pytest.MonkeyPatch, works: bool, words: str
) -> None:
    monkeypatch.setattr(reachability, "queue_answers", lambda url: works)

    assert words in Client().get("/status").content.decode()
