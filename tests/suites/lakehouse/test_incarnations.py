"""Openings and heads are computed from rows that Spark keeps, not from files again."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehouse import schemas
from lakehouse.transforms import incarnations

pytestmark = pytest.mark.spark


def plan_of(rows: DataFrame) -> str:
    query: Any = rows._jdf
    return str(query.queryExecution().optimizedPlan().toString())


def test_rows_stay_persisted_when_they_are_asked(spark: SparkSession) -> None:
    state = spark.createDataFrame([], schemas.STATE.schema).persist()
    try:
        incarnations.by_day(state)
        # Each answer drops its views, after which Spark must still know the rows.
        assert "InMemoryRelation" in plan_of(incarnations.heads(state))
    finally:
        state.unpersist()


def test_no_view_is_left(spark: SparkSession) -> None:
    incarnations.by_day(spark.createDataFrame([], schemas.STATE.schema))
    assert [view.name for view in spark.catalog.listTables()] == []
