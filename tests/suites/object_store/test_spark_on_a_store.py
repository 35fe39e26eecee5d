"""Samples, bronze, Spark, gold in a bucket: the same figures as in a folder, errors in words."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controlplane.core.errors import Unavailable
from plans.invoicing import comparisons
from plans.rating.periods import Period
from tests.suites.lakehouse.test_close_on_spark import close_and_verify
from tests.support.lakehouse import engines
from tests.support.lakehouse.samples import Landed, at, beat, row
from tests.support.object_store.servers import Does, Proxy
from workers.metering import committer, delta, gold, pipeline, recompute
from workers.metering.pipeline import PipelineFailed, Report
from workers.metering.roots import ObjectStore, Root

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.django_db]
DAY = Period(at(0), at(23))
# Two rounds of the pipeline: growth, a restart, an epoch, a fall, a late sample, a second day.
FIRST = [
    [beat(at(10, 1), 1), row(at(10, 1), 1, messages_in=5, messages_out=2)],
    [beat(at(10, 20), 2), row(at(10, 20), 2, messages_in=9, messages_out=2)],
    [beat(at(10, 40), 1, boot_id="boot-2"), row(at(10, 40), 1, boot_id="boot-2", messages_in=7)],
]
SECOND = [
    [beat(at(10, 50), 4), row(at(10, 50), 4, messages_in=30), row(at(10, 50), 4, messages_in=4)],
    [beat(at(10, 45), 3), row(at(10, 45), 3, messages_in=12, stored_byte_ms=900)],
    [row(at(11, 5), 5, epoch=1, messages_in=3), row(at(1, day=1), 6, epoch=1, messages_in=8)],
]


def played(root: Root) -> tuple[Report, Any]:
    """Return the last report and every cell of gold after two rounds at ``root``."""
    landed = Landed(root)
    landed.many(FIRST)
    pipeline.run(root)
    landed.many(SECOND)
    report = pipeline.run(root)
    cells = gold.cells(root, report.tables[delta.USAGE], "ten_a", at(0), at(23, day=1))
    return report, sorted(cells, key=str)


def rebuilt(root: ObjectStore) -> Any:
    """Return what the job ``rebuild`` says, started by hand as docs/lakehouse.md tells."""
    command = [sys.executable, "-m", "lakehouse.jobs.rebuild", "--root", root.url]
    environment = {**os.environ, **root.job_environment}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def test_a_bucket_gives_the_figures_of_a_folder(near: ObjectStore, tmp_path: Path) -> None:
    report, cells = played(near)
    in_folder, cells_in_folder = played(tmp_path / "lakehouse")

    assert cells == cells_in_folder
    assert len(cells) > 5
    assert (report.rows, report.as_of) == (in_folder.rows, in_folder.as_of)
    asked = recompute.question(near, report.tables[delta.BRONZE], "ten_a", DAY)
    of_day = [cell for cell in cells if cell.bucket_at < DAY.ends_at]
    assert recompute.totals(asked) == comparisons.figures(of_day)
    assert set(rebuilt(near)["differences"].values()) == {0}
    assert engines.by_table(near) == engines.EXPECTED


def test_an_invoice_is_closed_and_verified(near: ObjectStore) -> None:
    close_and_verify(near)


def refusal(root: ObjectStore) -> str:
    """Return the code of what the pipeline says: the same before the job and from the job."""
    with pytest.raises(Unavailable) as before:
        pipeline.run(root)
    # Then the job itself is the first one that meets the store.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(committer, "add_lacking", lambda _root: None)
        with pytest.raises(PipelineFailed) as failed:
            pipeline.run(root)
    assert root.secret_key not in before.value.message + failed.value.message
    assert before.value.error_code == failed.value.error_code
    return failed.value.error_code


def test_a_store_in_the_way_is_said_in_words(root: ObjectStore, proxy: Proxy) -> None:
    Landed(root)(row(at(10, 1), 1, messages_in=5))
    missing = replace(root, url="s3://no-such-bucket/usage")
    said = {"missing": refusal(missing)}
    for does in (Does.DROP, Does.REFUSE):
        proxy.does(does)
        said[does] = refusal(root)
    proxy.passes()

    assert said == {
        Does.DROP: "lakehouse.store_away",
        Does.REFUSE: "lakehouse.store_refuses",
        "missing": "lakehouse.bucket_missing",
    }
    assert pipeline.run(root).rows["samples"] == 1


PRINT = """
import sys
from lakehouse import session
spark = session.start("probe", root=sys.argv[1])
print(spark.sparkContext.getConf().toDebugString())
print(spark.sql("SET -v").collect())
spark.stop()
"""


def test_sparks_settings_hold_no_secret(near: ObjectStore) -> None:
    environment = {**os.environ, **near.job_environment}
    command = [sys.executable, "-c", PRINT, near.url]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr[-3000:]
    assert near.endpoint in ran.stdout
    assert near.secret_key not in ran.stdout + ran.stderr
    assert near.access_key not in ran.stdout + ran.stderr
