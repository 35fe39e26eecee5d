"""Leases that are kept while a job runs, and that end soon after a holder that was killed."""

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import InterfaceError
from django.utils import timezone

from controlplane.core import leases
from controlplane.core.models import Lease

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "a job"
SECONDS = 0.3  # put off every tenth of a second


def eventually(is_true: Callable[[], bool]) -> None:
    """Wait for another thread; the bound only ends a test that failed."""
    ends_at = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < ends_at
        threading.Event().wait(0.01)


def keeper_is_gone() -> bool:
    return not any(each.name == "lease keeper" for each in threading.enumerate())


def ends_at() -> datetime:
    return Lease.objects.get(name=NAME).expires_at


def test_a_lease_is_put_off_while_the_job_runs_and_given_back() -> None:
    with leases.kept(NAME, "we", SECONDS) as won:
        assert won
        first = ends_at()
        eventually(lambda: ends_at() > first)

    assert not Lease.objects.exists()
    assert keeper_is_gone()


def test_who_does_not_win_leaves_the_holder_alone() -> None:
    leases.acquire(NAME, "they", 60)
    theirs = ends_at()

    with leases.kept(NAME, "we", SECONDS) as won:
        assert not won
        assert keeper_is_gone()

    assert ends_at() == theirs


def test_a_lease_that_another_took_is_not_taken_back() -> None:
    with leases.kept(NAME, "we", SECONDS):
        Lease.objects.update(holder="they", expires_at=timezone.now() + timedelta(hours=1))
        eventually(keeper_is_gone)

    assert Lease.objects.get(name=NAME).holder == "they"


def test_a_job_that_hangs_loses_its_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "_LONGEST_SECONDS", 0.02)

    with leases.kept(NAME, "we", SECONDS):
        eventually(keeper_is_gone)
        eventually(lambda: leases.acquire(NAME, "they", 60))


def test_a_database_that_was_away_for_a_moment_loses_no_lease(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    extend, failed = leases._extend, []

    def extend_or_fail(*asked: object) -> bool:
        if not failed:
            failed.append(True)
            raise InterfaceError("connection already closed")
        return extend(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(leases, "_extend", extend_or_fail)
    with leases.kept(NAME, "we", SECONDS):
        first = ends_at()
        eventually(lambda: ends_at() > first)

    assert failed == [True]
