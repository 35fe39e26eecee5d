"""The ordered steps that reconcile one address space, or delete it. Each step is idempotent.

    namespace -> certificates -> credentials -> brokers -> [routers] -> broker addresses and users
    -> [router addresses] -> departures -> [router departures] -> [retirements] -> endpoints
    -> [router probe] -> probe -> instances -> (status, written by the loop)

Only ``standard`` spaces have the steps in brackets. A pass stops at the first step that is not
Done. An instance that is down stops only the steps that need it, so that changes still reach the
others; the step "instances" at the end waits for it. Deletion runs ``TEARDOWN`` instead: first no
client may use the space, then the last sample is taken, then everything is deleted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError
from workers.messaging.management import Refused, Unreachable
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Failed, Outcome, Wait
from workers.reconcile.ports import Ports
from workers.reconcile.steps import (
    broker_addresses,
    brokers,
    certificates,
    credentials,
    departures,
    drain,
    endpoints,
    namespace,
    probe,
    retirements,
    router_addresses,
    router_probe,
    routers,
)
from workers.rollouts import rolling

Ensure = Callable[[ReconcileContext, Ports], Outcome]


@dataclass(frozen=True)
class Step:
    """One step, with the name that operations show."""

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
    # After the addresses: clients lose their permissions before the last sample is taken.
    Step("departures", departures.ensure),
    Step("router departures", router_addresses.forget_departed),
    Step("retirements", retirements.ensure),
    Step("endpoints", endpoints.ensure),
    Step("router probe", router_probe.ensure),
    Step("probe", probe.ensure),
    Step("instances", rolling.settled),
)
# A partial pass changes running instances only, so it begins after the steps that run them.
BROKERED_CHANGES: Sequence[Step] = (
    Step("broker addresses", broker_addresses.ensure),
    Step("departures", departures.ensure),
    Step("probe", probe.ensure),
)
STANDARD_CHANGES: Sequence[Step] = (
    Step("broker addresses", broker_addresses.ensure),
    Step("router addresses", router_addresses.ensure),
    Step("departures", departures.ensure),
    Step("router departures", router_addresses.forget_departed),
    Step("router probe", router_probe.ensure),
    Step("probe", probe.ensure),
)
TEARDOWN: Sequence[Step] = (
    # Routers first: in a standard space they hold all connections of clients.
    Step("router emptying", routers.empty),
    Step("emptying", drain.ensure),
    Step("endpoints", endpoints.remove),
    Step("routers", routers.remove),
    Step("brokers", brokers.remove),
    Step("namespace", namespace.remove),
)


def steps_of(context: ReconcileContext) -> Sequence[Step]:
    """Return the steps that this pass must take, in order."""
    if context.space.deletion_requested_at is not None:
        return TEARDOWN
    if context.partial:
        return BROKERED_CHANGES if context.is_brokered else STANDARD_CHANGES
    return BROKERED if context.is_brokered else STANDARD


def run(context: ReconcileContext, ports: Ports) -> Iterator[tuple[Step, Outcome]]:
    """Run the steps; yield each with its outcome, and end after the first that is not Done."""
    with ports.infra.open(context.namespace) as session:
        inside = replace(ports, open_session=session)
        for step in steps_of(context):
            outcome = _attempt(step, context, inside)
            yield step, outcome
            if not isinstance(outcome, Done):
                return


def _attempt(step: Step, context: ReconcileContext, ports: Ports) -> Outcome:
    """Run one step. Errors that its ports declare become outcomes; any other error propagates."""
    outcome = _outcome(step, context, ports)
    # The instance that is down is most likely the cause of the wait, so it is what we report.
    return rolling.explain(context) if isinstance(outcome, Wait) and context.down else outcome


def _outcome(step: Step, context: ReconcileContext, ports: Ports) -> Outcome:
    try:
        return step.ensure(context, ports)
    except Unreachable:
        return Wait(1, Reason.INSTANCE_UNREACHABLE)  # it may have just stopped or restarted
    except Refused as error:
        # Deleting an address, for instance. The instance may accept it later.
        return Wait(2, Reason.INSTANCE_REFUSES, str(error))
    except InfraError as error:
        if error.retry:
            return Wait(2, error.reason, str(error))
        return Failed(error.reason, str(error))
