"""What the steps of a pass find out. A later step takes as parameters the findings that it needs.

So mypy refuses a pass that runs two such steps in the wrong order (``address_space``). The report
of the pass (``report``) collects those findings that are stored at the end of the pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from controlplane.core.causes import Cause
from controlplane.core.reasons import Reason
from tenants.models import Broker, SpaceSecret
from workers.messaging.brokers.desired import DesiredBroker
from workers.reconcile.desired_routers import DesiredRouters
from workers.reconcile.space_keys import SpaceKeys
from workers.reconcile.space_rows import SpaceRows


@dataclass(frozen=True)
class Problem:
    """Why an address is not ready: ``message`` is for the tenant.

    ``final``: waiting will not help.
    """

    reason: Reason
    message: str
    final: bool = False


@dataclass(frozen=True)
class CertificateState:
    """What the condition ``Certificate`` says about the certificate that clients see.

    ``ok`` is False if it is not the one that the installation provides, or if that one expires
    soon. ``lasting``: waiting alone will not help.
    """

    ok: bool
    reason: Reason
    message: str
    lasting: bool = False


@dataclass(frozen=True)
class Down:
    """Why an instance is down. ``lasting``: it is not expected to come up soon.

    ``reason`` is for staff. ``words`` are for tenants.
    """

    reason: str
    lasting: bool = False
    cause: Cause = Cause.NONE

    @property
    def words(self) -> str:
        return self.cause.words or self.reason


@dataclass(frozen=True)
class OpenNamespace:
    """Of the step "namespace": the namespace exists, so endpoints and instances can be created."""


@dataclass(frozen=True)
class Certificates:
    """Of the step "certificates": the space's stored secrets by name, and the public certificate.

    The step "credentials" has yet to issue the client certificates: ``stored`` may hold none, or
    those of an earlier pass. ``public`` is None if there is nothing to report.
    """

    stored: Mapping[str, SpaceSecret]
    public: CertificateState | None


@dataclass(frozen=True)
class Instances:
    """The instances of a space as this pass found them.

    * ``boots``: the incarnation of each instance, by name.
    * ``rolled_at``: when a pass last restarted an instance.
    * ``down``: the instances that do not run or do not answer, by name.
    * ``waiting``: the running instances that need a restart and have to wait for another instance.
    * ``restart_deferred``: the instances that need a restart to run with their whole specification,
      also if only the next rollout restarts them.
    """

    boots: Mapping[str, str]
    rolled_at: datetime | None
    down: Mapping[str, Down] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()
    restart_deferred: frozenset[str] = frozenset()

    @classmethod
    def as_known(cls, rows: SpaceRows) -> "Instances":
        """Return the instances of a partial pass, which runs only if all are up and as known."""
        return cls(rows.space.known_boots, rows.space.rolled_at)

    def list_up(self, rows: SpaceRows) -> Sequence[Broker]:
        """Return the brokers that steps may use; the step "instances" waits for the others."""
        return [broker for broker in rows.brokers if broker.name not in self.down]

    def holds_unknown(self, rows: SpaceRows) -> bool:
        """Return whether an instance was added, removed or restarted since ``known_boots``.

        A restarted one may have read files that lack a change, so what it holds must be read back.
        """
        return bool(self.boots != rows.space.known_boots)


@dataclass(frozen=True)
class BrokerInstances:
    """Of the step "brokers": the brokers alone.

    These are all instances of a brokered space. In a standard space the step "routers" adds its
    own, and returns ``Instances``.
    """

    found: Instances


@dataclass(frozen=True)
class BrokerAddresses:
    """Of the step "broker addresses".

    * ``applied``: the desired state of each broker that is up, by name.
    * ``problems``: the addresses that no broker can hold, by address id.
    """

    applied: Mapping[str, DesiredBroker]
    problems: Mapping[str, Problem]


@dataclass(frozen=True)
class RouterAddresses:
    """Of the step "router addresses". Clients with links to leaving addresses are disconnected.

    * ``desired``: the routers as the step applied them, without the addresses in ``problems``.
    * ``problems``: by address id, including those of the step "broker addresses".
    * ``unjoined``: a text for each pair of routers that are not connected. None if no such pair is
      known and not all routers were read.
    """

    desired: DesiredRouters
    problems: Mapping[str, Problem]
    unjoined: Sequence[str] | None = None


@dataclass(frozen=True)
class Departures:
    """Of the step "departures": ids of addresses that no broker holds any more."""

    gone: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ReachedEndpoint:
    """Of the step "endpoints": why clients outside the cluster cannot reach the space.

    Empty if they can. None if the step ended before it read the endpoint.
    """

    trouble: str | None = None


@dataclass(frozen=True)
class ProbedBrokers:
    """Of the step "probe": whether no probe of a broker has failed."""

    passed: bool


@dataclass(frozen=True)
class ClosedRouters:
    """Of the step "router emptying" of a deletion: clients of the routers are disconnected.

    A router that cannot be closed within ten minutes of the request is left as it is.
    """


@dataclass(frozen=True)
class LastSample:
    """Of the step "emptying" of a deletion: the instances may be deleted.

    Each was sampled a last time, did not run, or did not answer for ten minutes.
    """


Findings = (
    OpenNamespace
    | Certificates
    | SpaceKeys
    | BrokerInstances
    | Instances
    | BrokerAddresses
    | RouterAddresses
    | Departures
    | ReachedEndpoint
    | ProbedBrokers
    | ClosedRouters
    | LastSample
    | None
)
