"""Stores the evidence of a close as JSON, so that a killed run does not gather it again."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from plans.invoicing.evidence import (
    CounterReset,
    CrashGap,
    EarlierUsage,
    Evidence,
    Gap,
    TablePin,
    UsageKey,
)
from plans.rating.periods import Period

_Usage = Mapping[UsageKey, int]


def plain(evidence: Evidence) -> dict[str, Any]:
    """Return the evidence as JSON values; ``loaded`` makes it again."""
    return {
        "as_of": evidence.as_of.isoformat(),
        "tables": {name: [pin.table_id, pin.version] for name, pin in evidence.tables.items()},
        "hash": [evidence.hash_version, evidence.sample_hash, evidence.n_samples],
        "doubled": list(evidence.doubled_samples),
        **_usage(evidence.gold, evidence.recomputed),
        "spaces": sorted(evidence.sampled_spaces),
        "pipeline": evidence.pipeline_version,
        "gaps": [asdict(gap) for gap in evidence.gaps],
        "resets": [asdict(reset) for reset in evidence.counter_resets],
        "crashes": [
            [
                gap.source,
                gap.boot_id,
                gap.last_sample_at.isoformat(),
                gap.next_sample_at.isoformat() if gap.next_sample_at else None,
            ]
            for gap in evidence.crash_gaps
        ],
        "earlier": [
            {"span": row.span.plain(), **_usage(row.gold, row.recomputed)}
            for row in evidence.earlier
        ],
    }


def loaded(stored: Mapping[str, Any]) -> Evidence:
    """Return the evidence from the result of ``plain``."""
    hash_version, sample_hash, n_samples = stored["hash"]
    return Evidence(
        as_of=datetime.fromisoformat(stored["as_of"]),
        tables={name: TablePin(*pin) for name, pin in stored["tables"].items()},
        sample_hash=sample_hash,
        n_samples=n_samples,
        gold=_figures(stored["gold"]),
        recomputed=_recomputed(stored),
        sampled_spaces=frozenset(stored["spaces"]),
        pipeline_version=stored["pipeline"],
        gaps=tuple(Gap(**gap) for gap in stored["gaps"]),
        counter_resets=tuple(CounterReset(**reset) for reset in stored["resets"]),
        crash_gaps=tuple(
            CrashGap(
                source,
                boot,
                datetime.fromisoformat(last),
                datetime.fromisoformat(following) if following else None,
            )
            for source, boot, last, following in stored["crashes"]
        ),
        hash_version=hash_version,
        doubled_samples=tuple(stored["doubled"]),
        earlier=tuple(
            EarlierUsage(Period.from_plain(row["span"]), _figures(row["gold"]), _recomputed(row))
            for row in stored["earlier"]
        ),
    )


def _usage(gold: _Usage, recomputed: _Usage) -> dict[str, Any]:
    # Normally both are equal, and then one of them is stored.
    again = None if dict(recomputed) == dict(gold) else _rows(recomputed)
    return {"gold": _rows(gold), "recomputed": again}


def _rows(usage: _Usage) -> list[list[str | int]]:
    return [[*key, quantity] for key, quantity in sorted(usage.items())]


def _figures(rows: Iterable[list[Any]]) -> dict[UsageKey, int]:
    return {UsageKey(*key): quantity for *key, quantity in rows}


def _recomputed(stored: Mapping[str, Any]) -> dict[UsageKey, int]:
    return _figures(stored["gold" if stored["recomputed"] is None else "recomputed"])
