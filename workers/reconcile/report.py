"""The report of a pass: the state of each step, and the findings that are stored at the end.

``PassRunner`` collects the report. At the end of the pass, ``status`` (with ``meshing``) stores the
status of the rows from it, and ``loop`` the time of the next pass. Steps do not see the report:
they get findings as parameters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from workers.reconcile.findings import (
    BrokerAddresses,
    BrokerInstances,
    Certificates,
    CertificateState,
    ClosedRouters,
    Departures,
    Down,
    Findings,
    Instances,
    LastSample,
    OpenNamespace,
    ProbedBrokers,
    Problem,
    ReachedEndpoint,
    RouterAddresses,
)
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.space_keys import SpaceKeys

StepState = dict[str, str]


@dataclass(frozen=True)
class PassReport:
    """What a pass has found so far. An immutable value: each step gives a new report.

    The module ``findings`` describes the types of the fields. ``outcome`` is that of the last step.
    None in another field stands for a step that the pass did not reach, or that had nothing to
    report.
    """

    outcome: Outcome = field(default_factory=Done)
    steps: Sequence[StepState] = ()  # as operations show them: name, state and message
    certificate: CertificateState | None = None
    instances: Instances | None = None
    problems: Mapping[str, Problem] = field(default_factory=dict)  # by address id
    unjoined: Sequence[str] | None = None
    gone: frozenset[str] = frozenset()  # ids of addresses that no broker holds any more
    endpoint_trouble: str | None = None
    probed: bool = False

    @property
    def down(self) -> Mapping[str, Down]:
        """The instances that are down: {instance name: why}; empty if none is known to be down."""
        return self.instances.down if self.instances else {}

    @property
    def boots(self) -> Mapping[str, str]:
        """The incarnations: {instance name: boot id}; empty if the pass looked at no instances."""
        return self.instances.boots if self.instances else {}

    @property
    def rolled_at(self) -> datetime | None:
        """When a pass last restarted an instance; None if never, or if that is not known."""
        return self.instances.rolled_at if self.instances else None

    def with_findings(self, findings: Findings) -> "PassReport":
        """Return a report that includes the findings of one more step.

        Findings that only later steps need are left out.
        """
        match findings:
            case Certificates():
                return replace(self, certificate=findings.public)
            case BrokerInstances():
                return replace(self, instances=findings.found)
            case Instances():
                return replace(self, instances=findings)
            case BrokerAddresses():
                return replace(self, problems=findings.problems)
            case RouterAddresses():
                return replace(self, problems=findings.problems, unjoined=findings.unjoined)
            case Departures():
                return replace(self, gone=findings.gone)
            case ReachedEndpoint():
                return replace(self, endpoint_trouble=findings.trouble)
            case ProbedBrokers():
                return replace(self, probed=findings.passed)
            case OpenNamespace() | SpaceKeys() | ClosedRouters() | LastSample() | None:
                return self  # only later steps need them
            case _:
                assert_never(findings)

    def with_step(self, name: str, outcome: Outcome) -> "PassReport":
        """Return a report with one more step, in the form that operations show.

        ``outcome`` also becomes the outcome of the report.
        """
        if isinstance(outcome, Done):
            state = {"name": name, "state": "done", "message": outcome.message}
        elif isinstance(outcome, Wait):
            state = {"name": name, "state": "waiting", "message": outcome.text}
        else:
            state = {"name": name, "state": "failed", "message": outcome.message}
        return replace(self, outcome=outcome, steps=[*self.steps, state])
