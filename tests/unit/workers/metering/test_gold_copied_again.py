"""Gold copied again: it fixes every altered row and sum of the copy, and may be repeated."""

import io
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from plans.models import UsageCopy, UsageHour, UsageRecord
from plans.usage import reading, recording
from plans.usage.reading import UsageCell
from tests.support.metering.deltas import write_gold
from tests.support.metering.readings import at
from workers.metering import gold

pytestmark = pytest.mark.django_db


def cell(hour: int, quantity: int, *, days: int = 0) -> UsageCell:
    bucket_at = at(hour) + timedelta(days=days)
    return UsageCell("ten_a", "spc_1", "orders", "messages_in", bucket_at, quantity)


def copied() -> tuple[list[UsageCell], int, int]:
    """Return all cells, and what the sums by day and by hour have."""
    window = ("ten_a", at(0), at(0) + timedelta(days=9))
    by_day = sum(figure.quantity for figure in reading.by_address(*window))
    by_hour = sum(UsageHour.objects.values_list("summed", flat=True))
    return list(reading.cells(*window)), by_day, by_hour


CELLS = [cell(10, 5), cell(1, 7, days=1)]


@pytest.fixture
def root(root: Path) -> Path:
    """A lakehouse whose gold usage was copied."""
    write_gold(root, CELLS, at(11))
    gold.copy_newest(root)
    return root


def without_triggers(change: Callable[[], object]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        change()
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def test_altered_added_and_lost_rows_are_fixed(root: Path) -> None:
    UsageRecord.objects.filter(bucket_at=at(10)).update(quantity=6)
    UsageRecord.objects.filter(bucket_at__gt=at(23)).delete()
    UsageRecord.objects.create(**cell(3, 99, days=4)._asdict())  # a day that gold lacks

    assert gold.copy_newest(root) is None  # it was copied already
    answers = [gold.copy_again(root), gold.copy_again(root)]

    assert copied() == (CELLS, 12, 12)
    assert answers == [3, 2]  # the third day is gone
    assert UsageCopy.objects.count() == 1


def test_sums_that_no_row_explains_are_fixed(root: Path) -> None:
    without_triggers(lambda: UsageRecord.objects.filter(bucket_at=at(10)).delete())
    without_triggers(lambda: UsageHour.objects.filter(hour_at__gt=at(23)).update(summed=70))

    gold.copy_again(root)

    assert copied() == (CELLS, 12, 12)


def test_a_newer_version_is_copied_whole(root: Path) -> None:
    write_gold(root, [cell(10, 6), cell(1, 8, days=1)], at(12))

    assert gold.copy_again(root) == 2

    assert copied() == ([cell(10, 6), cell(1, 8, days=1)], 14, 14)
    assert reading.as_of() == at(12)


def test_a_copy_of_another_process_meanwhile_does_not_end_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    UsageRecord.objects.update(quantity=0)
    copy_in, begun = recording.copy_in, list[date]()

    def copy(**given: Any) -> Any:
        if given.get("with_sums") and not begun:
            begun.extend(given["days"])
            write_gold(root, [cell(1, 8, days=1)], at(12))
            gold.copy_newest(root)
        return copy_in(**given)

    monkeypatch.setattr(recording, "copy_in", copy)

    gold.copy_again(root)

    assert copied()[0] == [cell(10, 5), cell(1, 8, days=1)]


def test_the_command_names_the_number_of_days(root: Path) -> None:
    out = io.StringIO()

    call_command("copy_gold", stdout=out)

    assert out.getvalue() == "days of usage copied again: 2\n"


def test_the_command_fails_if_the_database_is_ahead_of_the_lakehouse(root: Path) -> None:
    UsageCopy.objects.update(table_version=99)

    with pytest.raises(CommandError, match=r"metering\.table_replaced"):
        call_command("copy_gold")


def test_without_gold_there_is_nothing_to_copy(tmp_path: Path) -> None:
    assert gold.copy_again(tmp_path) == 0
