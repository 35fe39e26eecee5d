"""Bring the tables up to the newest bronze. ``python -m lakehouse.jobs.pipeline --root ROOT``.

Prints the report of ``run`` as one JSON line on stdout, and a line for each finished table on
stderr. The job may be killed at any time: every write to a table records the bronze version that
the table then includes, and the next run continues from there.
"""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakehouse import checks, incarnation_tables, object_store, schemas, session, tables
from lakehouse.errors import LakehouseError
from lakehouse.incarnation_tables import Heads
from lakehouse.schemas import Table
from lakehouse.tables import Added, Commit, Lake, Snapshot
from lakehouse.transforms import (
    bucket_maxima,
    bucket_usage,
    daily_usage,
    incarnations,
    sample_quality,
)

APP = "pipeline"


def run(lake: Lake, done: Callable[[str], None] = lambda name: None) -> dict[str, Any]:
    """Bring quarantine, state and gold up to the newest bronze version and return a report.

    The report holds the id and version of each table that invoices pin (``tables``),
    ``bronze_version`` (null if no sample has landed yet), how many samples and files are new and
    how many rows were quarantined (``rows``), and the watermark (``as_of``). Creates tables that do
    not exist, except bronze. Calls ``done`` with the name of each finished table.

    Raises:
        SchemaDiffers: a table has other columns than ``schemas`` declares.
    """
    found = _snapshots(lake)
    bronze = found.pop(schemas.BRONZE.name)
    rows = {"samples": 0, "quarantined": 0, "files": 0}
    if bronze is None:  # nothing has ever landed
        return _report(lake, None, rows, as_of(lake))
    reached = {name: snapshot.done for name, snapshot in found.items() if snapshot}
    upto = Run(lake, bronze.pin.version, incarnation_tables.filled(lake, reached, APP))
    # Before the state and the heads, because counter resets are found against the heads before
    # this run.
    rows["quarantined"] = upto.quarantine()
    done(schemas.QUARANTINE.name)
    rows["samples"] = upto.merge_state()
    rows["files"] = upto.added(schemas.STATE).n_files
    done(schemas.STATE.name)
    upto.merge_openings()
    done(schemas.OPENINGS.name)
    upto.merge_heads()
    done(schemas.HEADS.name)
    upto.merge_sources()
    done(schemas.SOURCES.name)
    upto.replace_gold(done)
    return _report(lake, bronze, rows, upto.as_of)


def _snapshots(lake: Lake) -> dict[str, Snapshot | None]:
    """Create the tables that do not exist, except bronze; return what each one includes."""
    for table in schemas.DERIVED:
        tables.ensure(lake, table)
    # Side by side: reading a log is mostly work of Spark's driver, which uses one core for each.
    with lake.threads() as pool:
        found = pool.map(lambda table: tables.snapshot(lake, table, APP), schemas.ALL)
        return dict(zip((table.name for table in schemas.ALL), found, strict=True))


@dataclass
class Run:
    """One run of the pipeline up to the bronze ``version``; the function ``run`` calls its steps.

    The steps are ``quarantine``, ``merge_state``, ``merge_openings``, ``merge_heads``,
    ``merge_sources`` and ``replace_gold``, in this order. ``reached`` is the
    bronze version that each table included at the start of the run, by the table's name; -1 for a
    new table.
    """

    lake: Lake
    version: int
    reached: Mapping[str, int]
    _added: dict[int, Added] = field(default_factory=dict)
    _folded: dict[int, DataFrame] = field(default_factory=dict)
    _days: dict[int, DataFrame] = field(default_factory=dict)
    _heads: dict[int, Heads] = field(default_factory=dict)
    _opened: frozenset[date] = frozenset()  # days whose openings this run has changed

    def added(self, *after: Table) -> Added:
        """Return the bronze rows, up to the run's version, that no table in ``after`` includes.

        Of several tables the one that reached the highest bronze version counts. The result is
        kept, so that equal calls read the log of bronze only once.
        """
        since = max(self.reached[table.name] for table in after)
        if since not in self._added:
            self._added[since] = tables.added_since(self.lake, since, self.version)
        return self._added[since]

    def folded(self, after: Table) -> DataFrame:
        """Return the maxima per bucket of the valid samples that ``after`` does not include."""
        since = self.reached[after.name]
        if since not in self._folded:
            folded = fold(self.added(after))
            # Several tables are computed from it, but in a first run only the state (``days``).
            self._folded[since] = folded if since < 0 else folded.persist()
        return self._folded[since]

    def days(self, after: Table) -> DataFrame:
        """Return the maxima per day (``incarnations.by_day``) of what ``folded(after)`` returns.

        Use it only after ``merge_state``.
        """
        since = self.reached[after.name]
        if since not in self._days:
            # All rows are in the state, and reading them there is faster than folding them again.
            folded = self.read(schemas.STATE) if since < 0 else self.folded(after)
            # Far fewer rows than buckets, and three tables are computed from them.
            self._days[since] = incarnations.by_day(folded).persist()
        return self._days[since]

    def heads(self, *after: Table) -> Heads:
        """Return the heads, before this run, of the incarnations in ``added(*after)``."""
        since = max(self.reached[table.name] for table in after)
        if since not in self._heads:
            samples = checks.valid(self.added(*after).rows)
            self._heads[since] = incarnation_tables.heads_of(self.lake, samples)
        return self._heads[since]

    def read(self, table: Table) -> DataFrame:
        return tables.read(self.lake, table)

    def commit(self, note: str = "") -> Commit:
        return Commit(APP, self.version, note)

    @cached_property
    def as_of(self) -> str | None:
        """The watermark. It is read once, so use it only after ``merge_sources``."""
        return as_of(self.lake)

    @property
    def note(self) -> str:
        """The note on each commit to a gold table: bronze version and watermark, as JSON."""
        return json.dumps({"bronze_version": self.version, "as_of": self.as_of})

    def quarantine(self) -> int:
        """Append new invalid samples and counter resets to the quarantine; return their number.

        Call it before ``merge_heads``: resets are found against the heads without the new samples.
        Skips bronze rows that the quarantine or the state includes. The version that the quarantine
        records is not enough, because a run that finds nothing writes nothing to the quarantine.
        """
        added = self.added(schemas.QUARANTINE, schemas.STATE)
        if not added.dates:
            return 0
        valid, known = checks.valid(added.rows), self._known()
        found, suspects = checks.refused(added.rows), checks.suspects(valid, known).persist()
        if suspects.take(1):  # else there is no reset to look for
            suspected = checks.of_lives(valid, suspects)
            found = found.unionByName(checks.counter_resets(suspected, known))
        # Persisted, because it is counted and then written.
        found = found.persist()
        n_found = found.count()
        if n_found:
            tables.append(self.lake, schemas.QUARANTINE, found, self.commit())
        found.unpersist()
        suspects.unpersist()
        return n_found

    def _known(self) -> DataFrame:
        """Return what incarnations had reached before the rows that ``quarantine`` checks.

        The rows have the columns of ``HEADS``; there may be several rows per incarnation.
        """
        known = self.heads(schemas.QUARANTINE, schemas.STATE).rows
        since = max(self.reached[t.name] for t in (schemas.QUARANTINE, schemas.STATE))
        lagging = self.reached[schemas.HEADS.name]
        if lagging >= since:
            return known
        # A run was stopped before the heads: they lack rows that the quarantine has seen.
        folded = fold(tables.added_since(self.lake, lagging, since))
        return known.unionByName(incarnations.heads(folded))

    def merge_state(self) -> int:
        """Merge the maxima of the new valid samples into the state.

        Returns the number of new bronze rows, invalid and repeated ones included.
        """
        added = self.added(schemas.STATE)
        if added.dates:
            folded = self.folded(schemas.STATE)
            where = f"{tables.on_dates(added.dates, 't.')}{added.not_before('t.')}"
            tables.merge_maxima(self.lake, schemas.STATE, folded, where, self.commit())
        return added.n_rows

    def merge_openings(self) -> None:
        """Add the openings of new days, and raise those that late rows change.

        Processes all bronze rows that the heads do not include, because openings of new days are
        made from heads. If no opening changes, nothing is written.
        """
        if not self.added(schemas.HEADS).dates:
            return
        days, heads = self.days(schemas.HEADS), self.heads(schemas.HEADS).rows
        changed = incarnation_tables.changed_openings(self.lake, days, heads)
        if changed is None:
            return
        self._opened = changed.dates
        where = tables.on_dates(changed.dates, "t.")
        tables.merge_maxima(self.lake, schemas.OPENINGS, changed.rows, where, self.commit())
        changed.rows.unpersist()

    def merge_heads(self) -> None:
        """Raise the heads of the incarnations in the new rows; add those of new ones."""
        if self.added(schemas.HEADS).dates:
            newest = incarnations.heads(self.days(schemas.HEADS))
            where = self.heads(schemas.HEADS).where
            tables.merge_maxima(self.lake, schemas.HEADS, newest, where, self.commit())

    def merge_sources(self) -> None:
        """Note the newest sample of each source."""
        if self.added(schemas.SOURCES).dates:
            new = bucket_maxima.newest_samples(self.days(schemas.SOURCES))
            both = self.read(schemas.SOURCES).unionByName(new)
            rows = bucket_maxima.newest_samples(both)
            tables.replace_all(self.lake, schemas.SOURCES, rows, self.commit())

    def replace(self, table: Table, step: Callable[[str], DataFrame]) -> None:
        """Bring a gold table up to the run's version, by computing whole days again.

        These are the days of the bronze rows that the table does not include, and the days whose
        openings these rows changed. ``step`` takes the days as an SQL condition on ``date``, and
        returns their new rows. If the table includes all bronze rows, nothing is written.
        """
        added = self.added(table)
        if not added.dates:
            return
        days = tables.on_dates({*added.dates, *self._opened})
        if self.reached[schemas.OPENINGS.name] > self.reached[table.name]:
            # A run was stopped after the openings. Which ones it changed is not known any more;
            # all are later than the rows that it added.
            days = f"date >= date'{added.dates[0]}'"
        tables.replace_where(self.lake, table, step(days), days, self.commit(self.note))

    def replace_gold(self, done: Callable[[str], None]) -> None:
        """Bring the gold tables up to the run's version; call ``done`` with the name of each."""

        def replace(*steps: tuple[Table, Callable[[str], DataFrame]]) -> None:
            for table, step in steps:
                self.replace(table, step)
                done(table.name)

        # Small queries are mostly work of Spark's driver, which uses one core for each.
        with self.lake.threads() as pool:
            quality = pool.submit(replace, (schemas.QUALITY, self.sample_quality))
            # In this order: the daily table is computed from ``gold.usage``.
            replace((schemas.USAGE, self.usage), (schemas.USAGE_DAILY, self.daily_usage))
            quality.result()

    def usage(self, days: str) -> DataFrame:
        state, openings = self.read(schemas.STATE), self.read(schemas.OPENINGS)
        return bucket_usage.usage(state.where(days), openings.where(days))

    def daily_usage(self, days: str) -> DataFrame:
        return daily_usage.daily(self.read(schemas.USAGE).where(days))

    def sample_quality(self, days: str) -> DataFrame:
        # Bronze at the run's version: the state does not include files that land during the run.
        samples = tables.read(self.lake, schemas.BRONZE, self.version).where(days)
        heartbeats = checks.valid(samples).where(F.col("address") == "")
        quarantine = self.read(schemas.QUARANTINE).where(days)
        return sample_quality.quality(
            heartbeats, quarantine, self.read(schemas.OPENINGS).where(days)
        )


def fold(added: Added) -> DataFrame:
    """Return the maxima per bucket of the valid rows in ``added``, with the columns of ``STATE``.

    Runs a Spark job.
    """
    return bucket_maxima.buckets(checks.valid(added.rows), bucket_maxima.address_types(added.rows))


def as_of(lake: Lake) -> str | None:
    """Return the watermark as ISO 8601 text, from the newest samples; None without samples.

    The state includes every sample that an active source took up to the watermark.
    ``bucket_maxima.complete_until`` says which sources are active.
    """
    return bucket_maxima.complete_until(tables.read(lake, schemas.SOURCES))


def _report(
    lake: Lake, bronze: Snapshot | None, rows: Mapping[str, int], as_of: str | None
) -> dict[str, Any]:
    """Return the report of ``run``, with the newest versions of the pinned tables but bronze.

    ``bronze`` is the snapshot that the run read; newer bronze versions may exist. It is None if
    there is no bronze table yet.
    """
    pinned = [table for table in schemas.PINNED if table is not schemas.BRONZE]
    derived = {table.name: tables.pin(lake, table) for table in pinned}
    pins = {**derived, **({schemas.BRONZE.name: bronze.pin} if bronze else {})}
    return {
        "tables": {n: {"id": pin.table_id, "version": pin.version} for n, pin in pins.items()},
        "bronze_version": bronze.pin.version if bronze else None,
        "rows": rows,
        "as_of": as_of,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the job with command-line ``arguments`` (None: those of the process).

    Returns its exit code: 0, or 2 if it printed an error (``lakehouse.errors``).
    """
    parser = argparse.ArgumentParser(prog="lakehouse.jobs.pipeline", description=run.__doc__)
    parser.add_argument(
        "--root", required=True, help="folder of the lakehouse, or s3://bucket/prefix"
    )
    parser.add_argument(
        "--threads", type=int, default=2, help="cores here, or of all executors together"
    )
    parser.add_argument("--memory", default="1g", help="heap of the Spark driver")
    parser.add_argument("--bulk", action="store_true", help="for millions of new rows")
    parser.add_argument("--end-with-stdin", action="store_true", help="end when stdin is closed")
    options = parser.parse_args(arguments)
    if options.end_with_stdin:
        end_with_stdin()
    try:
        spark = session.start(
            "waypost-pipeline",
            root=options.root,
            threads=options.threads,
            memory=options.memory,
            bulk=options.bulk,
        )
        with object_store.translated_errors(options.root):
            lake = Lake(spark, object_store.hadoop_root(options.root))
            report = run(lake, lambda name: print_progress(f"done {name}"))
    except LakehouseError as error:
        sys.stdout.write(json.dumps({"error": {"code": error.code, "message": str(error)}}) + "\n")
        return 2
    report["cpu_seconds"] = round(session.cpu_seconds(spark), 2)
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()
    spark.stop()
    return 0


def end_with_stdin() -> None:
    """Start a thread that kills this process group (Python and Java) when stdin is closed.

    The parent process must start this one as the leader of a group, with a pipe as stdin. When the
    parent dies, the operating system closes the pipe, so the job does not outlive its parent.
    Killing the job is safe at any time; see the module's docstring.
    """

    def wait() -> None:
        while os.read(0, 1):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def print_progress(text: str) -> None:
    """Write ``text`` as a line to stderr and flush it; stdout is for the report."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
