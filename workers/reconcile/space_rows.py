"""The rows of one space that a pass reads at its start; the steps use these rows.

``load`` reads them for a whole pass, ``changes.load`` for a partial pass. Not included are the rows
of endpoints, which the steps query and write. What a step finds out is in its findings
(``workers.reconcile.findings``).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from controlplane.core import phases
from controlplane.core.instance_names import InstanceId, Kind
from plans.catalog import publishing
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

# How long a broker may still read a start-up file that lists a deleted address. Partial passes
# write no files for 30 s, and a kubelet takes up to two minutes to update a secret in a pod.
OLD_FILES_LAST = timedelta(minutes=10)


@dataclass(frozen=True)
class SpaceRows:
    """The rows of one pass, as they were when the pass began. Steps do not change these values.

    * ``addresses``, ``users``: all rows that are not deleted yet, including those whose deletion is
      requested. In a partial pass they are as ``changes.load`` describes.
    * ``now``: when the pass began.
    * ``full``: read everything back and repair drift, not only what changed.
    * ``partial``: apply changes of addresses and users to running instances, and write no files. A
      pass that is not partial is called a whole pass; it may be full.
    * ``has_mesh``: the router engine supports several routers.
    * ``departed``: the names of addresses that were deleted in the last ten minutes and that no row
      has now. A broker that reads an old start-up file creates them again. Empty in a partial pass.
    """

    space: AddressSpace
    brokers: Sequence[Broker]
    addresses: Sequence[Address]
    users: Sequence[MessagingUser]
    now: datetime
    full: bool
    has_mesh: bool = False
    departed: Collection[str] = frozenset()
    partial: bool = False
    # Of a partial pass: unchanged topics to apply again; ids of topics that have addresses of other
    # types below them; by broker id, the names of addresses that get dead letters (``changes``).
    nearby: Sequence[Address] = ()
    topics_with_below: frozenset[str] = frozenset()
    dead_letters: Mapping[str, Collection[str]] = field(default_factory=dict)
    secrets: Mapping[str, SpaceSecret] = field(default_factory=dict)
    keeps_volumes: bool = False  # the space is being deleted, and its volumes are to be kept
    release: EngineRelease | None = None  # the images to run; None: those that are configured

    @property
    def probes_all(self) -> bool:
        """Whether to probe every type of address in use, not only the types of changed addresses.

        True in a full pass, and in a whole pass over a space that was not ready or did not answer
        the sampler. So a space is Ready again only after messages have passed.
        """
        is_doubtful = self.unready_since is not None or self.space.silent_since is not None
        return self.full or (is_doubtful and not self.partial)

    @property
    def is_settled(self) -> bool:
        """Whether plan and release are those with which the space was last ready.

        Only a change of one of these is a request to restart instances.
        """
        space = self.space
        is_moved = space.release_id != space.observed_release_id
        return not is_moved and space.plan_generation <= space.observed_generation

    @property
    def has_other_logins(self) -> bool:
        """Whether a change of all logins was requested since the space was last ready.

        Withdrawing or restoring the permission to send is such a change. A change of the plan is
        none, because it must not disconnect clients. Changes of single users do not count here.
        """
        space = self.space
        if space.logins_generation > space.observed_generation:
            return True
        # While an installation is upgraded, the previous version sets ``generation`` alone.
        return space.plan_generation <= space.observed_generation < space.generation

    @property
    def unready_since(self) -> datetime | None:
        """Since when the space has not been ready, as of the last pass; None if it was ready.

        Before the first pass has stored a condition, this is when the space was created.
        """
        ready = phases.find_condition(self.space.conditions, phases.READY)
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
        """The users who may log in: none of them while the space refuses connections."""
        if self.space.connections_refused:
            return []
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
    def public_instance(self) -> str | None:
        """The name of the first instance that clients connect to; None for a space without brokers.

        A standard space always has one: its first router.
        """
        if not self.is_brokered:
            return InstanceId(Kind.ROUTER, 0).name
        return self.brokers[0].name if self.brokers else None

    @property
    def router_names(self) -> Sequence[str]:
        """The names of the routers that the space should have, by ordinal; none if brokered.

        Without a mesh (``has_mesh``) it is one router, whatever the plan says.
        """
        if self.is_brokered:
            return []
        wanted = publishing.space_plan_definition(self.space.space_plan).routers
        return [
            InstanceId(Kind.ROUTER, ordinal).name
            for ordinal in range(wanted if self.has_mesh else 1)
        ]


def load(space: AddressSpace, *, now: datetime, full: bool, has_mesh: bool = False) -> SpaceRows:
    """Read the rows of a whole pass over ``space``, in a constant number of queries.

    ``now`` is when the pass begins.
    """
    of_space = Address.objects.filter(space=space)
    addresses = tuple(
        of_space.filter(deleted_at__isnull=True)
        .select_related("address_plan", "topic")
        .prefetch_related("placements")
        .order_by("address")
    )
    gone = of_space.filter(deleted_at__gte=now - OLD_FILES_LAST).values_list("address", flat=True)
    return SpaceRows(
        space=space,
        now=now,
        full=full,
        has_mesh=has_mesh,
        # A space that is older than releases runs the first one.
        release=space.release or EngineRelease.objects.order_by("number").first(),
        brokers=tuple(Broker.objects.filter(space=space).order_by("ordinal")),
        addresses=addresses,
        departed=frozenset(gone) - {address.address for address in addresses},
        users=tuple(
            MessagingUser.objects.filter(space=space, deleted_at__isnull=True).order_by("name")
        ),
        secrets={row.name: row for row in SpaceSecret.objects.filter(space=space)},
        keeps_volumes=space.deletion_requested_at is not None
        and KeptVolumes.objects.filter(space=space).exists(),
    )
