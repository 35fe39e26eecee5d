"""Leases that are kept while a job runs, and that end soon after a holder that was killed."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from controlplane.core import leases
from controlplane.core.models import Lease
from tests.support.waiting import eventually, is_keeper_gone

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "a job"
SECONDS = 0.3  # put off every tenth of a second


def ends_at() -> datetime:
    return Lease.objects.get(name=NAME).expires_at


def test_a_lease_is_put_off_while_the_job_runs_and_given_back() -> None:
    with leases.kept(NAME, "we", SECONDS) as won:
        assert won
        first = ends_at()
        eventually(lambda: ends_at() > first)

    assert not Lease.objects.exists()
    assert is_keeper_gone(NAME)


def test_who_does_not_win_leaves_the_holder_alone() -> None:
    leases.acquire(NAME, "they", 60)
    theirs = ends_at()

    with leases.kept(NAME, "we", SECONDS) as won:
        assert not won
        assert is_keeper_gone(NAME)

    assert ends_at() == theirs


def test_a_lease_that_another_took_is_not_taken_back() -> None:
    with leases.kept(NAME, "we", SECONDS):
        Lease.objects.update(holder="they", expires_at=timezone.now() + timedelta(hours=1))
        eventually(lambda: is_keeper_gone(NAME))

    assert Lease.objects.get(name=NAME).holder == "they"


def test_a_job_that_hangs_loses_its_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "_LONGEST_SECONDS", 0.02)

    with leases.kept(NAME, "we", SECONDS):
        eventually(lambda: is_keeper_gone(NAME))
        eventually(lambda: leases.acquire(NAME, "they", 60))


@pytest.mark.parametrize("away", [OperationalError, InterfaceError])
def test_a_database_that_was_away_for_a_moment_loses_no_lease(
    monkeypatch: pytest.MonkeyPatch, away: type[Exception]
) -> None:
    extend = leases._extend
    failed: list[object] = []

    def extend_or_fail(*asked: Any) -> bool:
        if not failed:
            failed.append(True)
            raise away("server closed the connection unexpectedly")
        return extend(*asked)

    monkeypatch.setattr(leases, "_extend", extend_or_fail)
    with leases.kept(NAME, "we", SECONDS):
        first = ends_at()
        eventually(lambda: ends_at() > first)

    assert failed == [True]
