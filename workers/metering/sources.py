"""Find rows of ``MeteredSource``, and convert between them and ``SourceState``.

``load`` and ``load_space`` lock the rows. So call them, and the ``save`` that follows, in one
transaction.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from workers.messaging.observed import InstanceSnapshot
from workers.metering.counters import SOURCE_METERS, Counters
from workers.metering.source_states import SPACE, AddressState, Mark, SourceState
from workers.models import MeteredSource

# Fields of ``SourceState`` that are keys of the JSON column ``integrals``.
_SCALARS = (
    "connections",
    "used_in",
    "used_out",
    "unlanded",
    "unclosed",
    "health",
)


def living(space_ids: Iterable[str] | None = None) -> QuerySet[MeteredSource]:
    """Return the rows of incarnations that have not ended, of some spaces or of all (None)."""
    rows = MeteredSource.objects.filter(ended_at__isnull=True)
    return rows if space_ids is None else rows.filter(space_id__in=list(space_ids))


def load(rows: QuerySet[MeteredSource]) -> list[SourceState]:
    """Return the states of ``rows``, locked until the transaction ends."""
    # The fixed order prevents deadlocks between two transactions.
    return [state_of(row) for row in rows.order_by("source", "boot_id").select_for_update()]


def load_space(space_id: str, snapshots: Mapping[str, InstanceSnapshot]) -> list[SourceState]:
    """Return the states of a space's sources, locked until the transaction ends.

    These are the incarnations that have not ended. For a source without one, the result has the
    incarnation that its snapshot shows, if that one was recorded as ended.
    """
    states = load(living([space_id]))
    named = {state.source for state in states}
    boot_ids = {instance: snapshot.boot_id for instance, snapshot in snapshots.items()}
    for instance, boot_id in {**boot_ids, SPACE: SPACE}.items():
        source = f"{space_id}/{instance}"
        if source not in named:
            states += load(MeteredSource.objects.filter(source=source, boot_id=boot_id))
    return states


def outdated(space_id: str, snapshots: Mapping[str, InstanceSnapshot]) -> set[str]:
    """Return the names of instances whose snapshot shows an incarnation that was replaced."""
    replaced = set()
    for instance, snapshot in snapshots.items():
        rows = MeteredSource.objects.filter(source=f"{space_id}/{instance}")
        is_ended = rows.filter(boot_id=snapshot.boot_id, ended_at__isnull=False).exists()
        if is_ended and rows.filter(ended_at__isnull=True).exists():
            replaced.add(instance)
    return replaced


def save(
    states: Iterable[SourceState], *, ended_at: datetime | None = None, cleanly: bool = False
) -> None:
    """Write the states to their rows; create the rows of new incarnations. Idempotent.

    ``ended_at`` and ``cleanly`` apply to the states that have ended. Ended states are written
    first, because a unique constraint allows each source only one row without an end.
    """
    for state in sorted(states, key=lambda state: not state.ended):
        columns = {
            **_columns(state),
            "ended_at": ended_at if state.ended else None,
            "ended_cleanly": cleanly and state.ended,
        }
        row = MeteredSource.objects.filter(source=state.source, boot_id=state.boot_id)
        # The rows of large spaces are large, and ``update_or_create`` would read them once more.
        if not row.update(**columns):
            row.update_or_create(source=state.source, boot_id=state.boot_id, defaults=columns)


def state_of(row: MeteredSource) -> SourceState:
    """Return the state that is stored in one row."""
    # Keys that an older version did not write keep the default of the dataclass.
    scalars = {name: row.integrals[name] for name in _SCALARS if name in row.integrals}
    marks = tuple(
        Mark(datetime.fromisoformat(at), messages_in, messages_out)
        for at, messages_in, messages_out in row.integrals.get("marks", [])
    )
    counters = {meter: row.integrals[meter] for meter in SOURCE_METERS if meter in row.integrals}
    addresses = {name: AddressState.of_stored(values) for name, values in row.addresses.items()}
    retired = tuple(
        (name, AddressState.of_stored(values)) for name, values in row.integrals.get("retired", [])
    )
    return SourceState(
        row.tenant_id,
        row.space_id,
        row.source,
        row.boot_id,
        seq=row.seq,
        sampled_at=row.sampled_at,
        bucket_at=row.bucket_at,
        counters=Counters(counters),
        addresses=addresses,
        retired=retired,
        marks=marks,
        **scalars,
    )


def _columns(state: SourceState) -> dict[str, Any]:
    integrals = {name: getattr(state, name) for name in _SCALARS}
    integrals |= {meter: state.counters[meter] for meter in SOURCE_METERS}
    integrals["retired"] = [[name, address.stored()] for name, address in state.retired]
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
        "addresses": {name: address.stored() for name, address in state.addresses.items()},
    }
