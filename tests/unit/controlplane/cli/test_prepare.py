"""The preparation waits for the database, for a time, and says so."""

import pytest
from django.db import OperationalError

from controlplane.cli import prepare


def test_it_waits_until_the_database_answers(capsys: pytest.CaptureFixture[str]) -> None:
    answers = iter([OperationalError("could not\nresolve"), OperationalError("starting"), None])
    pauses: list[None] = []

    def connect() -> None:
        answer = next(answers)
        if answer is not None:
            raise answer

    prepare.wait_for_database(connect, lambda: pauses.append(None))

    assert len(pauses) == 2
    assert capsys.readouterr().out.splitlines() == [
        "waiting for the database (1 of 200): could not resolve",
        "waiting for the database (2 of 200): starting",
    ]


def test_it_does_not_wait_for_ever() -> None:
    def connect() -> None:
        raise OperationalError("no")

    pauses: list[None] = []
    with pytest.raises(OperationalError):
        prepare.wait_for_database(connect, lambda: pauses.append(None))

    assert len(pauses) == 199
