"""Whether the database answers, with a connection that fails in each way that Django knows."""

import pytest
from django.db import InterfaceError, OperationalError, connection

from controlplane.core import reachability


@pytest.mark.parametrize("away", [OperationalError, InterfaceError])
def test_a_broken_connection_is_no_answer(
    away: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise away("the connection is closed")

    monkeypatch.setattr(connection, "cursor", fail)

    assert not reachability.database_answers()


@pytest.mark.django_db
def test_a_database_that_answers_is_one() -> None:
    assert reachability.database_answers()
