"""The gauges of single brokers, routers and probes in /metrics, for operators.

The values are those of the newest stored sample. Counts cover all instances. A gauge with the label
``space`` covers only the ``LARGEST`` instances or spaces that are worst off, so the number of
series is bounded. ``controlplane.gauges`` yields these gauges with its own.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import connection
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily

from controlplane.core.reasons import Reason

LARGEST = 50  # instances or spaces in one metric
_NEARLY_FULL = 0.9  # of a limit

# One row for each running instance of a kind. A name of an instance cannot hold a slash.
_INSTANCES = """
SELECT source.space_id, split_part(source.source, '/', 2) AS instance,
    source.integrals -> 'health' AS health
FROM workers_meteredsource source
WHERE source.ended_at IS NULL AND source.integrals -> 'health' IS NOT NULL
    AND source.source LIKE %(kind)s
"""
_SHARES = f"""
SELECT space_id, instance, (health ->> %(used)s)::float8, (health ->> %(limit)s)::float8
FROM ({_INSTANCES}) AS found
WHERE health ->> %(used)s IS NOT NULL AND (health ->> %(limit)s)::float8 > 0
"""
_FULLEST = f"""
SELECT * FROM ({_SHARES}) AS share (space_id, instance, used, most)
ORDER BY used / most DESC, space_id, instance LIMIT {LARGEST}
"""
_FULL = f"""
SELECT count(*) FROM ({_SHARES}) AS share (space_id, instance, used, most)
WHERE used >= {_NEARLY_FULL} * most
"""
# A router reaches all others of its space, or the mesh is incomplete.
_MESHES = f"""
SELECT found.space_id, instance, (health ->> 'neighbors')::int AS reached,
    (plan.definition ->> 'routers')::int - 1 AS expected
FROM ({_INSTANCES}) AS found
JOIN tenants_addressspace space ON space.id = found.space_id AND space.deleted_at IS NULL
JOIN plans_spaceplan plan ON plan.id = space.space_plan_id
WHERE health ->> 'neighbors' IS NOT NULL
"""
_LEAST_MESHED = f"""
SELECT * FROM ({_MESHES}) AS mesh
ORDER BY expected - reached DESC, space_id, instance LIMIT {LARGEST}
"""
_INCOMPLETE = f"SELECT count(*) FROM ({_MESHES}) AS mesh WHERE reached < expected"
_BUSIEST = f"""
SELECT space_id, instance, COALESCE((health ->> 'links')::bigint, 0),
    COALESCE((health ->> 'undelivered')::bigint, 0)
FROM ({_INSTANCES}) AS found
ORDER BY 4 DESC, 3 DESC, space_id, instance LIMIT {LARGEST}
"""
_PROBES = f"""
SELECT id, EXTRACT(EPOCH FROM %(now)s - probed_at)
FROM tenants_addressspace
WHERE deleted_at IS NULL AND phase = 'Active' AND probed_at IS NOT NULL
ORDER BY probed_at, id LIMIT {LARGEST}
"""
_FAILING = """
SELECT count(*) FROM tenants_addressspace, jsonb_array_elements(conditions) AS condition
WHERE deleted_at IS NULL AND condition ->> 'type' = 'Ready'
    AND condition ->> 'status' = 'False' AND condition ->> 'reason' = %(reason)s
"""
_BROKERS, _ROUTERS = {"kind": "%/broker-%"}, {"kind": "%/router-%"}
_MEMORY = {**_BROKERS, "used": "memory_used", "limit": "memory_limit"}
_DISK = {**_BROKERS, "used": "disk_used", "limit": "disk_limit"}


def families() -> Iterator[GaugeMetricFamily]:
    """Yield the gauges of this module with their present values, read by nine queries."""
    yield from _brokers()
    yield from _routers()
    yield from _probes()


def _brokers() -> Iterator[GaugeMetricFamily]:
    yield from _pair(
        _FULLEST,
        _MEMORY,
        ("waypost_broker_memory_used_bytes", "Memory that messages take, of the fullest brokers"),
        ("waypost_broker_memory_limit_bytes", "Memory that messages may take, of these brokers"),
    )
    yield from _pair(
        _FULLEST,
        _DISK,
        ("waypost_broker_disk_used_ratio", "Used share of the volume, of the fullest brokers"),
        ("waypost_broker_disk_limit_ratio", "Share at which these brokers accept nothing more"),
    )
    yield _count(
        _FULL,
        _MEMORY,
        "waypost_brokers_memory_nearly_full",
        "Brokers whose messages take nine tenths of their memory, or more",
    )
    yield _count(
        _FULL,
        _DISK,
        "waypost_brokers_disk_nearly_full",
        "Brokers whose volume is filled to nine tenths of its limit, or more",
    )


def _routers() -> Iterator[GaugeMetricFamily]:
    yield from _pair(
        _LEAST_MESHED,
        _ROUTERS,
        ("waypost_router_neighbors", "Other routers that a router reaches, where most are missing"),
        ("waypost_router_neighbors_expected", "Other routers of the space, by its plan"),
    )
    yield _count(
        _INCOMPLETE,
        _ROUTERS,
        "waypost_routers_mesh_incomplete",
        "Routers that do not reach all others of their space",
    )
    yield from _pair(
        _BUSIEST,
        _ROUTERS,
        ("waypost_router_links", "Open links of the routers that hold the most messages"),
        ("waypost_router_undelivered", "Messages that these routers hold for slow receivers"),
    )


def _probes() -> Iterator[GaugeMetricFamily]:
    age = GaugeMetricFamily(
        "waypost_probe_age_seconds",
        f"Age of the newest probe, of the {LARGEST} Active spaces where it is oldest",
        labels=["space"],
    )
    for space_id, seconds in _rows(_PROBES, {"now": timezone.now()}):
        age.add_metric([space_id], float(seconds))
    yield age
    yield _count(
        _FAILING,
        {"reason": Reason.PROBE_FAILED},
        "waypost_spaces_probe_failing",
        "Spaces that are not Ready because a probe message did not pass",
    )


def _pair(
    query: str, values: dict[str, str], first: tuple[str, str], second: tuple[str, str]
) -> Iterator[GaugeMetricFamily]:
    """Yield two gauges of the same instances: columns 3 and 4 of the query."""
    gauges = [
        GaugeMetricFamily(name, text, labels=["space", "instance"])
        for name, text in (first, second)
    ]
    for space_id, instance, *numbers in _rows(query, values):
        for gauge, number in zip(gauges, numbers, strict=True):
            gauge.add_metric([space_id, instance], number)
    yield from gauges


def _count(query: str, values: dict[str, str], name: str, text: str) -> GaugeMetricFamily:
    ((number,),) = _rows(query, values)
    return GaugeMetricFamily(name, text, value=number)


def _rows(query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
