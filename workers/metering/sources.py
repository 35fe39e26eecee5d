"""What is remembered of metered sources: rows of ``MeteredSource`` <-> ``collector.SourceState``.

Used by ``sampling`` and ``landing`` inside their transactions; ``load`` locks what it returns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from workers.messaging.observed import InstanceSnapshot
from workers.metering.lives import SPACE, AddressState, Mark, SourceState
from workers.models import MeteredSource

_SCALARS = (
    "connections",
    "connections_opened",
    "connection_ms",
    "peak_connections",
    "used_in",
    "used_out",
    "unlanded",
    "unclosed",
)


def living(space_ids: Iterable[str] | None = None) -> QuerySet[MeteredSource]:
    """Return the sources whose life goes on, of some spaces or of all."""
    rows = MeteredSource.objects.filter(ended_at__isnull=True)
    return rows if space_ids is None else rows.filter(space_id__in=list(space_ids))


def load(rows: QuerySet[MeteredSource]) -> list[SourceState]:
    """Return the states of ``rows`` in a fixed order, locked until the transaction ends."""
    return [state_of(row) for row in rows.order_by("source", "boot_id").select_for_update()]


def load_space(space_id: str, snapshots: Mapping[str, InstanceSnapshot]) -> list[SourceState]:
    """Return the space's living sources, locked; a life that was ended too early goes on again."""
    states = load(living([space_id]))
    named = {state.source for state in states}
    boots = {instance: snapshot.boot_id for instance, snapshot in snapshots.items()}
    for instance, boot_id in {**boots, SPACE: SPACE}.items():
        source = f"{space_id}/{instance}"
        if source not in named:
            states += load(MeteredSource.objects.filter(source=source, boot_id=boot_id))
    return states


def outdated(space_id: str, snapshots: Mapping[str, InstanceSnapshot]) -> set[str]:
    """Return the instances whose snapshot shows a life that another one has followed already."""
    followed = set()
    for instance, snapshot in snapshots.items():
        lives = MeteredSource.objects.filter(source=f"{space_id}/{instance}")
        is_ended = lives.filter(boot_id=snapshot.boot_id, ended_at__isnull=False).exists()
        if is_ended and lives.filter(ended_at__isnull=True).exists():
            followed.add(instance)
    return followed


def save(states: Iterable[SourceState], now: datetime, *, cleanly: bool = False) -> None:
    """Write the states; ended ones get ``now`` as the time their end was seen.

    Ends are written first: one source has one living life.
    """
    for state in sorted(states, key=lambda state: not state.ended):
        ended = {
            "ended_at": now if state.ended else None,
            "ended_cleanly": cleanly and state.ended,
        }
        MeteredSource.objects.update_or_create(
            source=state.source,
            boot_id=state.boot_id,
            defaults={**_columns(state), **ended},
            create_defaults={**_columns(state), **ended},
        )


def state_of(row: MeteredSource) -> SourceState:
    """Return what one row remembers."""
    scalars = {name: row.integrals[name] for name in _SCALARS if name in row.integrals}
    marks = tuple(
        Mark(datetime.fromisoformat(at), came, went)
        for at, came, went in row.integrals.get("marks", [])
    )
    addresses = {name: AddressState(**fields) for name, fields in row.addresses.items()}
    retired = tuple(
        (name, AddressState(**fields)) for name, fields in row.integrals.get("retired", [])
    )
    return SourceState(
        row.tenant_id,
        row.space_id,
        row.source,
        row.boot_id,
        seq=row.seq,
        sampled_at=row.sampled_at,
        bucket_at=row.bucket_at,
        addresses=addresses,
        retired=retired,
        marks=marks,
        **scalars,
    )


def _columns(state: SourceState) -> dict[str, Any]:
    integrals = {name: getattr(state, name) for name in _SCALARS}
    integrals["retired"] = [[name, asdict(address)] for name, address in state.retired]
    integrals["marks"] = [
        [mark.bucket_at.isoformat(), mark.messages_in, mark.messages_out] for mark in state.marks
    ]
    return {
        "space_id": state.space_id,
        "tenant_id": state.tenant_id,
        "seq": state.seq,
        "sampled_at": state.sampled_at,
        "bucket_at": state.bucket_at,
        "integrals": integrals,
        "addresses": {name: asdict(address) for name, address in state.addresses.items()},
    }
