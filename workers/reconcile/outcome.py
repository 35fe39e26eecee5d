"""The possible outcomes of a reconcile step."""

from dataclasses import dataclass

from controlplane.core.reasons import Reason


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
