"""The cheap search for incarnations with a counter reset misses none."""

import random

import pytest
from pyspark.sql import SparkSession

from lakehouse import checks
from tests.support.lakehouse.frames import bronze
from tests.support.lakehouse.samples import at, row
from workers.metering.source_states import SampleRow

pytestmark = pytest.mark.spark


def history(chance: random.Random) -> tuple[list[SampleRow], list[SampleRow]]:
    """Return samples of forty addresses, those of before and the new ones.

    Counters of some fall, some samples are late or repeated, and some lack the later meters.
    """
    before, new = list[SampleRow](), list[SampleRow]()
    for n in range(40):
        value, rows = 0, list[SampleRow]()
        for seq in range(1, chance.randint(2, 9)):
            value = max(0, value + chance.choice([0, 1, 5, 5, -3 if n % 3 == 0 else 2]))
            sizes = {} if n % 5 == 0 and chance.random() < 0.5 else {"bytes_in": 10 * value}
            one = row(at(9, seq), seq, address=f"a{n}", messages_in=value, **sizes)
            rows += [one] * chance.choice([1, 1, 1, 2])
        cut = chance.randint(0, len(rows))
        if n % 4 == 0:  # late: some of the new ones are older than some of before
            chance.shuffle(rows)
        before += rows[:cut]
        new += rows[cut:]
    return before, new


@pytest.mark.parametrize("seed", range(4))
def test_resets_of_suspects_are_all_resets(spark: SparkSession, seed: int) -> None:
    before, new = history(random.Random(seed))
    known, samples = bronze(spark, before), bronze(spark, new)
    lives = checks.suspects(samples, known)
    whole = checks.counter_resets(samples, known)
    found = checks.counter_resets(checks.of_lives(samples, lives), known)

    assert sorted(map(str, found.collect())) == sorted(map(str, whole.collect()))
    assert whole.count() > 3
    # It leaves addresses out, else it would be of no use.
    assert 0 < lives.count() < len({r.address for r in new}) * 3 // 4
