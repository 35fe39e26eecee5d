"""The possible outcomes of a reconcile step, and what a step returns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from controlplane.core.causes import Cause
from controlplane.core.reasons import Reason
from workers.infra.base import InfraError
from workers.messaging.management import Refused, Unreachable

# For these reasons the text of an error names hosts and objects of the cluster, or other
# installations. So only staff read it.
_OF_CLUSTER = frozenset(
    {
        Reason.CLUSTER_BUSY,
        Reason.CLUSTER_CONFLICT,
        Reason.CLUSTER_UNREACHABLE,
        Reason.CLUSTER_CREDENTIALS,
        Reason.CLUSTER_FORBIDDEN,
        Reason.CLUSTER_UNKNOWN,
        Reason.CLUSTER_QUOTA,
        Reason.CLUSTER_REFUSED,
        Reason.QUOTA_PENDING,
        Reason.RIGHTS_PENDING,
        Reason.ADMISSION_REFUSED,
        Reason.ADMISSION_UNANSWERED,
        Reason.ADMISSION_ADDS,
        Reason.POD_SECURITY,
        Reason.OBJECT_REFUSED,
        Reason.OBJECT_UNREADABLE,
        Reason.KIND_MISSING,
        Reason.FIELD_CONFLICT,
        Reason.LABELS_MISSING,
        Reason.BINDING_OF_ANOTHER,
        Reason.NAMESPACE_TAKEN,
        Reason.OTHER_INSTALLATION,
        Reason.NAMESPACE_ENDING,
        Reason.NAMESPACE_STUCK,
        Reason.PULL_SECRET_MISSING,
        Reason.PULL_SECRET_UNFIT,
    }
)
_HIDDEN = (
    "The platform that runs this space does not do what Waypost requests. Your operator sees why."
)


@dataclass(frozen=True)
class Done:
    """The step has reached the desired state; ``message`` is for people, and mostly empty."""

    message: str = ""


@dataclass(frozen=True)
class Wait:
    """The desired state is not reached yet, but may be later without a change by anybody.

    * ``delay_seconds``: how soon the next pass should run.
    * ``message``: text for people; empty if the reason says everything.
    * ``detail``: what staff read in place of ``message``; empty if they read the same.
    * ``cause``: why an instance is down.
    """

    delay_seconds: float
    reason: Reason
    message: str = ""
    detail: str = ""
    cause: Cause = Cause.NONE

    @property
    def text(self) -> str:
        """The reason, with the message if there is one."""
        return f"{self.reason}: {self.message}" if self.message else self.reason


@dataclass(frozen=True)
class Failed:
    """The desired state cannot be reached until somebody changes something.

    ``message`` says what to change. Staff read ``detail`` in its place, if it is not empty. The
    loop tries again all the same.
    """

    reason: Reason
    message: str
    detail: str = ""


Outcome = Done | Wait | Failed

FindingsT = TypeVar("FindingsT", covariant=True)


@dataclass(frozen=True)
class StepResult(Generic[FindingsT]):
    """What a step returns: its outcome, and its findings.

    Later steps get the findings only after Done. The report of the pass takes them with any
    outcome.
    """

    outcome: Outcome
    findings: FindingsT


# The errors that ports declare. Any other error is a defect or a database outage: it ends the pass.
PORT_ERRORS = (Unreachable, Refused, InfraError)


def of_error(error: Unreachable | Refused | InfraError) -> Outcome:
    """Return the outcome of a step that raised ``error``: Wait if a retry may help, else Failed.

    A text that names parts of the cluster becomes ``detail``, which only staff read.
    """
    if isinstance(error, Unreachable):
        return Wait(1, Reason.INSTANCE_UNREACHABLE)  # it may have just stopped or restarted
    if isinstance(error, Refused):
        # For instance a request to delete an address. The instance may accept it later.
        return Wait(2, Reason.INSTANCE_REFUSES, str(error))
    if error.reason not in _OF_CLUSTER:
        words, detail = str(error), ""
    else:
        words, detail = _HIDDEN, str(error)
    if error.retry:
        return Wait(2, error.reason, words, detail)
    return Failed(error.reason, words, detail)


def attempt(action: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of ``action``; one of ``PORT_ERRORS`` becomes an outcome too.

    So a step can return the findings that it made before the error. Other errors propagate.
    """
    try:
        return action()
    except PORT_ERRORS as error:
        return of_error(error)
