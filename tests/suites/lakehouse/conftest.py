"""One Spark session for all lakehouse tests, a lake in a folder, and rows that are easy to read."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehouse import session
from lakehouse.tables import Lake
from tests.support.lakehouse import samples


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    started = session.start("waypost-tests")
    yield started
    started.stop()


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Lake:
    """An empty lakehouse root."""
    return Lake(spark, str(tmp_path))


@pytest.fixture
def landed(lake: Lake) -> samples.Landed:
    """Lands rows as the collector does: one zero-copy commit a call."""
    return samples.Landed(Path(lake.root))
