"""Columns of many rows are written by one statement, whatever their types and values."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from controlplane.core import row_updates
from controlplane.core.models import Operation

pytestmark = pytest.mark.django_db
AT = datetime(2026, 4, 1, 10, 0, 0, 123456, tzinfo=UTC)
TEXTS = ["", 'a "quoted" \\ line\nand another', "ünïcode ✓ \u2028", "%s {} ' ; --"]


def operation(n: int) -> Operation:
    return Operation.objects.create(
        tenant_id="ten_1",
        kind="invoice.close",
        subject_type="invoice",
        subject_id=f"inv_{n}",
        subject_name="",
        target_generation=n,
    )


def test_values_of_all_types_are_stored_and_other_columns_kept(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    rows, steps = [operation(n) for n in range(len(TEXTS))], [{"name": "ä", "n": 1.5, "x": None}]
    other = operation(9)
    for row, text in zip(rows, TEXTS, strict=True):
        row.error_message, row.steps = text, steps
        row.state, row.finished_at = Operation.State.FAILED, AT
        row.subject_name = "not stored"

    with django_assert_num_queries(1):
        row_updates.save(rows, ["error_message", "steps", "state", "finished_at"])

    for row, text in zip(rows, TEXTS, strict=True):
        found: Any = Operation.objects.get(pk=row.pk)
        assert (found.error_message, found.steps) == (text, steps)
        assert (found.state, found.finished_at) == ("Failed", AT)
        assert (found.subject_name, found.target_generation) == ("", row.target_generation)
    assert Operation.objects.get(pk=other.pk).state == Operation.State.RUNNING


def test_no_rows_take_no_statement(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        row_updates.save([], ["state"])
