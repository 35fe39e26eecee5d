"""Runs the steps of one pass one after the other, and collects the report of the pass."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from workers.reconcile import rolling
from workers.reconcile.findings import Findings
from workers.reconcile.outcome import PORT_ERRORS, Done, Outcome, StepResult, Wait, of_error
from workers.reconcile.report import PassReport

P = ParamSpec("P")
F = TypeVar("F", bound=Findings)


class Stopped(Exception):
    """A step was not Done, so the steps after it do not run. The report says why."""


class PassRunner:
    """Runs steps and keeps their report. ``after_step`` may raise to end the pass unrecorded."""

    def __init__(self, after_step: Callable[[], None]) -> None:
        self._after_step = after_step
        self.report = PassReport()

    def take(
        self, name: str, step: Callable[P, StepResult[F]], *args: P.args, **kwargs: P.kwargs
    ) -> F:
        """Run one step under the name that operations show; return its findings.

        Errors that the ports of a step declare become its outcome; any other error propagates.

        Raises:
            Stopped: the outcome is not Done.
        """
        try:
            result = step(*args, **kwargs)
        except PORT_ERRORS as error:
            outcome: Outcome = of_error(error)
        else:
            outcome = result.outcome
            self.report = self.report.with_findings(result.findings)
        instances = self.report.instances
        if isinstance(outcome, Wait) and instances is not None and instances.down:
            # The instance that is down is most likely the cause of the wait, so we report it.
            outcome = rolling.explain(instances)
        self.report = self.report.with_step(name, outcome)
        # After each step, because a step may take longer than the lease of the space.
        self._after_step()
        if not isinstance(outcome, Done):
            raise Stopped
        return result.findings
