"""One pass over one space: the rows it read at its start, and what its steps found out.

Made by ``loop``; steps read rows here and never query again for what is already here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from controlplane.core import secrets
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
    """Why an address is not ready: ``reason`` is a slug, ``message`` is for the tenant.

    A final problem will not go away by waiting.
    """

    reason: str
    message: str
    final: bool = False


@dataclass(frozen=True)
class CertificateState:
    """Whether clients are shown the certificate that the installation wants; else why not.

    ``lasting``: waiting alone will not change it.
    """

    ok: bool
    reason: str
    message: str
    lasting: bool = False


@dataclass(frozen=True)
class Down:
    """An instance that serves nobody: ``words`` say why; ``lasting``: nor will it soon."""

    words: str
    lasting: bool = False


@dataclass
class Work:
    """The rows of one pass and the findings of its steps.

    ``addresses`` and ``users`` hold what is not deleted yet, those asked to be deleted included.
    ``full``: read everything back and repair drift, not only what changed. ``has_mesh``: routers
    can be more than one.
    """

    space: AddressSpace
    brokers: Sequence[Broker]
    addresses: Sequence[Address]
    users: Sequence[MessagingUser]
    now: datetime
    full: bool
    has_mesh: bool = False
    secrets: dict[str, SpaceSecret] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)  # by address id
    gone: set[str] = field(default_factory=set)  # ids of addresses that exist nowhere any more
    probed: bool = False
    keeps_volumes: bool = False  # of a space that is being deleted
    release: EngineRelease | None = None  # the images to run; None: those of the place
    down: dict[str, Down] = field(default_factory=dict)  # by instance
    waiting: set[str] = field(default_factory=set)  # instances that may not restart yet
    held_back: set[str] = field(default_factory=set)  # those without all that is wanted of them
    certificate: CertificateState | None = None  # None: that of the space's authority, as ever
    unjoined: Sequence[str] | None = None  # which routers do not reach which; None: not seen
    endpoint_trouble: str | None = None  # why nothing leads there from outside; None: not asked

    @property
    def up_brokers(self) -> Sequence[Broker]:
        """Those that steps may talk to; the end of the pass waits for the others."""
        return [each for each in self.brokers if each.name not in self.down]

    @property
    def is_settled(self) -> bool:
        """Whether nothing that takes a restart was asked of the space since it was ready last."""
        space = self.space
        is_moved = space.release_id != space.observed_release_id
        return not is_moved and space.plan_generation <= space.observed_generation

    @property
    def has_other_logins(self) -> bool:
        """Whether more was asked of the space since it was ready last than one other plan.

        Sending withdrawn or restored: what a login may do. Another plan closes no connection.
        """
        space = self.space
        plans = int(space.plan_generation > space.observed_generation)
        return space.generation - space.observed_generation > plans

    @property
    def unready_since(self) -> datetime | None:
        """Since when the space is not ready, as of the last pass; None when it was."""
        ready = next((each for each in self.space.conditions if each["type"] == "Ready"), None)
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
        return [each for each in self.addresses if each.deletion_requested_at is None]

    @property
    def leaving_addresses(self) -> Sequence[Address]:
        return [each for each in self.addresses if each.deletion_requested_at is not None]

    @property
    def wanted_users(self) -> Sequence[MessagingUser]:
        return [each for each in self.users if each.deletion_requested_at is None]

    @property
    def changed_addresses(self) -> Sequence[Address]:
        """Those the short path looks at: changed, or not ready at the last pass."""
        return [
            each
            for each in self.wanted_addresses
            if self.full or each.generation > each.observed_generation
        ]

    @property
    def public_instance(self) -> str | None:
        """The first of the instances that clients reach; None while there is none."""
        if not self.is_brokered:
            return "router-0"
        return self.brokers[0].name if self.brokers else None

    def key_pair(self, name: str) -> KeyPair:
        """Return a key pair that the certificate steps have put in place."""
        row = self.secrets[name]
        return KeyPair(secrets.unseal(row.sealed), row.public)


def load(space: AddressSpace, *, now: datetime, full: bool, has_mesh: bool = False) -> Work:
    """Read everything one pass over ``space`` needs, in a constant number of queries."""
    addresses = Address.objects.filter(space=space, deleted_at__isnull=True)
    return Work(
        space=space,
        now=now,
        full=full,
        has_mesh=has_mesh,
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
