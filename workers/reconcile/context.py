"""One pass over one space: the rows that it read at its start, and the findings of its steps.

``loop`` creates it. Steps read rows from it instead of querying them again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from controlplane.core import secrets
from controlplane.core.instance_names import InstanceId, Kind
from controlplane.core.reasons import Reason
from tenants.models import (
    Address,
    AddressSpace,
    Broker,
    EngineRelease,
    KeptVolumes,
    MessagingUser,
    SpaceSecret,
    SpaceType,
)
from workers.infra import names
from workers.infra.base import Namespace
from workers.messaging.certificates import KeyPair


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


@dataclass
class ReconcileContext:
    """The rows of one pass and the findings of its steps.

    ``addresses`` and ``users`` hold all rows that are not deleted yet, including those whose
    deletion is requested. ``full``: read everything back and repair drift, not only what changed.
    ``has_mesh``: the router engine supports several routers.

    ``partial``: the pass applies changes of addresses and users to running instances and writes no
    files. ``addresses`` and ``users`` are then as ``changes.load`` describes.
    """

    space: AddressSpace
    brokers: Sequence[Broker]
    addresses: Sequence[Address]
    users: Sequence[MessagingUser]
    now: datetime
    full: bool
    has_mesh: bool = False
    partial: bool = False
    # Of a partial pass: unchanged topics that the change concerns; topics (by id) with addresses of
    # other kinds below them; names on a broker (by id) that changed addresses send dead letters to.
    nearby: Sequence[Address] = ()
    topics_with_below: frozenset[str] = frozenset()
    dead_letters: Mapping[str, Collection[str]] = field(default_factory=dict)
    boots: dict[str, str] = field(default_factory=dict)  # incarnations that this pass found
    secrets: dict[str, SpaceSecret] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)  # by address id
    gone: set[str] = field(default_factory=set)  # ids of addresses that no instance holds any more
    probed: bool = False
    keeps_volumes: bool = False  # the space is being deleted, and its volumes are to be kept
    release: EngineRelease | None = None  # the images to run; None: those that are configured
    down: dict[str, Down] = field(default_factory=dict)  # by instance name
    waiting: set[str] = field(default_factory=set)  # instances that may not restart yet
    # Instances that do not run with their whole specification yet, because that needs a restart.
    restart_deferred: set[str] = field(default_factory=set)
    certificate: CertificateState | None = None  # None: this pass has nothing to report of it
    # Pairs of routers that are not connected, as texts; None: not known of all routers.
    unjoined: Sequence[str] | None = None
    # Why clients outside the cluster cannot reach the endpoint, empty if they can; None: not read.
    endpoint_trouble: str | None = None

    @property
    def up_brokers(self) -> Sequence[Broker]:
        """The brokers that steps may use; the step "instances" waits for the others."""
        return [broker for broker in self.brokers if broker.name not in self.down]

    @property
    def is_settled(self) -> bool:
        """Whether no change that needs a restart was requested since the space was last ready."""
        space = self.space
        is_moved = space.release_id != space.observed_release_id
        return not is_moved and space.plan_generation <= space.observed_generation

    @property
    def has_other_logins(self) -> bool:
        """Whether a change of logins was requested since the space was last ready.

        Withdrawing or restoring the permission to send changes what a login may do. A change of the
        plan does not: it must not disconnect clients.
        """
        space = self.space
        if space.logins_generation > space.observed_generation:
            return True
        # While an installation is upgraded, the previous version sets ``generation`` alone.
        return space.plan_generation <= space.observed_generation < space.generation

    @property
    def unready_since(self) -> datetime | None:
        """Since when the space has not been ready, as of the last pass; None if it was ready."""
        ready = next(
            (condition for condition in self.space.conditions if condition["type"] == "Ready"), None
        )
        if ready is None:
            return self.space.created_at
        return None if ready["status"] == "True" else datetime.fromisoformat(ready["since"])

    @property
    def namespace(self) -> Namespace:
        name = names.namespace(self.space.tenant_id, self.space.id, self.space.name)
        return Namespace(name, self.space.tenant_id, self.space.id)

    @property
    def is_brokered(self) -> bool:
        return self.space.type == SpaceType.BROKERED

    @property
    def wanted_addresses(self) -> Sequence[Address]:
        return [address for address in self.addresses if address.deletion_requested_at is None]

    @property
    def leaving_addresses(self) -> Sequence[Address]:
        return [address for address in self.addresses if address.deletion_requested_at is not None]

    @property
    def wanted_users(self) -> Sequence[MessagingUser]:
        return [user for user in self.users if user.deletion_requested_at is None]

    @property
    def changed_addresses(self) -> Sequence[Address]:
        """The wanted addresses with a pending change; in a full pass all wanted addresses."""
        return [
            address
            for address in self.wanted_addresses
            if self.full or address.generation > address.observed_generation
        ]

    @property
    def holds_unknown(self) -> bool:
        """Whether an instance has restarted since complete files were written.

        It may have started from older files, so only reading it tells what it holds.
        """
        return bool(self.boots != self.space.known_boots)

    @property
    def public_instance(self) -> str | None:
        """The first instance that clients connect to; None while there is none."""
        if not self.is_brokered:
            return InstanceId(Kind.ROUTER, 0).name
        return self.brokers[0].name if self.brokers else None

    def key_pair(self, name: str) -> KeyPair:
        """Return a key pair that an earlier certificate step has stored."""
        row = self.secrets[name]
        return KeyPair(secrets.decrypt(row.sealed), row.public)


def load(
    space: AddressSpace, *, now: datetime, full: bool, has_mesh: bool = False
) -> ReconcileContext:
    """Read everything one pass over ``space`` needs, in a constant number of queries."""
    addresses = Address.objects.filter(space=space, deleted_at__isnull=True)
    return ReconcileContext(
        space=space,
        now=now,
        full=full,
        has_mesh=has_mesh,
        # A space that is older than releases runs the first one.
        release=space.release or EngineRelease.objects.order_by("number").first(),
        brokers=list(Broker.objects.filter(space=space).order_by("ordinal")),
        addresses=list(
            addresses.select_related("address_plan", "topic")
            .prefetch_related("placements")
            .order_by("address")
        ),
        users=list(
            MessagingUser.objects.filter(space=space, deleted_at__isnull=True).order_by("name")
        ),
        secrets={row.name: row for row in SpaceSecret.objects.filter(space=space)},
        keeps_volumes=space.deletion_requested_at is not None
        and KeptVolumes.objects.filter(space=space).exists(),
    )
