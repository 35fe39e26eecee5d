"""The gauges of mails that did not reach the mail server."""

import pytest
from pytest_django import DjangoAssertNumQueries

from controlplane import mail_gauges
from tenants.notifications import undelivered_mails
from tenants.notifications.undelivered_mails import Undelivered


@pytest.mark.django_db
def test_gauges_of_an_installation_whose_mails_arrive(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(2):
        assert shown() == {"waypost_mails_late": 0, "waypost_mails_failed": 0}


def test_gauges_show_what_did_not_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undelivered_mails, "count", lambda now: Undelivered(late=7, failed=2))

    assert shown() == {"waypost_mails_late": 7, "waypost_mails_failed": 2}


def shown() -> dict[str, float]:
    """Return {name of a gauge: its value}."""
    return {
        sample.name: sample.value for family in mail_gauges.families() for sample in family.samples
    }
