"""Carry out back-tests: rate past months of all tenants under a draft catalog, in batches.

Quantities come from a Spark job, or from the copy of gold usage in PostgreSQL.

1. Write the windows of all tenants that are not rated yet to a file.
2. A Spark job sums gold over these windows, at a version that the back-test pins.
3. Rate the tenants in batches (``back_testing``); each batch commits its rows.
4. A Spark job writes all rows to the Delta table ``gold.backtest``.

Steps 1 to 3 repeat for groups of tenants, so that the quantities fit into memory. A back-test from
the copy in PostgreSQL, such as a dry run, has only step 3. Each step may be killed and repeated:
the periodic task ``workers.back_tests_due`` finds what is not finished, and the rating goes on
after the last stored batch.
"""

import csv
import json
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError

from controlplane.core import leases
from controlplane.core.errors import Conflict, WaypostError
from plans.invoicing import back_testing, rated_period
from plans.invoicing.back_testing import ReaderOf, TenantMonths
from plans.models import BackTest, BackTestRow
from plans.rating.periods import Period
from plans.usage.reading import Figure
from workers.metering import delta, ingest, pipeline, roots
from workers.metering.pipeline import PipelineBusy, PipelineFailed, SparkJob
from workers.metering.roots import Root

logger = structlog.get_logger(__name__)

_LEASE_SECONDS = 60  # extended while a back-test runs, for 15 minutes at most (``leases.kept``)
_JOB = "backtest"
_WINDOWS = ("tenant_id", "starts_at", "ends_at")
# The columns of the file of results, as ``lakehouse.schemas.BACKTEST`` has them.
_AMOUNTS = ("present_net_minor", "present_total_minor", "draft_net_minor", "draft_total_minor")
_GROUP = 20  # batches of tenants whose quantities one Spark job sums
_CHUNK = 2_000  # rows of one query for the file of results


class NoGold(Conflict):
    """There is no gold yet, so no quantities can be summed."""

    code = "back_test.no_gold"


def run(back_test_id: str) -> None:
    """Carry out one back-test, from where it was; it succeeds or fails.

    Nothing happens if it has ended, or if another process carries it out. While another Spark job
    runs, the back-test stays in the state running, and the periodic task tries again. Idempotent.
    """
    with leases.kept(f"back-test:{back_test_id}", uuid.uuid4().hex, _LEASE_SECONDS) as won:
        # Read under the lease: another process may have ended it just before.
        back_test = BackTest.objects.select_related("draft").filter(pk=back_test_id).first()
        if not won or back_test is None or back_test.state != BackTest.State.RUNNING:
            return
        try:
            batches = back_testing.batches(back_test.until, back_test.months, back_test.rated_up_to)
            if back_test.source == BackTest.Source.COPY:
                _rate(back_test, batches, rated_period.from_copy)
            else:
                _rate_and_store(back_test, batches, ingest.lakehouse_root())
        except PipelineBusy as error:  # before its base class: to wait is no failure
            logger.info("a back-test waits", back_test_id=back_test_id, reason=error.message)
            return
        except WaypostError as error:
            back_testing.finish(back_test, error=error.message)
            return
        except (OperationalError, InterfaceError):
            raise  # the database is away; the next run goes on
        except Exception as error:  # one odd document must not start Spark again and again
            logger.error("a back-test failed", back_test_id=back_test_id, exc_info=error)
            back_testing.finish(back_test, error="It failed; the worker's log has the reason.")
            return
        back_testing.finish(back_test)


def _rate_and_store(back_test: BackTest, batches: Iterator[list[TenantMonths]], root: Root) -> None:
    _pin(back_test, root)
    with tempfile.TemporaryDirectory(prefix="waypost-backtest-") as folder:
        while group := list(islice(batches, _GROUP)):
            _rate(back_test, group, _summed(back_test, root, Path(folder), group))
        # A run that was killed before the save stores them again: the job replaces its own rows.
        if back_test.stored_version is None:
            file = Path(folder) / "results.csv"
            _write_results(back_test, file)
            report = _job(root, ["--store", str(file), "--back-test", back_test.pk])
            back_test.stored_version = report["version"]
            back_test.save(update_fields=["stored_version", "updated_at"])


def _pin(back_test: BackTest, root: Root) -> None:
    """Pin the newest gold, so that a run that goes on later sums the same rows."""
    if back_test.gold_version is not None:
        return
    if not delta.exists(root, delta.USAGE):
        raise NoGold("There is no usage in the lakehouse yet: use the copy as the source.")
    table = delta.open_table(root, delta.USAGE)
    back_test.gold_id, back_test.gold_version = str(table.metadata().id), int(table.version())
    back_test.save(update_fields=["gold_id", "gold_version", "updated_at"])


def _summed(
    back_test: BackTest, root: Root, folder: Path, group: Iterable[Sequence[TenantMonths]]
) -> ReaderOf:
    """Sum the quantities of the group's windows by one Spark job; return a reader of the sums."""
    windows, sums = folder / "windows.csv", folder / "quantities.csv"
    with windows.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(_WINDOWS)
        for one in chain.from_iterable(group):
            writer.writerows([one.tenant.pk, *span.plain()] for span in sorted(one.windows()))
    options = ["--windows", str(windows), "--quantities", str(sums)]
    pinned = ["--gold-id", back_test.gold_id, "--gold-version", str(back_test.gold_version)]
    _job(root, [*options, *pinned])
    found: dict[tuple[str, Period], list[Figure]] = {}
    with sums.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            window = Period(*(datetime.fromisoformat(row[f"{e}s_at"]) for e in ("start", "end")))
            figure = Figure(row["space_id"], "", row["meter"], int(row["quantity"]))
            found.setdefault((row["tenant_id"], window), []).append(figure)
    return lambda tenant_id: lambda window: sorted(found.get((tenant_id, window), ()))


def _rate(
    back_test: BackTest, group: Iterable[Sequence[TenantMonths]], reader_of: ReaderOf
) -> None:
    prices = back_testing.prices_of(back_test.draft.document)
    for batch in group:
        # Before each batch: ``prices`` and the plans that they are compared with belong together.
        back_testing.require_same_catalog(back_test)
        rated = back_testing.rate(batch, prices, reader_of)
        back_testing.store(back_test, batch, rated)


def _write_results(back_test: BackTest, path: Path) -> None:
    rows = BackTestRow.objects.filter(back_test=back_test).order_by("pk")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["tenant_id", "plan", "month_at", "currency", *_AMOUNTS])
        columns = ("tenant_id", "plan", "month_starts_at", "currency", *_AMOUNTS)
        for tenant_id, plan, month_at, *rest in rows.values_list(*columns).iterator(_CHUNK):
            writer.writerow([tenant_id, plan, month_at.isoformat(), *rest])


def _job(root: Root, options: Sequence[str]) -> Mapping[str, Any]:
    """Run the Spark job with the lease of the pipeline, because both need the same memory.

    Raises:
        PipelineBusy: the pipeline runs now.
        PipelineFailed: the job failed or took too long; running it again is safe.
    """
    holder = uuid.uuid4().hex
    with leases.held(pipeline.LEASE, holder, _LEASE_SECONDS) as won:
        if not won:
            raise PipelineBusy("The usage pipeline is running; the back-test waits for it.")
        renew = partial(leases.acquire, pipeline.LEASE, holder, _LEASE_SECONDS)
        job = SparkJob(root, _JOB, options)
        return _parsed(*job.execute(settings.PIPELINE_TIMEOUT_SECONDS, renew))


def _parsed(code: int, out: str, err: str) -> Mapping[str, Any]:
    lines = [line for line in out.splitlines() if line.startswith("{")]
    answer: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if code == 0 and "rows" in answer:
        return answer
    logger.error("a back-test failed", exit_code=code, stderr=roots.without_keys(err)[-4000:])
    if "error" in answer:
        raise PipelineFailed(answer["error"]["message"], code=answer["error"]["code"])
    raise PipelineFailed(
        f"The Spark job of the back-test ended with exit code {code}. The worker's log has the "
        "reason; request the back-test again."
    )
