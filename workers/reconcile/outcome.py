"""The only words that cross a step's boundary."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Done:
    """The thing is as desired."""

    message: str = ""


@dataclass(frozen=True)
class Wait:
    """Not yet, and that is expected: look again after ``delay_seconds``. Not an error."""

    delay_seconds: float
    reason: str


@dataclass(frozen=True)
class Failed:
    """It will not get there without a change; ``reason`` is a slug, ``message`` is for people."""

    reason: str
    message: str


Outcome = Done | Wait | Failed
