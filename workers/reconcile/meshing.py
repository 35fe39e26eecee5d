"""Whether the routers of a space are one mesh, told in the condition ``Routers``.

Apart from Ready, which rollouts, metering and the space's addresses go by: each router serves its
own clients meanwhile, and queues lead from one to another by their brokers.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from controlplane.core import phases
from controlplane.core.phases import Condition
from plans import catalog
from workers.reconcile import desired_routers
from workers.reconcile.work import Work

# A router that restarts is found by its mates again within an idle timeout (16 s), a name that is
# remembered (30 s in a cluster) and the pause before they dial: until then nothing is wrong.
_PATIENCE = timedelta(seconds=60)
_MOST_TOLD = 3


def find_unjoined(work: Work, seen: Mapping[str, Mapping[str, str]]) -> Sequence[str] | None:
    """Return who does not reach whom, in words; None where it is not known of all routers.

    ``seen``: router -> mate that it dials in vain -> why. A mate that is down is told as such.
    """
    found = [
        f"{name} does not reach {mate} ({words})"
        for name, mates in seen.items()
        for mate, words in mates.items()
        if mate not in work.down
    ]
    is_whole = set(seen) == set(desired_routers.list_names(work))
    return found if found or is_whole else None


def with_routers(work: Work, conditions: Sequence[Condition]) -> list[Condition]:
    """Return the conditions with one that says whether the routers are the plan's, and joined.

    Unchanged where this pass did not see them all; none where one router is all there is to be.
    """
    wanted = catalog.space_plan_definition(work.space.space_plan).routers
    if work.is_brokered or wanted == 1:
        return [each for each in conditions if each["type"] != phases.ROUTERS]
    if not work.has_mesh:
        message = f"The development router runs alone; the plan has {wanted} routers."
        return _with(conditions, "False", "OneOnly", message, work.now)
    if work.unjoined is None:
        return list(conditions)
    if not work.unjoined:
        message = f"There are {wanted} routers, each joined to each other."
        return _with(conditions, "True", "AsPlanned", message, work.now)
    told = _words(work.unjoined)
    if not _is_late(work, phases.find_condition(conditions, phases.ROUTERS)):
        message = f"{told}. Routers that just started join within a minute."
        return _with(conditions, "Unknown", "MeshForming", message, work.now)
    message = (
        f"{told}. What clients send through one of them may not reach clients at the other, but "
        "for queues. Look at what lies between them: network policies, firewalls, the routers' "
        "own logs."
    )
    return _with(conditions, "False", phases.MESH_INCOMPLETE, message, work.now)


def _with(
    conditions: Sequence[Condition],
    status: phases.Status,
    reason: str,
    message: str,
    now: datetime,
) -> list[Condition]:
    new = phases.build_condition(phases.ROUTERS, status, reason, message, now)
    return phases.with_condition(conditions, new)


def _words(unjoined: Sequence[str]) -> str:
    more = len(unjoined) - _MOST_TOLD
    told = "; ".join(unjoined[:_MOST_TOLD])
    return f"{told}; and {more} more" if more > 0 else told


def _is_late(work: Work, known: Condition | None) -> bool:
    """Return whether they have been apart for longer than starts take, as ``known`` has it."""
    if known is None or known["status"] == "True":
        return False
    if known["reason"] == phases.MESH_INCOMPLETE:
        return True
    since = datetime.fromisoformat(known["since"])
    return work.now - max(since, work.space.rolled_at or since) >= _PATIENCE
