"""A finished reading of the samples behind an invoice, as a worker stores it."""

from django.utils import timezone

from controlplane.core.audit import SYSTEM
from plans.invoicing import sample_readings
from plans.invoicing.sample_readings import Hour, Read
from plans.models import Invoice, SampleReading

_OF = {"space_id": "spc_1", "source": "spc_1/broker-0", "boot_id": "boot-1", "address": "orders"}
SAMPLE = {
    "tenant_id": "ten_1",
    **_OF,
    "seq": 1,
    "taken_at": "2026-04-01T00:01:00.000000Z",
    "bucket_at": "2026-04-01T00:00:00.000000Z",
    "address_type": "queue",
    "epoch": 0,
    "messages_in": 7,
    "messages_out": 0,
    "stored_byte_ms": 0,
    "connections_opened": 0,
    "connection_ms": 0,
    "peak_connections": 0,
    "date": "2026-04-01",
    "sha256": "f" * 64,
}
COUNTER = {
    **_OF,
    "epoch": 0,
    "meters": {"messages_in": {"before": 2, "after": 7, "used": 5}},
}


def finished(invoice: Invoice) -> SampleReading:
    """Request all samples of ``invoice``, and store one hour of them as a worker would."""
    operation = sample_readings.request(invoice=invoice, part=None, by=SYSTEM)
    reading = sample_readings.get(invoice, operation.subject_id)
    hour = Hour(invoice.starts_at, 2, invoice.manifest["sample_hash"], {"messages_in": 5})
    found = Read(2, hour.sample_hash, 1, {"messages_in": 5}, [hour], [SAMPLE], [COUNTER])
    sample_readings.store(reading, found, timezone.now())
    return reading
