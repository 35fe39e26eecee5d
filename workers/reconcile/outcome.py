"""The possible outcomes of a reconcile step."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Done:
    """The step has reached the desired state."""

    message: str = ""


@dataclass(frozen=True)
class Wait:
    """Not yet, as expected: run the step again after ``delay_seconds``.

    ``reason`` is a slug, or ``<slug>: <message>``.
    """

    delay_seconds: float
    reason: str


@dataclass(frozen=True)
class Failed:
    """Waiting will not help, only a change; ``reason`` is a slug, ``message`` is for people."""

    reason: str
    message: str


Outcome = Done | Wait | Failed
