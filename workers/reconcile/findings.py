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
    """Why an address is not ready. Tenants read ``message``.

    ``final``: the address cannot become ready until somebody changes it.
    """

    reason: Reason
    message: str
    final: bool = False


@dataclass(frozen=True)
class CertificateState:
    """What the condition ``Certificate`` says about the certificate that clients see.

    ``ok`` is False if the installation provides a certificate and clients see another one, and if
    the provided one expires soon. ``lasting``: waiting alone will not help.
    """

    ok: bool
    reason: Reason
    message: str
    lasting: bool = False


@dataclass(frozen=True)
class Down:
    """Why an instance is down. ``lasting``: the instance is not expected to come up soon.

    Staff read ``reason``. Tenants read ``words``: the text of ``cause`` if the cause is known, else
    ``reason``.
    """

    reason: str
    lasting: bool = False
    cause: Cause = Cause.NONE

    @property
    def words(self) -> str:
        return self.cause.words or self.reason


@dataclass(frozen=True)
class OpenNamespace:
    """Proof that the namespace exists, so that endpoints and instances can be created in it."""


@dataclass(frozen=True)
class Certificates:
    """The findings of the step "certificates".

    * ``stored``: all secrets of the space, by name. The step "credentials" has yet to issue the
      client certificates: ``stored`` may have none of these, or those of an earlier pass.
    * ``public``: the state of the certificate that clients see. None if the installation never
      provided a certificate, or the space has no instance that clients connect to.
    """

    stored: Mapping[str, SpaceSecret]
    public: CertificateState | None


@dataclass(frozen=True)
class Instances:
    """The instances of a space as this pass found them.

    * ``boots``: the incarnation of each instance, by name; empty text while it has none.
    * ``rolled_at``: when a pass last restarted an instance; None if never.
    * ``down``: why instances do not run or do not answer, by name.
    * ``waiting``: names of running instances that need a restart and have to wait for another
      instance.
    * ``restart_deferred``: names of the instances that need a restart to run with their whole
      specification, also if only the next rollout restarts them.
    """

    boots: Mapping[str, str]
    rolled_at: datetime | None
    down: Mapping[str, Down] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()
    restart_deferred: frozenset[str] = frozenset()

    @classmethod
    def as_known(cls, rows: SpaceRows) -> "Instances":
        """Return the instances as the space's row knows them, none of them down.

        For partial passes, which run only if every instance runs in its known incarnation.
        """
        return cls(rows.space.known_boots, rows.space.rolled_at)

    def list_up(self, rows: SpaceRows) -> Sequence[Broker]:
        """Return the brokers that are not down, by ordinal; routers are not included.

        Steps use only these. The step "instances" waits for the others.
        """
        return [broker for broker in rows.brokers if broker.name not in self.down]

    def holds_unknown(self, rows: SpaceRows) -> bool:
        """Return whether an instance was added, removed or restarted since ``known_boots``.

        The last whole pass that was Done has stored ``known_boots``.
        A restarted instance may have read files that lack a change, so its entities must be read
        back.
        """
        return bool(self.boots != rows.space.known_boots)


@dataclass(frozen=True)
class BrokerInstances:
    """The findings of the step "brokers": ``found`` has the brokers alone.

    These are all instances of a brokered space. In a standard space the step "routers" adds the
    routers, and returns ``Instances``.
    """

    found: Instances


@dataclass(frozen=True)
class BrokerAddresses:
    """The findings of the step "broker addresses".

    * ``applied``: the desired state of each broker that is up, by name. In a partial pass it has
      only the changed addresses.
    * ``problems``: the addresses that no broker can hold, by address id.
    """

    applied: Mapping[str, DesiredBroker]
    problems: Mapping[str, Problem]


@dataclass(frozen=True)
class RouterAddresses:
    """The findings of the step "router addresses".

    Once the step is Done, clients with links to leaving addresses are disconnected.

    * ``desired``: the routers as the step applied them, without the addresses in ``problems``.
    * ``problems``: why addresses are not ready, by address id. The problems of the step "broker
      addresses" are included.
    * ``unjoined``: a text for each pair of routers that are not connected. None if no such pair is
      known and not all routers were read.
    """

    desired: DesiredRouters
    problems: Mapping[str, Problem]
    unjoined: Sequence[str] | None = None


@dataclass(frozen=True)
class Departures:
    """The findings of the step "departures": ids of addresses that no broker holds any more."""

    gone: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ReachedEndpoint:
    """The finding of the step "endpoints".

    ``trouble`` says why clients outside the cluster cannot reach the space. It is empty if they
    can, and None if the step ended before it read the endpoint.
    """

    trouble: str | None = None


@dataclass(frozen=True)
class ProbedBrokers:
    """The finding of the step "probe" of brokers.

    ``passed`` is False if a probe failed, and True also if no probe was due.
    """

    passed: bool


@dataclass(frozen=True)
class ClosedRouters:
    """The finding of the step "router emptying" of a deletion: the routers have no client any more.

    A router that could not be closed within ten minutes after the request is left as it is.
    """


@dataclass(frozen=True)
class LastSample:
    """The finding of the step "emptying" of a deletion: the instances may be deleted.

    Each instance was sampled a last time or did not run. One that could not be sampled until ten
    minutes after the request is not waited for any longer.
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
    # Of steps on which no other step depends.
    | None
)
