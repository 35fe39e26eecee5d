"""Gold in a bucket: read at pinned versions, copied once, and an invoice's samples proved."""

import httpx
import pytest
from deltalake.fs import DeltaStorageHandler

from plans.rating.periods import Period
from plans.usage import reading
from plans.usage.reading import UsageCell
from tests.support.lakehouse.samples import row
from tests.support.metering.deltas import write_gold
from tests.support.metering.readings import at
from tests.support.object_store.servers import Does, Proxy, Server
from workers.metering import bronze, committer, delta, gold, recompute, restored, roots
from workers.metering.pipeline import Table
from workers.metering.roots import ObjectStore

pytestmark = pytest.mark.django_db
PERIOD = Period(at(10), at(11))


def cell(hour: int, quantity: int) -> UsageCell:
    return UsageCell("ten_a", "spc_1", "orders", "messages_in", at(hour), quantity)


def land(root: ObjectStore, number: int, messages_in: int) -> Table:
    """Commit one sample of the queue; return bronze as it is then."""
    taken = row(at(10, number), number, messages_in=messages_in)
    path = bronze.file_path(f"batch-{number}", taken.date)
    roots.put(root, f"{bronze.TABLE}/{path}", bronze.encode(f"batch-{number}", [taken]))
    table = committer.ensure_table(root)
    committer.commit_files(table, root, [path], number)
    return Table(str(table.metadata().id), int(table.version()))


def test_before_anything_there_is_nothing_to_copy(root: ObjectStore) -> None:
    assert gold.is_current(root)
    assert gold.copy_newest(root) is None


def test_gold_is_copied_once_and_read_as_it_was_pinned(root: ObjectStore) -> None:
    first = write_gold(root, [cell(10, 5)], at(11))
    copied = gold.copy_newest(root), gold.copy_newest(root)
    write_gold(root, [cell(10, 6)], at(12))
    gold.copy_newest(root)

    then = gold.cells(root, first, "ten_a", at(10), at(11))

    assert copied == (first.version, None)
    assert reading.as_of() == at(12)
    assert [cell.quantity for cell in then] == [5]


def test_the_samples_of_a_pinned_version_stay_the_same(root: ObjectStore) -> None:
    pin = land(root, 1, 5)
    before = recompute.sample_ids(recompute.question(root, pin, "ten_a", PERIOD))
    land(root, 2, 9)

    asked = recompute.question(root, pin, "ten_a", PERIOD)

    assert recompute.sample_ids(asked) == before
    assert list(recompute.totals(asked).values()) == [5]


def test_another_table_or_none_is_said(root: ObjectStore) -> None:
    pin = land(root, 1, 5)

    with pytest.raises(delta.TableReplaced, match="and not another"):
        delta.open_table(root, delta.BRONZE, table_id="another")
    with pytest.raises(delta.TableReplaced, match="at version 99"):
        delta.open_table(root, delta.BRONZE, version=99, table_id=pin.id)
    with pytest.raises(delta.TableReplaced, match="s3://lake/"):
        delta.open_table(root, delta.USAGE)


def test_a_file_that_is_gone_is_said(root: ObjectStore, server: Server) -> None:
    pin = land(root, 1, 5)
    path = bronze.file_path("batch-1", at(10).date())
    key = f"{root.url.removeprefix('s3:/')}/{bronze.TABLE}/{path}"
    DeltaStorageHandler(root.url, root.options).delete_file(f"{bronze.TABLE}/{path}")

    with pytest.raises(delta.TableReplaced, match="restore the lakehouse"):
        recompute.sample_ids(recompute.question(root, pin, "ten_a", PERIOD))
    assert httpx.get(f"{server.endpoint}{key}").status_code >= 400


@pytest.mark.parametrize(
    ("does", "refusal"), [(Does.DROP, roots.StoreAway), (Does.REFUSE, roots.StoreRefuses)]
)
def test_a_store_in_the_way_is_said_and_not_taken_for_an_empty_one(
    root: ObjectStore, proxy: Proxy, does: Does, refusal: type[Exception]
) -> None:
    pin = land(root, 1, 5)
    proxy.does(does)

    for read in (gold.is_current, gold.copy_newest, restored.check):
        with pytest.raises(refusal):
            read(root)
    with pytest.raises(refusal):
        delta.open_table(root, delta.BRONZE, version=pin.version, table_id=pin.id)


def test_files_that_a_store_keeps_back_are_said(root: ObjectStore, proxy: Proxy) -> None:
    asked = recompute.question(root, land(root, 1, 5), "ten_a", PERIOD)
    proxy.does(Does.REFUSE)

    with pytest.raises(roots.StoreRefuses):
        recompute.sample_ids(asked)
