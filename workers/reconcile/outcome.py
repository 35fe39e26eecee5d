"""The possible outcomes of a reconcile step, and what a step returns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError
from workers.messaging.management import Refused, Unreachable


@dataclass(frozen=True)
class Done:
    """The step has reached the desired state; ``message`` is for people, and mostly empty."""

    message: str = ""


@dataclass(frozen=True)
class Wait:
    """The desired state is not reached yet, but may be later without a change by anybody.

    ``delay_seconds``: how soon the next pass should run. ``message``: text for people, empty if the
    reason says everything.
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
    """The desired state cannot be reached until somebody changes something.

    ``message`` tells people what. The next pass tries again all the same.
    """

    reason: Reason
    message: str


Outcome = Done | Wait | Failed

FindingsT = TypeVar("FindingsT", covariant=True)


@dataclass(frozen=True)
class StepResult(Generic[FindingsT]):
    """What a step returns: its outcome, and what it found out.

    Later steps get the findings only after Done. The report of the pass takes them with any
    outcome.
    """

    outcome: Outcome
    findings: FindingsT


# The errors that ports declare. Any other error is a defect or a database outage: it ends the pass.
PORT_ERRORS = (Unreachable, Refused, InfraError)


def of_error(error: Unreachable | Refused | InfraError) -> Outcome:
    """Return the outcome of a step that ended with ``error``: Wait if a retry may help."""
    if isinstance(error, Unreachable):
        return Wait(1, Reason.INSTANCE_UNREACHABLE)  # it may have just stopped or restarted
    if isinstance(error, Refused):
        # For instance a request to delete an address. The instance may accept it later.
        return Wait(2, Reason.INSTANCE_REFUSES, str(error))
    if error.retry:
        return Wait(2, error.reason, str(error))
    return Failed(error.reason, str(error))


def attempt(action: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of ``action``; an error of a port becomes an outcome too.

    So a step can return the findings that it made before the error.
    """
    try:
        return action()
    except PORT_ERRORS as error:
        return of_error(error)
