"""A task that fails because the database is away is one line; any other failure keeps its trace."""

import logging
from collections.abc import Callable, MutableMapping
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, InterfaceError, OperationalError
from django.db.utils import ConnectionHandler
from structlog.testing import capture_logs

from controlplane.core import outages
from controlplane.embedded import ports
from workers import tasks, wiring
from workers.reconcile import loop

pytestmark = pytest.mark.django_db  # lets Django try to connect; the tests use no row


def caused(error: Exception, cause: BaseException | None) -> Exception:
    error.__cause__ = cause
    return error


def nobody_listens() -> Exception:
    """Return what Django raises when PostgreSQL is away."""
    database = {
        "ENGINE": "controlplane.core.postgresql",
        "NAME": "nothing",
        "HOST": "127.0.0.1",
        "PORT": ports.free_port(),
    }
    with pytest.raises(OperationalError) as away:
        ConnectionHandler({"default": database})["default"].ensure_connection()
    return away.value


@pytest.mark.parametrize(
    ("make", "is_away"),
    [
        (nobody_listens, True),
        (lambda: caused(OperationalError("x"), psycopg.errors.AdminShutdown()), True),
        (lambda: caused(OperationalError("x"), psycopg.errors.CannotConnectNow()), True),
        (lambda: caused(OperationalError("x"), psycopg.errors.ConnectionFailure()), True),
        (lambda: caused(InterfaceError("x"), psycopg.InterfaceError()), True),
        (lambda: caused(OperationalError("x"), psycopg.errors.DeadlockDetected()), False),
        (lambda: caused(OperationalError("x"), psycopg.errors.DiskFull()), False),
        (lambda: caused(IntegrityError("x"), psycopg.errors.UniqueViolation()), False),
        (lambda: OperationalError("ours"), False),
        (lambda: ConnectionRefusedError(), False),
    ],
)
def test_only_a_database_that_does_not_answer_is_away(
    make: Callable[[], Exception], is_away: bool
) -> None:
    assert outages.is_database_away(make()) is is_away


def run_due(monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[MutableMapping[str, Any]]:
    """Run a task that fails with ``error``; return our events."""

    def fail(_ports: object) -> None:
        raise error

    monkeypatch.setattr(wiring, "ports", lambda: None)
    monkeypatch.setattr(loop, "list_due", fail)
    with capture_logs() as events:
        tasks.reconcile_due.apply()
    return list(events)


def test_a_task_without_its_database_is_logged_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (event,) = run_due(monkeypatch, nobody_listens())

    assert event["event"] == "database_away"
    assert event["task"] == "workers.reconcile_due"
    assert "\n" not in event["error"]
    assert caplog.records == []


def test_a_task_with_a_bug_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    events = run_due(monkeypatch, ZeroDivisionError("a bug"))

    (record,) = caplog.records
    assert events == []
    assert record.levelno == logging.ERROR
    assert record.exc_info
    assert "ZeroDivisionError" in caplog.text
