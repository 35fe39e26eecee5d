"""A back-test of the copy on the worker: it ends well, or says why it cannot."""

import json
from datetime import UTC, datetime

import pytest
from django.db import OperationalError

from plans.catalog import parsing, publishing
from plans.invoicing import back_testing
from plans.models import BackTest
from tenants.actions import catalog_drafts
from tests.support.plans import billing_rows as rows
from workers.metering import back_tests

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 5, tzinfo=UTC)
DEARER = json.loads(rows.CATALOG)
DEARER["plans"]["team"]["monthly_fee_minor"] = 5900


def requested() -> BackTest:
    rows.tenant()
    draft = catalog_drafts.prepare(yaml=json.dumps(DEARER), by=rows.STAFF)
    source = BackTest.Source.COPY
    return back_testing.request(draft=draft, months=1, source=source, by=rows.STAFF, now=NOW)


def test_it_succeeds() -> None:
    test = requested()

    back_tests.run(test.pk)

    test.refresh_from_db()
    assert (test.state, test.n_rated, test.error) == ("succeeded", 1, "")


def test_a_catalog_published_meanwhile_ends_it_without_mixed_figures() -> None:
    test = requested()
    publishing.publish(parsing.parse(json.dumps(DEARER)), by=rows.STAFF)

    back_tests.run(test.pk)

    test.refresh_from_db()
    assert (test.state, test.n_rated) == ("failed", 0)
    assert "request it again" in test.error


def test_an_unforeseen_error_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    test = requested()

    def fails(*_: object) -> None:
        raise KeyError("lived")

    monkeypatch.setattr(back_testing, "rate", fails)
    back_tests.run(test.pk)

    test.refresh_from_db()
    assert (test.state, test.error) == ("failed", "It failed; the worker's log has the reason.")


def test_an_outage_of_the_database_leaves_it_to_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    test = requested()

    def is_away(*_: object) -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(back_testing, "rate", is_away)
    with pytest.raises(OperationalError):
        back_tests.run(test.pk)

    test.refresh_from_db()
    assert test.state == "running"
