"""Compaction and cleaning of bronze: fewer files, equal rows, and invoices that still verify."""

import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from controlplane.core import leases
from controlplane.core.models import Lease
from plans.invoicing.findings import Place
from plans.models import Invoice
from tenants.models import Tenant
from tests.support.metering.deltas import write_gold
from tests.unit.workers.metering.closing.conftest import close_now
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import (
    bronze,
    bronze_housekeeping,
    closing,
    committer,
    delta,
    file_hashes,
    gold,
    ingest,
    sampling,
    verifying,
)

pytestmark = pytest.mark.django_db


def settled() -> date:
    """A day on which today's files may be compacted."""
    return (clock() + timedelta(days=4)).date()


def newest_files(root: Path) -> list[str]:
    table = delta.open_table(root, delta.BRONZE)
    prefix = f"{root / bronze.TABLE}/"
    return sorted(uri.removeprefix(prefix) for uri in table.file_uris())


@pytest.fixture
def landed(readers: FakeReaders, shows: Callable[..., None]) -> None:
    """Samples in several files."""
    for n in (1, 2, 3):
        shows(orders=(5 * n, 2 * n))
        sampling.sample_all(readers)
        ingest.ingest()


@pytest.fixture
def invoice(landed: None, owner: Tenant, readers: FakeReaders) -> Invoice:
    """A closed invoice whose samples came in several files."""
    made = close_now(owner)
    closing.close(made.id, readers)
    made.refresh_from_db()
    return made


def rows(root: Path, version: int | None = None) -> list[tuple[object, ...]]:
    table = delta.open_table(root, delta.BRONZE, version=version)
    found = delta.ask(
        "SELECT source, boot_id, seq, address, messages_in FROM bronze", {"bronze": table}
    )
    return sorted(tuple(row.values()) for row in found)


def test_compaction_keeps_rows_and_pinned_versions_and_the_invoice_verifies(
    invoice: Invoice, root: Path
) -> None:
    pinned = invoice.manifest["tables"]["bronze.samples"]["version"]
    before = rows(root, pinned)

    done = bronze_housekeeping.compact(root, settled())
    again = bronze_housekeeping.compact(root, settled())

    assert done is not None
    assert (done.days, done.files_after) == (1, 1)
    assert done.files_before > 1
    assert again is not None
    assert again.days == 0
    assert rows(root) == rows(root, pinned) == before
    assert verifying.recomputed(invoice, root).differences == ()


def test_restored_copy_verifies_after_compaction(invoice: Invoice, root: Path) -> None:
    copy = root.with_name("copy")
    shutil.copytree(root, copy)
    bronze_housekeeping.compact(root, settled())
    shutil.rmtree(root)
    copy.rename(root)

    bronze_housekeeping.compact(root, settled())

    assert verifying.recomputed(invoice, root).differences == ()


def test_days_that_may_get_late_samples_are_left_alone(invoice: Invoice, root: Path) -> None:
    files = delta.open_table(root, delta.BRONZE).file_uris()

    done = bronze_housekeeping.compact(root, (clock() + timedelta(days=2)).date())

    assert done is not None
    assert done.days == 0
    assert delta.open_table(root, delta.BRONZE).file_uris() == files


def test_samples_land_after_compaction(
    invoice: Invoice, root: Path, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    bronze_housekeeping.compact(root, settled())
    before = len(rows(root))
    shows(orders=(50, 20))
    sampling.sample_all(readers)

    assert ingest.ingest() > 0
    assert len(rows(root)) > before


def test_bronze_is_left_to_a_process_that_commits(invoice: Invoice, root: Path) -> None:
    leases.acquire(committer.APP, "another", 60)

    assert bronze_housekeeping.compact(root, clock().date()) is None


def test_files_are_the_recorded_ones_before_and_after_compaction_and_vacuum(
    invoice: Invoice, root: Path
) -> None:
    landed = newest_files(root)

    bronze_housekeeping.compact(root, settled())

    table = delta.open_table(root, delta.BRONZE)
    [compacted] = newest_files(root)
    found = file_hashes.check(root, table, date.max)
    assert (found.n_same, found.n_without, found.altered, found.missing) == (1, 0, (), ())
    verified = verifying.recomputed(invoice, root, files=True)
    assert verified.findings == ()
    assert landed
    assert all((root / bronze.TABLE / path).exists() for path in landed)
    with (root / bronze.TABLE / compacted).open("r+b") as file:
        file.write(b"x")
    assert file_hashes.check(root, table, date.max).altered == (compacted,)


def test_invoice_that_is_closed_after_a_compaction_verifies_with_files(
    landed: None, owner: Tenant, root: Path, readers: FakeReaders
) -> None:
    bronze_housekeeping.compact(root, settled())
    [compacted] = newest_files(root)
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    invoice.refresh_from_db()

    found = verifying.recomputed(invoice, root, files=True)
    path = root / bronze.TABLE / compacted
    path.write_bytes(path.read_bytes().replace(b"orders", b"others"))
    altered = verifying.recomputed(invoice, root, files=True)

    assert found.findings == ()
    assert "before hashes were recorded" not in found.outcomes[Place.FILES].note
    assert compacted in " ".join(altered.differences)


@pytest.mark.parametrize("harm", ["altered", "missing"])
def test_altered_file_is_never_given_a_new_hash(invoice: Invoice, root: Path, harm: str) -> None:
    files = newest_files(root)
    path = root / bronze.TABLE / files[0]
    content = path.read_bytes()
    path.unlink()
    if harm == "altered":
        path.write_bytes(content.replace(b"orders", b"others"))

    done = bronze_housekeeping.compact(root, settled())

    assert done is not None
    assert (done.days, done.altered) == (0, (files[0],))
    assert newest_files(root) == files
    path.write_bytes(content)
    healed = bronze_housekeeping.compact(root, settled())
    assert healed is not None
    assert (healed.days, healed.altered) == (1, ())


@pytest.mark.parametrize("killed_before", ["record", "commit"])
def test_killed_compaction_is_done_by_the_next_run(
    invoice: Invoice, root: Path, monkeypatch: pytest.MonkeyPatch, killed_before: str
) -> None:
    before = rows(root)
    module, name = {
        "record": (file_hashes, "record"),
        "commit": (committer, "add_action"),
    }[killed_before]

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(module, name, die)
        with pytest.raises(KeyboardInterrupt):
            bronze_housekeeping.compact(root, settled())
    between = rows(root)

    done = bronze_housekeeping.compact(root, settled())

    assert done is not None
    assert (done.days, between, rows(root)) == (1, before, before)
    assert file_hashes.check(root, delta.open_table(root, delta.BRONZE), date.max).n_without == 0


def test_day_that_got_samples_meanwhile_is_compacted_by_the_next_run(
    invoice: Invoice, root: Path, readers: FakeReaders, shows: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    record = file_hashes.record

    def land_first(path: str, content: bytes) -> None:
        monkeypatch.setattr(file_hashes, "record", record)
        record(path, content)
        leases.release(committer.APP, Lease.objects.get(name=committer.APP).holder)
        shows(orders=(50, 20))
        sampling.sample_all(readers)
        assert ingest.ingest() > 0

    monkeypatch.setattr(file_hashes, "record", land_first)
    before = len(rows(root))

    first = bronze_housekeeping.compact(root, settled())
    between = rows(root)
    second = bronze_housekeeping.compact(root, settled())

    assert first is not None
    assert second is not None
    assert (first.days, second.days) == (0, 1)
    assert len(between) > before
    assert rows(root) == between


def test_large_day_becomes_several_files_and_is_not_rewritten_again(
    invoice: Invoice, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(root)
    monkeypatch.setattr(bronze_housekeeping, "_WHOLE", 1)
    monkeypatch.setattr(bronze_housekeeping, "_ROW_GROUP", 1)
    assert bronze_housekeeping._Rewriting(
        delta.open_table(root, delta.BRONZE), root, clock().date()
    ).run(newest_files(root))

    again = bronze_housekeeping.compact(root, settled())

    assert again is not None
    assert again.days == 0
    assert again.files_after > 1
    assert rows(root) == before


def test_usage_is_current_after_compaction_until_samples_land(
    invoice: Invoice, root: Path, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    made_from = delta.open_table(root, delta.BRONZE).version()
    write_gold(root, [], clock(), bronze_version=made_from)

    bronze_housekeeping.compact(root, settled())

    assert delta.open_table(root, delta.BRONZE).version() > made_from
    assert gold.is_current(root)
    shows(orders=(50, 20))
    sampling.sample_all(readers)
    ingest.ingest()
    assert not gold.is_current(root)
