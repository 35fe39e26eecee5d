"""The pipeline and DuckDB compute the same cells from the same files, with no code in common.

`make bench-lakehouse` measures both on millions of samples; this test keeps it working.
"""

from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from lakehouse.jobs import pipeline
from lakehouse.tables import Lake
from plans.usage import meters
from tests.support.lakehouse.bench import histories, reference

pytestmark = pytest.mark.spark

HISTORY = histories.Plan(samples=10_752, per_bucket=1)  # one source, 28 days


def test_all_cells_of_a_random_history_are_those_of_duckdb(
    spark: SparkSession, tmp_path: Path
) -> None:
    lake, out = tmp_path / "lake", tmp_path / "duckdb"
    lake.mkdir()
    rows = histories.write(lake, HISTORY)
    pipeline.run(Lake(spark, str(lake)))
    reference.compute(str(lake / "bronze/samples/date=*/*.parquet"), out)
    assert rows > HISTORY.samples  # some samples are there twice
    assert reference.differences(lake, out) == dict.fromkeys(reference.COMPARED, 0)
    with duckdb.connect() as db:
        found = db.execute(f"SELECT DISTINCT meter FROM '{out}/gold-usage.parquet'").fetchall()
    # A new meter belongs into the history and the reference too.
    assert {meter for (meter,) in found} == {
        meter.slug for meter in meters.REGISTRY if meter.is_sampled
    }
