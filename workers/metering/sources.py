"""Find rows of ``MeteredSource``, and convert between them and ``SourceState``.

``load`` and ``load_spaces`` lock the rows. So call them, and the ``save`` that follows, in one
transaction.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from plans.usage.meters import MESSAGES_IN, MESSAGES_OUT, METERS
from workers.messaging.observed import InstanceSnapshot
from workers.metering.counters import SOURCE_METERS, Counters
from workers.metering.source_states import SPACE, AddressState, Mark, SourceState
from workers.models import MeteredSource

# Fields of ``SourceState`` that are keys of the JSON column ``integrals``.
_SCALARS = (
    "connections",
    "unlanded",
    "unclosed",
    "health",
)
# The totals that versions before this one stored, by their keys of ``integrals``.
_USED = {MESSAGES_IN: "used_in", MESSAGES_OUT: "used_out"}
# Columns that ``save`` changes in a row that exists.
_WRITTEN = (
    "space_id",
    "tenant_id",
    "seq",
    "sampled_at",
    "bucket_at",
    "moved_at",
    "integrals",
    "addresses",
    "ended_at",
    "ended_cleanly",
    "updated_at",
)
_AT_ONCE = 500


def living(space_ids: Iterable[str] | None = None) -> QuerySet[MeteredSource]:
    """Return the rows of incarnations that have not ended, of some spaces or of all (None)."""
    rows = MeteredSource.objects.filter(ended_at__isnull=True)
    return rows if space_ids is None else rows.filter(space_id__in=list(space_ids))


def load(rows: QuerySet[MeteredSource]) -> list[SourceState]:
    """Return the states of ``rows``, locked until the transaction ends."""
    # The fixed order prevents deadlocks between two transactions.
    return [state_of(row) for row in rows.order_by("source", "boot_id").select_for_update()]


@dataclass(frozen=True)
class Loaded:
    """What is stored of one space, for the snapshots of one cycle.

    * ``states``: those of the incarnations that have not ended. For a source without one also the
      incarnation that its snapshot shows, if that one was recorded as ended.
    * ``outdated``: names of instances whose snapshot shows an incarnation that was replaced.
    """

    states: list[SourceState]
    outdated: frozenset[str]


def load_spaces(spaces: Mapping[str, Mapping[str, InstanceSnapshot]]) -> dict[str, Loaded]:
    """Return what is stored of each space, locked until the transaction ends, by its id.

    ``spaces`` has the snapshots of each space by instance name. The call takes two queries at most,
    however many spaces there are.
    """
    states: dict[str, list[SourceState]] = {space_id: [] for space_id in spaces}
    boots: dict[str, str] = {}
    for state in load(living(spaces)):
        states[state.space_id].append(state)
        boots[state.source] = state.boot_id
    shown = {
        (f"{space_id}/{instance}", boot_id): (space_id, instance)
        for space_id, snapshots in spaces.items()
        for instance, boot_id in [*((n, s.boot_id) for n, s in snapshots.items()), (SPACE, SPACE)]
    }
    # Instances that began a new incarnation, or show one that was recorded as ended.
    others = {(source, boot_id) for source, boot_id in shown if boots.get(source) != boot_id}
    outdated: dict[str, set[str]] = {space_id: set() for space_id in spaces}
    # Finds sources and boot ids in any combination, of which some are none of ``others``.
    ended = MeteredSource.objects.filter(
        source__in={source for source, _ in others},
        boot_id__in={boot_id for _, boot_id in others},
        ended_at__isnull=False,
    )
    for state in load(ended) if others else []:
        if (state.source, state.boot_id) not in others:
            continue
        space_id, instance = shown[state.source, state.boot_id]
        if state.source in boots:
            outdated[space_id].add(instance)
        else:
            states[space_id].append(state)
    return {one: Loaded(states[one], frozenset(outdated[one])) for one in spaces}


def save(
    states: Iterable[SourceState], *, ended_at: datetime | None = None, cleanly: bool = False
) -> None:
    """Write the states to their rows; create the rows of new incarnations. Idempotent.

    ``ended_at`` and ``cleanly`` apply to the states that have ended. Ended states are written
    first, because a unique constraint allows each source only one row without an end. All states
    are written by one statement for each 500 of them.
    """
    rows = [
        MeteredSource(
            source=state.source,
            boot_id=state.boot_id,
            ended_at=ended_at if state.ended else None,
            ended_cleanly=cleanly and state.ended,
            **_columns(state),
        )
        for state in sorted(states, key=lambda state: (not state.ended, state.source))
    ]
    MeteredSource.objects.bulk_create(
        rows,
        batch_size=_AT_ONCE,
        update_conflicts=True,
        unique_fields=["source", "boot_id"],
        update_fields=_WRITTEN,
    )


def state_of(row: MeteredSource) -> SourceState:
    """Return the state that is stored in one row."""
    # Keys that an older version did not write keep the default of the dataclass.
    scalars = {name: row.integrals[name] for name in _SCALARS if name in row.integrals}
    counters = {meter: row.integrals[meter] for meter in SOURCE_METERS if meter in row.integrals}
    addresses = {name: AddressState.of_stored(values) for name, values in row.addresses.items()}
    retired = tuple(
        (name, AddressState.of_stored(values)) for name, values in row.integrals.get("retired", [])
    )
    # Totals over addresses; those that an older version did not add up are zero.
    messages = {meter: row.integrals[key] for meter, key in _USED.items() if key in row.integrals}
    used = Counters({**messages, **_known(row.integrals.get("used", {}))})
    return SourceState(
        row.tenant_id,
        row.space_id,
        row.source,
        row.boot_id,
        seq=row.seq,
        sampled_at=row.sampled_at,
        bucket_at=row.bucket_at,
        moved_at=row.moved_at,
        counters=Counters(counters),
        addresses=addresses,
        retired=retired,
        used=used,
        marks=_marks(row.integrals),
        **scalars,
    )


def _marks(integrals: Mapping[str, Any]) -> tuple[Mark, ...]:
    rows = integrals.get("marks", [])
    # Written beside ``marks``, because an older worker reads three values of each of these.
    more = integrals.get("mark_totals", {})
    return tuple(
        Mark(
            datetime.fromisoformat(at),
            Counters({MESSAGES_IN: n_in, MESSAGES_OUT: n_out, **_known(more.get(at, {}))}),
        )
        for at, n_in, n_out in rows
    )


def _known(values: Mapping[str, int]) -> dict[str, int]:
    """Leave out meters of a newer version."""
    return {meter: n for meter, n in values.items() if meter in METERS}


def _others(totals: Counters) -> dict[str, int]:
    return {meter: n for meter, n in totals.items() if n and meter not in _USED}


def _columns(state: SourceState) -> dict[str, Any]:
    integrals = {name: getattr(state, name) for name in _SCALARS}
    integrals |= {meter: state.counters[meter] for meter in SOURCE_METERS}
    integrals["retired"] = [[name, address.stored()] for name, address in state.retired]
    integrals |= {key: state.used[meter] for meter, key in _USED.items()}
    integrals["used"] = _others(state.used)
    integrals["marks"] = [
        [mark.bucket_at.isoformat(), mark.totals[MESSAGES_IN], mark.totals[MESSAGES_OUT]]
        for mark in state.marks
    ]
    integrals["mark_totals"] = {
        mark.bucket_at.isoformat(): _others(mark.totals) for mark in state.marks
    }
    return {
        "space_id": state.space_id,
        "tenant_id": state.tenant_id,
        "seq": state.seq,
        "sampled_at": state.sampled_at,
        "bucket_at": state.bucket_at,
        "moved_at": state.moved_at,
        "integrals": integrals,
        "addresses": {name: address.stored() for name, address in state.addresses.items()},
    }
