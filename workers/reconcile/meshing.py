"""The condition ``Routers``: whether the routers of a space form one mesh.

The condition is not part of Ready, because rollouts, metering and addresses depend on Ready.
Without a complete mesh each router still serves its own clients, and queues still connect clients
of different routers through their brokers.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from controlplane.core import phases
from controlplane.core.phases import Condition
from controlplane.core.reasons import Reason
from plans.catalog import publishing
from workers.reconcile.report import PassReport
from workers.reconcile.space_rows import SpaceRows

# After a restart the peers of a router need an idle timeout (16 s), the lifetime of its old DNS
# entry (30 s in a cluster) and a pause before they connect again. Until then nothing is wrong.
_PATIENCE = timedelta(seconds=60)
_MOST_SHOWN = 3  # routers that the message names


def find_unjoined(
    names: Collection[str], down: Collection[str], seen: Mapping[str, Mapping[str, str]]
) -> Sequence[str] | None:
    """Return a text for each pair of a router and a peer that the router does not reach.

    None if no such pair is known and not all routers were read.

    ``names``: all routers; ``seen``: router that was read -> peer that it cannot connect to ->
    reason. Peers that are down are left out, because the pass already waits for them.
    """
    found = [
        f"{name} does not reach {peer} ({reason})"
        for name, peers in seen.items()
        for peer, reason in peers.items()
        if peer not in down
    ]
    is_whole = set(seen) == set(names)
    return found if found or is_whole else None


def with_routers(
    rows: SpaceRows, report: PassReport, conditions: Sequence[Condition]
) -> list[Condition]:
    """Return the conditions with ``Routers``: whether all routers of the plan form one mesh.

    Without ``Routers`` in a brokered space, and if the plan has one router. Unchanged if the pass
    does not know whether they form a mesh (``report.unjoined`` is None).
    """
    wanted = publishing.space_plan_definition(rows.space.space_plan).routers
    if rows.is_brokered or wanted == 1:
        return [condition for condition in conditions if condition["type"] != phases.ROUTERS]
    if not rows.has_mesh:
        message = f"The development router runs alone; the plan has {wanted} routers."
        return _with(conditions, "False", Reason.ONE_ONLY, message, rows.now)
    if report.unjoined is None:
        return list(conditions)
    if not report.unjoined:
        message = f"All {wanted} routers are connected to each other."
        return _with(conditions, "True", Reason.AS_PLANNED, message, rows.now)
    unjoined = "; ".join(report.unjoined[:_MOST_SHOWN])
    if len(report.unjoined) > _MOST_SHOWN:
        unjoined += f"; and {len(report.unjoined) - _MOST_SHOWN} more"
    if not _is_late(rows, report, phases.find_condition(conditions, phases.ROUTERS)):
        message = f"{unjoined}. Routers that have just started connect within a minute."
        return _with(conditions, "Unknown", Reason.MESH_FORMING, message, rows.now)
    message = (
        f"{unjoined}. Messages that clients send through one of them may not reach clients of the "
        "other, except through queues. Check the network between them (network policies, "
        "firewalls) and the logs of both routers."
    )
    return _with(conditions, "False", Reason.MESH_INCOMPLETE, message, rows.now)


def _with(
    conditions: Sequence[Condition],
    status: phases.Status,
    reason: Reason,
    message: str,
    now: datetime,
) -> list[Condition]:
    new = phases.build_condition(phases.ROUTERS, status, reason, message, now)
    return phases.with_condition(conditions, new)


def _is_late(rows: SpaceRows, report: PassReport, known: Condition | None) -> bool:
    """Return whether the mesh has been incomplete for longer than a start takes (``_PATIENCE``).

    ``known`` is the condition as of the last pass. A pass that finds the mesh incomplete for the
    first time is never late. Once the condition has reported an incomplete mesh, every pass is.
    """
    if known is None or known["status"] == "True":
        return False
    if known["reason"] == Reason.MESH_INCOMPLETE:
        return True  # once reported, a restart of one router does not take the report back
    since = datetime.fromisoformat(known["since"])
    return rows.now - max(since, report.rolled_at or rows.space.rolled_at or since) >= _PATIENCE
