"""A sample's counters: one value for each sampled meter, and the stored forms that rest on it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from plans.usage.meters import METERS
from workers.metering import bronze, collector, landing, sources
from workers.metering.counters import ADDRESS_METERS, NOTHING, Counters
from workers.metering.source_states import AddressState, SampleRow, SourceState
from workers.models import LandingBatch, MeteredSource

NOW = datetime(2026, 11, 21, 10, 1, tzinfo=UTC)
ROW = SampleRow("ten", "spc", "spc/broker-0", "boot-1", 3, NOW, NOW, "orders", "queue", 1)


def test_every_sampled_meter_has_a_value_and_no_other_name_has_one() -> None:
    assert set(NOTHING) == set(METERS)
    assert Counters({"messages_in": 5})["messages_in"] == 5
    assert Counters({"messages_in": 5}).having(messages_out=2) == Counters(
        {"messages_in": 5, "messages_out": 2}
    )
    with pytest.raises(ValueError, match="space_hours"):
        Counters({"space_hours": 1})


def test_a_row_is_stored_with_one_column_for_each_meter() -> None:
    row = replace(ROW, counters=NOTHING.having(messages_in=5, connection_ms=7))

    assert set(row.columns) == {*bronze.schema().names} - {"batch_id", "date"}
    assert (row.columns["messages_in"], row.columns["connection_ms"]) == (5, 7)
    assert SampleRow.of_columns(row.columns) == row


def test_a_row_that_was_stored_before_a_meter_existed_counts_zero_of_it() -> None:
    columns = dict(ROW.columns)
    del columns["stored_byte_ms"]

    assert SampleRow.of_columns(columns) == ROW


def test_a_meter_that_no_snapshot_reports_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "ADDRESS_METERS", (*ADDRESS_METERS, "messages_lost"))

    with pytest.raises(RuntimeError, match="messages_lost"):
        collector.check_every_meter_is_counted()


@pytest.mark.django_db
def test_the_outbox_keeps_the_form_of_older_versions() -> None:
    landing.reserve([replace(ROW, counters=NOTHING.having(messages_in=5))])

    [stored] = LandingBatch.objects.get().rows
    assert stored == {
        "tenant_id": "ten",
        "space_id": "spc",
        "source": "spc/broker-0",
        "boot_id": "boot-1",
        "seq": 3,
        "taken_at": "2026-11-21T10:01:00+00:00",
        "bucket_at": "2026-11-21T10:01:00+00:00",
        "address": "orders",
        "address_type": "queue",
        "epoch": 1,
        "messages_in": 5,
        "messages_out": 0,
        "stored_byte_ms": 0,
        "connections_opened": 0,
        "connection_ms": 0,
        "peak_connections": 0,
        "bytes_in": 0,
        "bytes_out": 0,
        "steps_64k_in": 0,
        "steps_64k_out": 0,
    }


@pytest.mark.django_db
def test_states_keep_the_form_of_older_versions() -> None:
    orders = AddressState("queue", counters=NOTHING.having(messages_in=5, stored_byte_ms=9))
    state = SourceState(
        "ten",
        "spc",
        "spc/broker-0",
        "boot-1",
        sampled_at=NOW,
        bucket_at=NOW,
        counters=NOTHING.having(connections_opened=2, peak_connections=1),
        addresses={"orders": orders},
        retired=(("gone", orders),),
    )

    sources.save([state])

    row = MeteredSource.objects.get()
    flat = {
        "type": "queue",
        "epoch": 0,
        "messages_in": 5,
        "messages_out": 0,
        "stored_bytes": 0,
        "stored_byte_ms": 9,
        "moved": False,
        "fresh": 0,
        "present": True,
        "queues_out": {},
        "life": "",
    }
    assert row.addresses == {"orders": flat}
    assert row.integrals == {
        "connections": 0,
        "connections_opened": 2,
        "connection_ms": 0,
        "peak_connections": 1,
        "used_in": 0,
        "used_out": 0,
        "unlanded": False,
        "unclosed": False,
        "retired": [["gone", flat]],
        "used": {},
        "marks": [],
        "mark_totals": {},
        "health": {},  # the version before it reads the other keys by name
    }
    assert sources.state_of(row) == state
