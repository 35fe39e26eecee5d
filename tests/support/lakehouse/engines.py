"""Which engine wrote each table: in an object store only one may, as they do not interlock."""

from collections.abc import Mapping

from deltalake import DeltaTable

from lakehouse import schemas
from workers.metering import roots
from workers.metering.roots import Root

EXPECTED: Mapping[str, set[str]] = {
    schemas.BRONZE.path: {"delta-rs"},
    **{table.path: {"Apache-Spark"} for table in schemas.DERIVED},
}


def by_table(root: Root) -> dict[str, set[str]]:
    """Return the engines of all commits, by the table's folder."""
    return {table.path: _engines(root, table.path) for table in schemas.ALL}


def _engines(root: Root, folder: str) -> set[str]:
    table = DeltaTable(roots.uri(root, folder), storage_options=roots.options(root))
    return {_engine(commit) for commit in table.history()}


def _engine(commit: Mapping[str, str]) -> str:
    said = commit.get("engineInfo") or commit["clientVersion"]
    return said.split("/")[0].split(".")[0].split(":")[0]
