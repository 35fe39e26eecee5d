"""What the steps of a pass find out. A later step takes as parameters the findings that it needs.

So mypy refuses a pass that runs two such steps in the wrong order (``address_space``). The report
of the pass keeps what is stored at its end (``report``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

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
    """Whether public listeners present the certificate that the installation wants, else why not.

    ``lasting``: waiting alone will not change it.
    """

    ok: bool
    reason: Reason
    message: str
    lasting: bool = False


@dataclass(frozen=True)
class Down:
    """Why an instance is down. ``lasting``: it is not expected to come up soon."""

    reason: str
    lasting: bool = False


@dataclass(frozen=True)
class OpenNamespace:
    """Of the step "namespace": the namespace exists, so endpoints and instances can be created."""


@dataclass(frozen=True)
class Certificates:
    """Of the step "certificates": the stored secrets, without those of "credentials".

    ``public``: None if there is nothing to report of the public certificate.
    """

    stored: Mapping[str, SpaceSecret]
    public: CertificateState | None


@dataclass(frozen=True)
class Instances:
    """The instances of a space as this pass found them. Those that are down have names in ``down``.

    * ``boots``: the incarnation of each instance.
    * ``waiting``: the instances that may not restart yet.
    * ``restart_deferred``: the instances that do not run with their whole specification yet,
      because that needs a restart.
    * ``rolled_at``: when a pass last restarted an instance.
    """

    boots: Mapping[str, str]
    rolled_at: datetime | None
    down: Mapping[str, Down] = field(default_factory=dict)
    waiting: frozenset[str] = frozenset()
    restart_deferred: frozenset[str] = frozenset()

    @classmethod
    def as_known(cls, rows: SpaceRows) -> "Instances":
        """Return the instances of a partial pass, which runs only if all are as known and up."""
        return cls(rows.space.known_boots, rows.space.rolled_at)

    def list_up(self, rows: SpaceRows) -> Sequence[Broker]:
        """Return the brokers that steps may use; the step "instances" waits for the others."""
        return [broker for broker in rows.brokers if broker.name not in self.down]

    def holds_unknown(self, rows: SpaceRows) -> bool:
        """Return whether an instance has restarted since complete files were written.

        It may have started from older files, so only reading it tells what it holds.
        """
        return bool(self.boots != rows.space.known_boots)


@dataclass(frozen=True)
class BrokerInstances:
    """Of the step "brokers". In a standard space "routers" makes ``Instances`` of it."""

    found: Instances


@dataclass(frozen=True)
class BrokerAddresses:
    """Of the step "broker addresses": what it applied (by broker), and problems by address id."""

    applied: Mapping[str, DesiredBroker]
    problems: Mapping[str, Problem]


@dataclass(frozen=True)
class RouterAddresses:
    """Of the step "router addresses". It has closed the links to leaving addresses.

    * ``desired``: the routers as the step applied them.
    * ``problems``: by address id, with those of "broker addresses".
    * ``unjoined``: pairs of routers that are not connected, as texts; None: not known of all.
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
    """Of the step "endpoints": why clients outside the cluster cannot reach it, empty if they can.

    None: not read.
    """

    trouble: str | None = None


@dataclass(frozen=True)
class ProbedBrokers:
    """Of the step "probe": whether a message has passed through every broker that is up."""

    passed: bool


@dataclass(frozen=True)
class ClosedRouters:
    """Of a deletion: no client is connected to a router any more."""


@dataclass(frozen=True)
class LastSample:
    """Of a deletion: the usage of the space is recorded, so its instances may be deleted."""


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
