"""Run the steps of one pass one after the other, and collect the report of the pass."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from workers.reconcile import rolling
from workers.reconcile.findings import Findings
from workers.reconcile.outcome import PORT_ERRORS, Done, Outcome, StepResult, Wait, of_error
from workers.reconcile.report import PassReport

P = ParamSpec("P")
F = TypeVar("F", bound=Findings)


class Stopped(Exception):
    """Raised by ``PassRunner.take`` after a step that was not Done; the steps after it do not run.

    The report of the pass says why.
    """


class PassRunner:
    """Runs the steps of one pass, and collects their outcomes and findings in ``report``.

    ``after_step`` is called after each step. An error that it raises ends the pass.
    """

    def __init__(self, after_step: Callable[[], None]) -> None:
        self._after_step = after_step
        self.report = PassReport()

    def take(
        self, name: str, step: Callable[P, StepResult[F]], *args: P.args, **kwargs: P.kwargs
    ) -> F:
        """Run one step under the name that operations show; return its findings.

        Errors that ports declare (``PORT_ERRORS``) become the outcome of the step. Any other error
        propagates, and so does one of ``after_step``. If the findings so far include an instance
        that is down, a step that waits is reported as waiting for that instance.

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
            # Most likely the step waits because this instance is down.
            outcome = rolling.explain(instances)
        self.report = self.report.with_step(name, outcome)
        # After each step: the loop extends the lease here, and ends the pass if it has lost it.
        self._after_step()
        if not isinstance(outcome, Done):
            raise Stopped
        return result.findings
