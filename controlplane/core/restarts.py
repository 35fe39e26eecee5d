"""Says in one sentence which instances an accepted change restarts.

API, command and portal show it. ``Operation.restarts`` has the names, and ``tenants.plan_restarts``
finds those of a change of plan.
"""

from collections.abc import Sequence

NONE: Sequence[str] = ()


def sentence(names: Sequence[str] | None) -> str:
    """Return the sentence for the names of the instances.

    An empty list means that nothing restarts. None means that it is not known: the sentence is
    empty then.
    """
    if names is None:
        return ""
    if not names:
        return "Nothing restarts."
    if len(names) == 1:
        return f"{names[0]} restarts. Its clients reconnect after some seconds."
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        f"{listed} restart, one broker and one router at a time. Their clients reconnect after "
        "some seconds."
    )
