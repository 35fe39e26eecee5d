"""A reading of the samples behind an invoice: every level adds up, and the hash can be checked."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from controlplane.core.errors import Invalid
from controlplane.core.models import Operation
from plans.invoicing import drill_down, sample_readings
from plans.invoicing.drill_down import COPY, PINNED, DrillDown
from plans.invoicing.sample_readings import TooManyReadings
from plans.models import Invoice, ReadRow, SampleReading
from plans.rating.periods import Period
from tenants.models import AddressSpace, Tenant
from tests.support import documented
from tests.support.lakehouse.samples import Landed, beat, row
from tests.support.metering.deltas import write_gold
from tests.support.plans import billing_rows
from tests.unit.workers.metering.closing.conftest import close_now
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import closing, committer, gold, periodic, reading_samples
from workers.metering.pipeline import Table

pytestmark = pytest.mark.django_db
BY = billing_rows.STAFF
CHECK = documented.EXAMPLES / "python" / "check_evidence.py"


@pytest.fixture
def invoice(
    owner: Tenant,
    space: AddressSpace,
    readers: FakeReaders,
    shows: Callable[..., None],
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Invoice:
    """An invoice whose usage lies in several hours, of two incarnations."""
    with monkeypatch.context() as patched:
        # Not the numbers of the product's own commits.
        patched.setattr(committer, "APP", "earlier hours")
        _land_earlier_hours(Landed(root), space)
    shows(orders=(7, 7))
    made = close_now(owner)
    closing.close(made.id, readers)
    made.refresh_from_db()
    assert made.state == Invoice.State.DRAFT, made.held_reasons
    return made


def _land_earlier_hours(landed: Landed, space: AddressSpace) -> None:
    counters = {5: (700_000, 9), 3: (1_500_000, 12), 2: (1_500_000, 12), 1: (1_600_000, 90)}
    of = {"tenant_id": space.tenant_id, "space_id": space.id, "source": f"{space.id}/broker-7"}
    for seq, (hours, (messages_in, messages_out)) in enumerate(counters.items(), start=1):
        taken_at = clock() - timedelta(hours=hours)
        used = {"messages_in": messages_in, "messages_out": messages_out}
        landed(
            beat(taken_at, seq, **of, connection_ms=seq * 60_000),
            row(taken_at, seq, **of, **used),
        )


def read(invoice: Invoice, part: Period | None = None, first: int = 0) -> SampleReading:
    operation = sample_readings.request(invoice=invoice, part=part, first=first, by=BY)
    reading_samples.read(operation.subject_id)
    operation.refresh_from_db()
    assert (operation.state, operation.error_message) == (Operation.State.SUCCEEDED, "")
    return sample_readings.get(invoice, operation.subject_id)


def messages(invoice: Invoice) -> int:
    return next(line.position for line in invoice.lines.all() if line.meter == "messages")


def summed(found: DrillDown) -> tuple[int, int, int]:
    return (
        sum(share.used for share in found.steps),
        sum(share.included for share in found.steps),
        sum(share.billed for share in found.steps),
    )


def samples(reading: SampleReading) -> list[dict[str, Any]]:
    rows = reading.rows.filter(kind=ReadRow.Kind.SAMPLE).order_by("position")
    return [row.values for row in rows]


def test_line_days_hours_and_samples_add_up(invoice: Invoice) -> None:
    position = messages(invoice)
    detail = invoice.lines.get(position=position).detail
    days = drill_down.days(invoice, position)
    total = (detail["used_base"], 1_000_000, detail["billed_base"])

    assert (days.source, days.is_exact, summed(days)) == (COPY, True, total)
    found = [0, 0, 0]
    for share in days.steps:
        hours = drill_down.hours(invoice, position, days.usage.day_of(share.starts_at))
        assert summed(hours) == (share.used, share.included, share.billed)
        for hour in hours.steps:
            reading = read(invoice, hours.part(hour))
            counters = [row.values["meters"] for row in reading.rows.filter(kind="counter")]
            computed = [
                sum(meters.get(meter, {}).get("used", 0) for meters in counters)
                for meter in ("messages_in", "messages_out")
            ]
            assert sum(computed) == hour.used
            assert computed == [
                reading.from_samples.get(m, 0) for m in ("messages_in", "messages_out")
            ]
            found[0] += sum(computed)
    assert found[0] == detail["used_base"] > 1_000_000


def test_the_hashes_of_all_hours_add_up_to_the_invoice_and_each_is_that_of_its_samples(
    invoice: Invoice,
) -> None:
    whole = read(invoice)

    assert whole.sample_hash == invoice.manifest["sample_hash"]
    assert whole.n_samples == invoice.manifest["n_samples"] == len(samples(whole))
    assert len(whole.hours) > 1
    for hour in map(sample_readings.Hour.from_plain, whole.hours):
        part = Period(whole.starts_at, whole.ends_at).clip(
            hour.starts_at, hour.starts_at + timedelta(hours=1)
        )
        alone = read(invoice, part)
        assert (alone.sample_hash, alone.n_samples) == (hour.sample_hash, hour.n_samples)
        assert (
            sample_readings.added(sample["sha256"] for sample in samples(alone)) == hour.sample_hash
        )


def test_the_documented_program_computes_the_hash_of_the_invoice(
    invoice: Invoice, tmp_path: Path
) -> None:
    file = tmp_path / "samples.jsonl"
    rows = samples(read(invoice))
    file.write_text("\n".join(map(json.dumps, [*rows, rows[0]])))

    ran = subprocess.run([sys.executable, CHECK, file], capture_output=True, text=True, check=True)

    expected = f"{invoice.manifest['n_samples']} samples {invoice.manifest['sample_hash']}\n"
    assert ran.stdout == expected


def test_the_documented_program_finds_a_changed_value(invoice: Invoice, tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    rows = samples(read(invoice))
    rows[0]["messages_in"] += 1
    file.write_text("\n".join(map(json.dumps, rows)))

    ran = subprocess.run([sys.executable, CHECK, file], capture_output=True, text=True, check=False)

    assert ran.returncode == 1
    assert "do not have its hash" in ran.stderr


def test_late_usage_makes_the_days_inexact_until_the_pinned_usage_is_read(
    invoice: Invoice, root: Path
) -> None:
    position = messages(invoice)
    before = drill_down.days(invoice, position)
    usage = before.usage
    late = gold.cells(
        root, Table(**_pin(invoice)), invoice.tenant_id, usage.window.starts_at,
        usage.window.ends_at,
    )  # fmt: skip
    more = [cell._replace(quantity=cell.quantity + 5) for cell in late]
    write_gold(root, more, clock())
    gold.copy_newest(root)

    assert not drill_down.days(invoice, position).is_exact
    read(invoice, usage.window)
    after = drill_down.days(invoice, position)

    assert (after.source, after.is_exact) == (PINNED, True)
    assert after.steps == before.steps


def test_a_part_is_read_once_and_outside_of_the_period_not_at_all(invoice: Invoice) -> None:
    first = sample_readings.request(invoice=invoice, part=None, by=BY)
    again = sample_readings.request(invoice=invoice, part=None, by=BY)
    read(invoice)
    third = sample_readings.request(invoice=invoice, part=None, by=BY)

    assert first.pk == again.pk == third.pk
    assert SampleReading.objects.count() == 1
    outside = Period(invoice.starts_at - timedelta(hours=1), invoice.ends_at)
    with pytest.raises(Invalid, match="not inside"):
        sample_readings.request(invoice=invoice, part=outside, by=BY)


def test_few_readings_run_at_once(invoice: Invoice) -> None:
    parts = [
        Period(invoice.starts_at + timedelta(hours=n), invoice.starts_at + timedelta(hours=n + 1))
        for n in range(4)
    ]
    for part in parts[:3]:
        sample_readings.request(invoice=invoice, part=part, by=BY)

    with pytest.raises(TooManyReadings):
        sample_readings.request(invoice=invoice, part=parts[3], by=BY)
    assert set(periodic.list_due(clock()).reading) == {
        row.pk for row in SampleReading.objects.all()
    }


def test_samples_are_kept_from_the_first_wanted_one_on_and_at_most_so_many(
    invoice: Invoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = samples(read(invoice))
    monkeypatch.setattr(reading_samples, "MOST_ROWS", 2)

    part = read(invoice, first=1)

    assert samples(part) == everything[1:3]
    assert [row.position for row in part.rows.filter(kind="sample").order_by("position")] == [1, 2]
    assert part.n_samples == len(everything)


def test_a_missing_table_is_an_answer(invoice: Invoice, root: Path) -> None:
    (root / "bronze").rename(root / "gone")
    operation = sample_readings.request(invoice=invoice, part=None, by=BY)

    reading_samples.read(operation.subject_id)

    operation.refresh_from_db()
    assert (operation.state, operation.error_code) == (
        Operation.State.FAILED, "metering.table_replaced")  # fmt: skip
    again = sample_readings.request(invoice=invoice, part=None, by=BY)
    assert again.pk != operation.pk


def test_a_reading_that_kills_its_worker_ends(invoice: Invoice) -> None:
    operation = sample_readings.request(invoice=invoice, part=None, by=BY)
    SampleReading.objects.update(attempts=3)

    reading_samples.read(operation.subject_id)

    operation.refresh_from_db()
    assert operation.error_code == "invoice.reading_crashed"


def test_reading_twice_stores_the_same(invoice: Invoice) -> None:
    """A worker may be killed between the storing and the end of its task."""
    reading = read(invoice)
    stored = samples(reading)
    SampleReading.objects.update(finished_at=None)
    Operation.objects.filter(subject_id=reading.pk).update(
        state=Operation.State.RUNNING, finished_at=None
    )

    reading_samples.read(reading.pk)

    assert samples(reading) == stored
    assert Operation.objects.get(subject_id=reading.pk).state == Operation.State.SUCCEEDED


def test_old_readings_are_deleted_but_running_ones(invoice: Invoice) -> None:
    read(invoice)
    hour = Period(invoice.starts_at, invoice.starts_at + timedelta(hours=1))
    sample_readings.request(invoice=invoice, part=hour, by=BY)
    later = timezone.now() + timedelta(hours=25)

    assert sample_readings.delete_old(later) == 1

    assert [row.starts_at for row in SampleReading.objects.all()] == [hour.starts_at]
    assert not ReadRow.objects.exists()


def test_lines_without_usage_say_where_they_come_from(invoice: Invoice) -> None:
    fee = invoice.lines.get(meter="plan_fee").position

    with pytest.raises(drill_down.NoUsageBehind, match="fee of a plan"):
        drill_down.days(invoice, fee)


def test_a_day_without_usage_has_no_hours(invoice: Invoice) -> None:
    assert drill_down.hours(invoice, messages(invoice), date(2020, 1, 1)).steps == ()


def _pin(invoice: Invoice) -> dict[str, Any]:
    pin = invoice.manifest["tables"]["gold.usage"]
    return {"id": pin["id"], "version": pin["version"]}
