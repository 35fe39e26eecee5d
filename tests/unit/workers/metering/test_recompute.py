"""The recompute from bronze: totals, ids, gaps, counter resets, and what never arrived."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from plans.invoicing.evidence import CounterReset, Gap, UsageKey
from plans.rating.periods import Period
from tests.support.lakehouse.samples import Landed, at, beat, row
from workers.metering import quality, recompute
from workers.metering.pipeline import Table
from workers.metering.recompute import Question

PERIOD = Period(at(10), at(11))


@pytest.fixture
def landed(tmp_path: Path) -> Landed:
    return Landed(tmp_path)


def ask(landed: Landed, period: Period = PERIOD) -> Question:
    table = landed.table
    pin = Table(str(table.metadata().id), int(table.version()))
    return recompute.question(landed.root, pin, "ten_a", period)


def key(meter: str, address: str = "orders", space: str = "spc_1") -> UsageKey:
    return UsageKey(space, address, meter)


def test_totals_are_what_lives_grew_inside_the_period(landed: Landed) -> None:
    landed(row(at(9, 50), 1, messages_in=5), row(at(10, 5), 2, messages_in=8, messages_out=2))
    landed(row(at(10, 50), 3, messages_in=9), row(at(11, 5), 4, messages_in=99))
    landed(
        row(at(10, 40), 1, boot_id="boot-2", messages_in=7),
        row(at(10, 41), 5, epoch=1, messages_in=3),
    )

    found = recompute.totals(ask(landed))

    assert found == {key("messages_in"): (9 - 5) + 7 + 3, key("messages_out"): 2}


def test_totals_ignore_order_repetition_and_other_tenants(landed: Landed) -> None:
    once = row(at(10, 5), 2, messages_in=8)
    landed(once, row(at(10, 1), 1, messages_in=5), once)
    landed(once, row(at(10, 5), 2, tenant_id="ten_b", messages_in=100))

    assert recompute.totals(ask(landed)) == {key("messages_in"): 8}


def test_totals_of_a_peak_are_its_largest_bucket(landed: Landed) -> None:
    space: dict[str, Any] = {"source": "spc_1/space", "boot_id": "space"}
    landed(beat(at(9, 50), 1, peak_connections=90, **space))
    landed(beat(at(10, 1), 2, peak_connections=7, **space))
    landed(beat(at(10, 20), 3, peak_connections=5, **space))

    assert recompute.totals(ask(landed)) == {key("peak_connections", ""): 7}


def test_a_version_that_is_older_than_a_counter_has_nothing_of_it(
    landed: Landed, tmp_path: Path
) -> None:
    landed(row(at(10, 5), 2, messages_in=8, stored_byte_ms=7))
    rows = pa.table(
        QueryBuilder().register("t", landed.table).execute("SELECT * FROM t").read_all()
    )
    older = tmp_path / "older"
    write_deltalake(older, rows.drop_columns(["stored_byte_ms"]))
    query = Question(DeltaTable(older), "ten_a", PERIOD)

    assert recompute.totals(query) == {key("messages_in"): 8}
    assert recompute.counter_resets(query) == ()
    assert recompute.sampled_spaces(query) == {"spc_1"}
    assert recompute.sample_ids(query) == recompute.sample_ids(ask(landed))


def test_totals_leave_out_rows_that_break_a_rule(landed: Landed) -> None:
    landed(row(at(10, 1), 1, messages_in=5), row(at(10, 2), 2, messages_in=9, bucket_at=at(10, 15)))

    assert recompute.totals(ask(landed)) == {key("messages_in"): 5}


def test_sample_ids_depend_on_the_set_of_samples_alone(landed: Landed, tmp_path: Path) -> None:
    first, second = row(at(10, 1), 1, messages_in=5), row(at(10, 2), 2, messages_in=6)
    other = Landed(tmp_path / "other")
    landed(first, second)
    other(second)
    other(second, first, first)

    assert recompute.sample_ids(ask(landed)) == recompute.sample_ids(ask(other))
    assert recompute.sample_ids(ask(landed))[1] == 2


def test_sample_ids_change_with_one_more_sample(landed: Landed) -> None:
    landed(row(at(10, 1), 1, messages_in=5))
    before = recompute.sample_ids(ask(landed))

    landed(row(at(10, 2), 2, messages_in=5))

    assert recompute.sample_ids(ask(landed)) != before


def test_sampled_spaces_are_those_with_a_sample_in_the_period(landed: Landed) -> None:
    landed(beat(at(10, 1), 1), beat(at(9, 1), 1, space_id="spc_2", source="spc_2/broker-0"))

    assert recompute.sampled_spaces(ask(landed)) == {"spc_1"}


def test_resets_are_named_with_counter_and_values(landed: Landed) -> None:
    landed(row(at(10, 3), 3, messages_in=60), row(at(10, 1), 1, messages_in=100))
    landed(row(at(10, 2), 2, messages_in=120), row(at(11, 1), 4, messages_in=1))

    found = recompute.counter_resets(ask(landed))

    assert found == (CounterReset("spc_1/broker-0", "boot-1", "orders", "messages_in", 120, 60),)


def test_gaps_inside_the_period_are_covered_by_the_next_sample(landed: Landed) -> None:
    landed(beat(at(10, 1), 1), beat(at(10, 9), 4), beat(at(10, 9), 4))

    assert recompute.gaps(ask(landed)) == (Gap("spc_1/broker-0", "boot-1", 2, 3, False),)


def test_gap_over_the_end_of_the_period_is_at_its_end(landed: Landed) -> None:
    landed(beat(at(10, 1), 1), beat(at(11, 9), 3))

    assert recompute.gaps(ask(landed)) == (Gap("spc_1/broker-0", "boot-1", 2, 2, True),)


def test_gaps_of_other_periods_are_not_ours(landed: Landed) -> None:
    landed(beat(at(9, 1), 1), beat(at(9, 9), 3), beat(at(10, 1), 4), beat(at(11, 1), 5))
    landed(beat(at(11, 9), 7))

    assert recompute.gaps(ask(landed)) == ()


def test_end_of_a_life_that_never_arrived_is_lost(landed: Landed) -> None:
    landed(beat(at(10, 1), 1), beat(at(10, 2), 2))
    expected = {("spc_1/broker-0", "boot-1"): 4, ("spc_1/broker-1", "boot-9"): 1}

    lost = quality.lost_ends(expected, recompute.last_seqs(ask(landed)))

    assert lost == (
        Gap("spc_1/broker-0", "boot-1", 3, 4, True),
        Gap("spc_1/broker-1", "boot-9", 1, 1, True),
    )
