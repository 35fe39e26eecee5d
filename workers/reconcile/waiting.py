"""The wait that ended the last pass over a space, as it is stored in the space's row."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tenants.models import AddressSpace


@dataclass(frozen=True)
class Waiting:
    """What a space waits for. Passes that end with equal values are one wait (``loop.pause``).

    * ``generation``: the generation of the space.
    * ``step``, ``reason``: the step that returned the wait, and its reason.
    * ``instances``: the names of the instances that are down, sorted.
    * ``partial``: the wait ended a partial pass, and another partial pass may end the wait.

    The names of the fields are keys of the stored JSON.
    """

    generation: int
    step: str
    reason: str
    instances: Sequence[str] = ()
    partial: bool = False

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "instances": list(self.instances)}


def of(space: AddressSpace) -> Waiting | None:
    """Return what the last pass over ``space`` waited for; None if it did not end with a wait."""
    stored = space.waiting
    if stored is None:
        return None
    return Waiting(
        generation=int(stored["generation"]),
        step=str(stored["step"]),
        reason=str(stored["reason"]),
        # JSON has no tuples, and a list would never equal the tuple of the next wait.
        instances=tuple(stored["instances"]),
        partial=bool(stored["partial"]),
    )
