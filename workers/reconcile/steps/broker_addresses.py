"""Apply addresses, limits, users and permissions to the running brokers.

* In a whole pass the step ``brokers`` has written the files. This step makes each broker reload
  them, creates what is missing, and reads the changed addresses back.
* If a user or the space has changed, or an instance has restarted, the step reads every address
  back, and disconnects clients that have links without permission. A full pass always does so. A
  full pass also deletes the addresses that no row asks for and that hold no messages.
* In a partial pass the step applies the changed addresses alone, by requests.

The step ``departures`` deletes the addresses whose deletion is requested.
"""

from collections.abc import Collection

from controlplane.core.reasons import Reason
from tenants.models import Broker
from workers.messaging.brokers import desired
from workers.messaging.brokers.desired import DesiredBroker
from workers.messaging.management import Refused
from workers.messaging.observed import ManagementTarget
from workers.reconcile import desired_brokers
from workers.reconcile.findings import BrokerAddresses, Instances, Problem
from workers.reconcile.management import ManagedBrokers
from workers.reconcile.outcome import Done, Outcome, StepResult, Wait, attempt
from workers.reconcile.ports import Brokers
from workers.reconcile.space_keys import SpaceKeys
from workers.reconcile.space_rows import SpaceRows

_IMPOSSIBLE = Problem(
    Reason.ADDRESS_NOT_POSSIBLE,
    "Brokers cannot hold an address of this name. Delete it and choose a name without control "
    "characters, `::` and `${` that does not begin with `$` or `activemq.`.",
    final=True,
)


def ensure(
    rows: SpaceRows, brokers: ManagedBrokers, keys: SpaceKeys, instances: Instances
) -> StepResult[BrokerAddresses]:
    """Make every broker that is up hold what the rows ask for; the outcome is Wait until then.

    An address that no broker can hold is a final problem in the findings, and nothing waits for it.
    """
    problems = {
        address.id: _IMPOSSIBLE
        for address in rows.wanted_addresses
        if not desired.is_possible(address.address)
    }
    applied: dict[str, DesiredBroker] = {}

    def converge() -> Outcome:
        pending: dict[str, str] = {}
        for broker in instances.list_up(rows):
            applied[broker.name] = desired_brokers.build(rows, keys, broker)
            everything = rows.full or instances.holds_unknown(rows) or _has_new_logins(rows)
            pending |= _converge(rows, brokers, broker, applied[broker.name], everything=everything)
        if pending:
            name, reason = min(pending.items())
            return Wait(0.3, Reason.SETTINGS_PENDING, f"{name}: {reason}")
        return Done()

    # The problems are known even if a broker does not answer.
    return StepResult(attempt(converge), BrokerAddresses(applied, problems))


def _converge(
    rows: SpaceRows,
    brokers: ManagedBrokers,
    broker: Broker,
    wanted: DesiredBroker,
    *,
    everything: bool,
) -> dict[str, str]:
    """Apply ``wanted`` to one broker; return {address or broker: why it is not as wanted yet}.

    ``everything``: in a whole pass, read back also what has not changed, and disconnect clients
    without permission.
    """
    target, driver = brokers.targets.of(broker.name), brokers.driver
    if rows.partial:
        return driver.apply(target, wanted).pending if wanted.addresses else {}
    # A subscription is a queue of its topic, so the topic is what has changed on the broker.
    changed = {(address.topic or address).address for address in rows.changed_addresses}
    try:
        only: Collection[str] | None = None if everything else changed
        pending = driver.converge(target, wanted, only=only).pending
    except Refused as error:
        # Go on all the same: clients must lose withdrawn permissions now.
        pending = {broker.name: str(error)}
    if rows.departed:
        # The reload, or a restart, may have read a file from before they were deleted.
        driver.remove(target, sorted(rows.departed))
    if everything:
        driver.disconnect_clients(target, wanted)
    if rows.full:
        _remove_unknown(rows, driver, target, wanted)
    return dict(pending)


def _remove_unknown(
    rows: SpaceRows, driver: Brokers, target: ManagementTarget, wanted: DesiredBroker
) -> None:
    """Delete empty addresses that no row asks for; take all permissions on those with messages.

    An address that holds messages stays, because messages are deleted only on request. Such an
    address has no row if, for instance, the database was restored to an earlier time. Then nobody
    meters it, and the broker may still have stored permissions on it.

    Addresses whose deletion is requested stay for now: ``departures`` deletes them after their last
    sample.
    """
    leaving = {address.address for address in rows.leaving_addresses}
    unknown = driver.list_unknown(target, wanted)
    if orphans := set(unknown.empty) - leaving:
        driver.remove(target, orphans)
    if kept := set(unknown.holding) - leaving:
        driver.withdraw(target, kept)


def _has_new_logins(rows: SpaceRows) -> bool:
    """Return whether a user or the space has a pending change.

    A change of the space may be that sending was withdrawn or restored.
    """
    return rows.space.generation > rows.space.observed_generation or any(
        user.generation > user.observed_generation for user in rows.users
    )
