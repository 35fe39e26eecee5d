"""A lakehouse as a version of Waypost left it that did not have the later meters yet.

``copy`` takes the columns of ``bronze.optional`` out of a lakehouse that the product made: out of
the files, and out of the schemas, constraints and statistics in the Delta logs. Ids and versions of
the tables stay, so invoices that pin them fit the copy.
"""

import json
import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq

from workers.metering import bronze

_LOG = "_delta_log"


def copy(source: Path, target: Path) -> Path:
    """Copy the lakehouse ``source`` to the new folder ``target`` without later meters."""
    for table in sorted(path.parent for path in source.rglob(_LOG)):
        folder = target / table.relative_to(source)
        for file in table.rglob("*.parquet"):
            if _LOG not in file.parts:
                _copy_file(file, folder / file.relative_to(table))
        (folder / _LOG).mkdir(parents=True)
        for entry in (table / _LOG).glob("*.json"):
            actions = [json.loads(line) for line in entry.read_text().splitlines()]
            lines = [json.dumps(_older(action, folder)) for action in actions]
            (folder / _LOG / entry.name).write_text("\n".join(lines) + "\n")
        assert not list((table / _LOG).glob("*.checkpoint*")), "a checkpoint has the columns too"
    return target


def columns(root: Path, folder: str) -> Collection[str]:
    """Return the later meters in the newest schema of a table."""
    found: Collection[str] = ()
    for entry in sorted((root / folder / _LOG).glob("*.json")):
        for action in map(json.loads, entry.read_text().splitlines()):
            if "metaData" in action:
                fields = json.loads(action["metaData"]["schemaString"])["fields"]
                found = {field["name"] for field in fields} & bronze.optional()
    return found


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    file = pq.ParquetFile(source)
    kept = [name for name in file.schema_arrow.names if name not in bronze.optional()]
    if len(kept) == len(file.schema_arrow.names):
        shutil.copyfile(source, target)
        return
    # Spark writes instants as INT96, and does not read nanoseconds of another type.
    columns = [file.schema.column(n) for n in range(len(file.schema))]
    is_of_spark = any(column.physical_type == "INT96" for column in columns)
    rows = file.read(columns=kept)
    pq.write_table(rows, target, use_deprecated_int96_timestamps=is_of_spark)


def _older(action: dict[str, Any], folder: Path) -> dict[str, Any]:
    if metadata := action.get("metaData"):
        schema = json.loads(metadata["schemaString"])
        schema["fields"] = [f for f in schema["fields"] if f["name"] not in bronze.optional()]
        metadata["schemaString"] = json.dumps(schema)
        metadata["configuration"] = {
            name: _older_condition(value) if ".constraints." in name else value
            for name, value in metadata["configuration"].items()
        }
    if added := action.get("add"):
        added["size"] = (folder / unquote(added["path"])).stat().st_size
        statistics = json.loads(added.get("stats") or "{}")
        for values in ("minValues", "maxValues", "nullCount"):
            kept = statistics.get(values, {}).items()
            statistics[values] = {k: v for k, v in kept if k not in bronze.optional()}
        added["stats"] = json.dumps(statistics)
    return action


def _older_condition(text: str) -> str:
    parts = re.split(r" and ", text, flags=re.IGNORECASE)
    return " and ".join(p for p in parts if not any(c in p for c in bronze.optional()))
