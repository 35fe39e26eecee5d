"""The possible outcomes of a reconcile step, and what a step returns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError
from workers.messaging.management import Refused, Unreachable


@dataclass(frozen=True)
class Done:
    """The step has reached the desired state."""

    message: str = ""


@dataclass(frozen=True)
class Wait:
    """Not yet, as expected: run the step again after ``delay_seconds``.

    ``message`` is for people; empty if the reason says everything.
    """

    delay_seconds: float
    reason: Reason
    message: str = ""

    @property
    def text(self) -> str:
        """The reason, with the message if there is one."""
        return f"{self.reason}: {self.message}" if self.message else self.reason


@dataclass(frozen=True)
class Failed:
    """Waiting will not help, only a change; ``message`` is for people."""

    reason: Reason
    message: str


Outcome = Done | Wait | Failed

FindingsT = TypeVar("FindingsT", covariant=True)


@dataclass(frozen=True)
class StepResult(Generic[FindingsT]):
    """What a step returns. ``findings`` are valid with any outcome.

    Later steps run only after Done; the report of the pass needs the findings of every step.
    """

    outcome: Outcome
    findings: FindingsT


# The errors that ports declare. Any other error of a step is a defect, and ends the pass.
PORT_ERRORS = (Unreachable, Refused, InfraError)


def of_error(error: Unreachable | Refused | InfraError) -> Outcome:
    """Return the outcome of a step that such an error of a port has ended."""
    if isinstance(error, Unreachable):
        return Wait(1, Reason.INSTANCE_UNREACHABLE)  # it may have just stopped or restarted
    if isinstance(error, Refused):
        # Deleting an address, for instance. The instance may accept it later.
        return Wait(2, Reason.INSTANCE_REFUSES, str(error))
    if error.retry:
        return Wait(2, error.reason, str(error))
    return Failed(error.reason, str(error))


def attempt(action: Callable[[], Outcome]) -> Outcome:
    """Run a part of a step, so that an error of a port leaves the findings made before it."""
    try:
        return action()
    except PORT_ERRORS as error:
        return of_error(error)
