"""From states to the Delta log in a bucket: nothing lost, nothing twice, errors in words."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from pytest_django import Settings
from structlog.testing import capture_logs

from controlplane.core.errors import WaypostError
from controlplane.embedded import ports
from plans.invoicing.findings import FileCheck
from tests.suites.object_store.conftest import use
from tests.support.metering.landed import LANDED_ONCE, rows
from tests.support.object_store.servers import Does, Proxy
from workers.metering import bronze, committer, file_hashes, ingest, landing, periodic, roots
from workers.metering.roots import ObjectStore
from workers.models import LandingBatch, MeteredSource

pytestmark = pytest.mark.django_db
State = LandingBatch.State


LANDINGS = "(PUT|POST) .*/date(=|%3D)"
COMMITS = "PUT .*_delta_log"


def test_ingest_brings_what_moved_into_bronze_and_again_adds_nothing(
    root: ObjectStore, play: Callable[..., None]
) -> None:
    play(orders=(5, 0))

    ingest.ingest()
    first = rows(root)
    ingest.ingest()

    assert first == rows(root) == LANDED_ONCE
    assert LandingBatch.objects.get().state == State.COMMITTED


def test_altered_and_missing_files_are_told_apart(
    root: ObjectStore, play: Callable[..., None]
) -> None:
    for n in (1, 2, 3):
        play(orders=(5 * n, 0))
        ingest.ingest()
    table, day = committer.ensure_table(root), date.max
    paths = list(LandingBatch.objects.order_by("number").values_list("path", flat=True))
    same = file_hashes.check(root, table, day)
    roots.put(root, f"{bronze.TABLE}/{paths[0]}", b"altered")
    root.open().delete_file(f"{bronze.TABLE}/{paths[1]}")

    found = file_hashes.check(root, table, day)

    assert same == FileCheck(n_same=3)
    assert found == FileCheck(n_same=1, altered=(paths[0],), missing=(paths[1],))
    assert file_hashes.check(root, table, date.min) == FileCheck()


def test_a_table_that_was_made_is_found_again(root: ObjectStore) -> None:
    made, found = committer.ensure_table(root), committer.ensure_table(root)

    assert made.metadata().id == found.metadata().id
    assert "delta.constraints.seq_positive" in found.metadata().configuration


@pytest.mark.parametrize(
    "killed_in",
    [
        pytest.param("put before", marks=pytest.mark.drill),
        "put after",
        pytest.param("commit before", marks=pytest.mark.drill),
        "commit after",
    ],
)
def test_killed_anywhere_the_next_run_commits_once(
    root: ObjectStore,
    play: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    killed_in: str,
) -> None:
    play(orders=(5, 0))
    what, when = killed_in.split()
    module, name = {"put": (roots, "put"), "commit": (committer, "commit_files")}[what]
    done = getattr(module, name)

    def die(*arguments: Any) -> None:
        if when == "after":
            done(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(module, name, die)
        with pytest.raises(KeyboardInterrupt):
            ingest.ingest()
    play(orders=(7, 0))

    ingest.ingest()

    assert rows(root) == sorted([*LANDED_ONCE, *_SECOND])
    assert set(LandingBatch.objects.values_list("state", flat=True)) == {State.COMMITTED}


def _cut_short(source: Any, target: Any, _: int) -> None:
    """What an upload does that is interrupted between two chunks."""
    target.write(source.read(100))
    raise KeyboardInterrupt


def test_killed_inside_an_upload_the_batch_is_uploaded_again(
    root: ObjectStore, play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(orders=(5, 0))
    with monkeypatch.context() as killed:
        killed.setattr(shutil, "copyfileobj", _cut_short)
        with pytest.raises(KeyboardInterrupt):
            ingest.ingest()
    between = LandingBatch.objects.get()

    ingest.ingest()

    assert (between.state, between.path) == (State.RESERVED, "")
    assert rows(root) == LANDED_ONCE


def test_a_second_run_killed_inside_the_same_upload_spoils_nothing(
    root: ObjectStore, play: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(orders=(5, 0))
    landing.reserve_moved()
    encode = bronze.encode

    def another_lands_first(*arguments: Any) -> bytes:
        monkeypatch.setattr(bronze, "encode", encode)
        assert landing.write_reserved(root) == 1
        monkeypatch.setattr(shutil, "copyfileobj", _cut_short)
        return encode(*arguments)

    monkeypatch.setattr(bronze, "encode", another_lands_first)
    with pytest.raises(KeyboardInterrupt):
        landing.write_reserved(root)
    monkeypatch.undo()

    assert committer.commit_landed(root) == 1
    assert rows(root) == LANDED_ONCE


_SECOND = [("broker-0", "", 2, 0), ("broker-0", "orders", 2, 7), ("space", "", 2, 0)]


@pytest.mark.parametrize(
    "which",
    [
        pytest.param(LANDINGS, id="file", marks=pytest.mark.drill),
        pytest.param(COMMITS, id="commit"),
    ],
)
@pytest.mark.parametrize("does", [Does.LOSE, Does.DROP], ids=["done", "not done"])
def test_an_answer_that_is_lost_adds_nothing_twice(
    root: ObjectStore,
    play: Callable[..., None],
    proxy: Proxy,
    which: str,
    does: Does,
) -> None:
    committer.ensure_table(root)
    play(orders=(5, 0))
    proxy.does(does, which, times=1)

    ingest.ingest()
    ingest.ingest()

    assert rows(root) == LANDED_ONCE
    assert LandingBatch.objects.get().state == State.COMMITTED


def test_a_commit_from_an_old_view_of_the_table_is_refused(
    root: ObjectStore, play: Callable[..., None]
) -> None:
    play(orders=(5, 0))
    landing.reserve_moved()
    landing.write_reserved(root)
    path = LandingBatch.objects.get().path
    ours = committer.ensure_table(root)
    table = roots.uri(root, bronze.TABLE)
    old_view = DeltaTable(table, storage_options=root.options)

    committer.commit_files(ours, root, [path], 1)

    with pytest.raises(CommitFailedError):
        committer.commit_files(old_view, root, [path], 1)
    assert rows(root) == LANDED_ONCE


def _away(root: ObjectStore, proxy: Proxy) -> ObjectStore:
    return replace(root, endpoint=f"http://127.0.0.1:{ports.free_port()}")


def _missing(root: ObjectStore, proxy: Proxy) -> ObjectStore:
    return replace(root, url="s3://no-such-bucket/usage")


def _refusing(root: ObjectStore, proxy: Proxy) -> ObjectStore:
    proxy.does(Does.REFUSE)
    return root


@pytest.mark.parametrize(
    ("break_it", "code"),
    [
        (_away, "lakehouse.store_away"),
        (_missing, "lakehouse.bucket_missing"),
        (_refusing, "lakehouse.store_refuses"),
    ],
)
@pytest.mark.parametrize(
    "has_table",
    [pytest.param(False, id="first"), pytest.param(True, id="later", marks=pytest.mark.drill)],
)
def test_a_store_in_the_way_is_said_and_loses_nothing(
    root: ObjectStore,
    play: Callable[..., None],
    proxy: Proxy,
    settings: Settings,
    break_it: Callable[[ObjectStore, Proxy], ObjectStore],
    code: str,
    has_table: bool,
) -> None:
    if has_table:
        committer.ensure_table(root)
    play(orders=(5, 0))
    use(break_it(root, proxy), settings)

    with pytest.raises(WaypostError) as refused:
        ingest.ingest()
    with capture_logs() as logged:
        periodic.land()  # the beat's round says it and goes on
    waiting = LandingBatch.objects.filter(state=State.RESERVED).count()
    play(orders=(7, 0))  # and sampling needs no store
    sampled = MeteredSource.objects.get(source__endswith="broker-0").addresses["orders"]
    proxy.passes()
    use(root, settings)
    ingest.ingest()

    assert refused.value.error_code == code
    assert "Nothing is lost" in refused.value.message
    assert "Error performing" in logged[0]["said"]
    assert root.secret_key not in f"{refused.value.message}{refused.value.__cause__}{logged}"
    assert root.access_key not in str(logged)
    assert waiting == 1
    assert sampled["messages_in"] == 7
    assert [row for row in rows(root) if row[1] == "orders"] == [
        ("broker-0", "orders", 1, 5),
        ("broker-0", "orders", 2, 7),
    ]


@pytest.mark.parametrize(
    ("key", "does"), [("access_key", Does.NO_SUCH_KEY), ("secret_key", Does.WRONG_SECRET)]
)
def test_a_wrong_key_is_refused(
    root: ObjectStore,
    play: Callable[..., None],
    settings: Settings,
    proxy: Proxy,
    key: str,
    does: Does,
) -> None:
    play(orders=(5, 0))
    use(replace(root, **{key: "wrong"}), settings)
    if "moto" in root.url:  # takes every key: its proxy says what others say
        proxy.does(does)

    with pytest.raises(roots.StoreRefuses):
        ingest.ingest()


@pytest.mark.parametrize("part", ["POST .*uploads", "PUT .*partNumber=1", "POST .*uploadId="])
def test_an_upload_that_is_refused_anywhere_says_so(
    root: ObjectStore, proxy: Proxy, part: str
) -> None:
    proxy.does(Does.REFUSE, part, times=1)

    with pytest.raises((roots.StoreRefuses, roots.StoreAway)):
        roots.put(root, "bronze/large", os.urandom(12 << 20))  # some parts


def test_a_store_that_goes_before_the_commit_leaves_the_batch_landed(
    root: ObjectStore, play: Callable[..., None], proxy: Proxy
) -> None:
    committer.ensure_table(root)
    play(orders=(5, 0))
    proxy.does(Does.DROP, COMMITS)

    with pytest.raises(roots.StoreAway):
        ingest.ingest()
    between = LandingBatch.objects.get().state
    proxy.passes()
    ingest.ingest()

    assert between == State.LANDED
    assert rows(root) == LANDED_ONCE


def test_a_store_shows_its_secret_to_nobody(root: ObjectStore) -> None:
    assert root.secret_key not in repr(root)
    assert root.access_key not in repr(root)
    assert root.endpoint in repr(root)
