"""What must hold on every level behind an invoice: line, days, hours, samples."""

from plans.invoicing import drill_down, sample_readings
from plans.invoicing.sample_readings import Hour
from plans.models import Invoice, SampleReading
from plans.rating.periods import Period
from tests.support.plans.billing_rows import STAFF
from workers.metering import reading_samples


def add_up(invoice: Invoice) -> int:
    """Drill down each line of usage; return how many hours had usage.

    The hashes of all samples give the one that the invoice pins.
    """
    n_hours = 0
    for line in invoice.lines.filter(detail__has_key="model"):
        days = drill_down.days(invoice, line.position)
        assert days.is_exact, line.description
        assert sum(share.billed for share in days.steps) == line.detail["billed_base"]
        for share in days.steps:
            day = days.usage.day_of(share.starts_at)
            hours = drill_down.hours(invoice, line.position, day)
            assert sum(hour.billed for hour in hours.steps) == share.billed
            assert hours.usage.is_peak or sum(h.used for h in hours.steps) == share.used
            for hour in hours.steps:
                part = hours.part(hour)
                computed = read(invoice, part).from_samples
                assert sum(computed.get(m, 0) for m in hours.usage.meters) == hour.used
                n_hours += 1
    whole = read(invoice, None)
    assert whole.sample_hash == invoice.manifest["sample_hash"]
    hashes = [Hour.from_plain(hour).sample_hash for hour in whole.hours]
    assert sample_readings.added(hashes) == whole.sample_hash
    return n_hours


def read(invoice: Invoice, part: Period | None) -> SampleReading:
    """Request a reading and be the worker that reads it."""
    operation = sample_readings.request(invoice=invoice, part=part, by=STAFF)
    reading_samples.read(operation.subject_id)
    reading = sample_readings.get(invoice, operation.subject_id)
    assert reading.finished_at, sample_readings.operation_of(reading)
    return reading
