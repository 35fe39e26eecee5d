"""The ordered steps of one address space, and of its end. Each step is idempotent.

    namespace -> certificates -> credentials -> brokers -> [routers] -> broker addresses and users
    -> [router addresses] -> departures -> [router departures] -> [retirements] -> endpoints
    -> [router probe] -> probe -> instances -> (status, written by the loop)

The steps in brackets are those of ``standard`` spaces only. A pass stops at the first step that is
not Done. An instance that is down stops only what needs it; the step "instances" waits for it, so
that changes reach the others meanwhile. Deletion runs ``TEARDOWN`` instead, which is the same order
backwards.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from workers.infra.base import InfraError
from workers.messaging.management import Unreachable
from workers.reconcile import rolling
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Failed, Outcome, Wait
from workers.reconcile.steps import (
    broker_addresses,
    brokers,
    certificates,
    credentials,
    departures,
    emptying,
    endpoints,
    namespace,
    probe,
    retirements,
    router_addresses,
    router_probe,
    routers,
)
from workers.reconcile.work import Work

Ensure = Callable[[Work, Doors], Outcome]


@dataclass(frozen=True)
class Step:
    """One step under the name that operations show."""

    name: str
    ensure: Ensure


BROKERED: Sequence[Step] = (
    Step("namespace", namespace.ensure),
    Step("certificates", certificates.ensure),
    Step("credentials", credentials.ensure),
    Step("brokers", brokers.ensure),
    Step("broker addresses", broker_addresses.ensure),
    Step("departures", departures.ensure),
    Step("endpoints", endpoints.ensure),
    Step("probe", probe.ensure),
    Step("instances", rolling.settled),
)
STANDARD: Sequence[Step] = (
    Step("namespace", namespace.ensure),
    Step("certificates", certificates.ensure),
    Step("credentials", credentials.ensure),
    Step("brokers", brokers.ensure),
    Step("routers", routers.ensure),
    Step("broker addresses", broker_addresses.ensure),
    Step("router addresses", router_addresses.ensure),
    Step("departures", departures.ensure),
    Step("router departures", router_addresses.forget_departed),
    Step("retirements", retirements.ensure),
    Step("endpoints", endpoints.ensure),
    Step("router probe", router_probe.ensure),
    Step("probe", probe.ensure),
    Step("instances", rolling.settled),
)
TEARDOWN: Sequence[Step] = (
    Step("router emptying", routers.empty),
    Step("emptying", emptying.ensure),
    Step("endpoints", endpoints.remove),
    Step("routers", routers.remove),
    Step("brokers", brokers.remove),
    Step("namespace", namespace.remove),
)


def steps_of(work: Work) -> Sequence[Step]:
    """Return the steps that this pass must take, in order."""
    if work.space.deletion_requested_at is not None:
        return TEARDOWN
    return BROKERED if work.is_brokered else STANDARD


def run(work: Work, doors: Doors) -> Iterator[tuple[Step, Outcome]]:
    """Yield each step with its outcome; ends after the first that is not Done."""
    for step in steps_of(work):
        outcome = _attempt(step, work, doors)
        yield step, outcome
        if not isinstance(outcome, Done):
            return


def _attempt(step: Step, work: Work, doors: Doors) -> Outcome:
    """Run one step; what its doors expect to happen becomes an outcome, anything else rises.

    Whatever waits while an instance is down is told as waiting for that instance.
    """
    outcome = _outcome(step, work, doors)
    return rolling.explain(work) if isinstance(outcome, Wait) and work.down else outcome


def _outcome(step: Step, work: Work, doors: Doors) -> Outcome:
    try:
        return step.ensure(work, doors)
    except Unreachable:
        return Wait(1, "InstanceUnreachable")
    except InfraError as error:
        if error.retry:
            return Wait(2, f"{error.reason}: {error}")
        return Failed(error.reason, str(error))
