"""Partial passes: apply changed addresses and users without reading all addresses of the space.

This module decides whether a partial pass is enough, and reads the rows of such a pass. Any other
pass is a whole pass; some of those are full passes, which also repair drift.

A partial pass changes the running instances by management requests and writes no files. Its cost
depends on the change, not on the number of addresses. The start-up files of brokers and routers
list every address. A later whole pass writes the files again, at most every 30 s, and also if the
worker is killed in between (``AddressSpace.files_outdated``).

Until then a broker that restarts has every change, because brokers store what requests changed.
Such a broker also creates again what was deleted since its file was written. A router that restarts
lacks what its file lacks. The next pass notices the restart (``known_boots``) and is therefore a
whole pass. This pass completes the router, and deletes what departed (``SpaceRows.departed``),
before the space becomes Ready.

What cannot be applied by a partial pass:

* **Users of a brokered space.** Their logins are in a file, and every address lists the exact roles
  of its users, so each address may change. In a standard space the auth service knows the users.
* **Everything else of a space**: its plan, its release, sending withdrawn, its deletion.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Concat, Replace

from controlplane.core import phases
from controlplane.core.phases import Phase
from tenants import address_rules
from tenants.models import (
    Address,
    AddressSpace,
    AddressType,
    Broker,
    EngineRelease,
    MessagingUser,
    Placement,
    SpaceSecret,
    SpaceType,
)
from workers.infra.base import Infra, InfraError
from workers.reconcile import waiting
from workers.reconcile.space_rows import SpaceRows

FILES_EVERY = timedelta(seconds=30)
CHANGED = Q(generation__gt=F("observed_generation"))


def load(space: AddressSpace, *, now: datetime, has_mesh: bool) -> SpaceRows | None:
    """Read the rows of a partial pass, or return None if the space needs a whole pass.

    The number of queries is constant.

    ``addresses`` holds the changed ones and those that are being deleted. ``users`` holds all,
    because the permissions on a changed address depend on all of them.

    A whole pass is needed if one of these is true:

    * the space itself or its release has changed, or its deletion is requested;
    * the last pass failed, or left the space not ready, unless a partial pass may end its wait;
    * an instance does not answer the sampler, or the start-up files are due;
    * no address and no user has changed;
    * a user of a brokered space has changed;
    * a changed address has the phase Failed.
    """
    # First what needs no query.
    if not _is_settled(space) or are_files_due(space, now):
        return None
    addresses = list(_addresses(space).filter(CHANGED).order_by("address"))
    users = list(
        MessagingUser.objects.filter(space=space, deleted_at__isnull=True).order_by("name")
    )
    changed_users = [user for user in users if user.generation > user.observed_generation]
    if not (addresses or changed_users):
        return None  # triggered for another reason, such as a silent instance
    if changed_users and space.type == SpaceType.BROKERED:
        return None
    # A failed address may clash with another one. Finding that one takes all addresses.
    if any(address.phase == Phase.FAILED for address in addresses):
        return None
    change = _Change(space, addresses)
    nearby, with_below = change.find_topics()
    return SpaceRows(
        space=space,
        now=now,
        full=False,
        has_mesh=has_mesh,
        partial=True,
        # A space that is older than releases runs the first one.
        release=space.release or EngineRelease.objects.order_by("number").first(),
        brokers=list(Broker.objects.filter(space=space).order_by("ordinal")),
        addresses=addresses,
        users=users,
        nearby=nearby,
        topics_with_below=with_below,
        dead_letters=change.find_dead_letters(nearby),
        secrets={row.name: row for row in SpaceSecret.objects.filter(space=space)},
    )


def are_instances_as_known(rows: SpaceRows, infra: Infra) -> bool:
    """Return whether every instance runs in the incarnation that ``known_boots`` names.

    If not, an instance is down, or may have started from files that lack a change. Also False if
    the platform does not answer.
    """
    try:
        with infra.open(rows.namespace) as session:
            found = session.list_instances()
    except InfraError:
        return False  # the whole pass meets the same error and reports it
    running = {instance.name: instance.boot for instance in found if instance.running}
    wanted = {broker.name for broker in rows.brokers} | set(rows.router_names)
    return bool({name: running.get(name) for name in wanted} == rows.space.known_boots)


def are_files_due(space: AddressSpace, now: datetime) -> bool:
    """Return whether the start-up files lack a change and were not written in the last 30 s."""
    return space.files_outdated and (
        space.files_built_at is None or now - space.files_built_at >= FILES_EVERY
    )


def mark_files_outdated(space: AddressSpace) -> None:
    """Store that the start-up files lack a change.

    Call it before the change is applied, because the worker may be killed at any moment.
    """
    if not space.files_outdated:
        AddressSpace.objects.filter(pk=space.pk).update(files_outdated=True)
        space.files_outdated = True


def _is_settled(space: AddressSpace) -> bool:
    """Return whether the space is unchanged, answers, and is ready or in a wait.

    The wait must be one that a partial pass may end.
    """
    ready = phases.find_condition(space.conditions, phases.READY)
    is_ready = ready is not None and ready["status"] == "True"
    waits = waiting.of(space)
    return (
        space.deletion_requested_at is None
        and space.silent_since is None
        and space.generation == space.observed_generation
        and space.release_id == space.observed_release_id
        # Not 0 after a pass that failed or crashed, which may have stopped anywhere.
        and space.attempts == 0
        and (is_ready or (waits is not None and waits.partial))
    )


def _addresses(space: AddressSpace) -> QuerySet[Address, Address]:
    rows = Address.objects.filter(space=space, deleted_at__isnull=True)
    return rows.select_related("address_plan", "topic").prefetch_related("placements")


@dataclass(frozen=True)
class _Change:
    """Finds the other rows that are needed to apply the changed ``addresses`` of a space."""

    space: AddressSpace
    addresses: Collection[Address]

    def find_topics(self) -> tuple[list[Address], frozenset[str]]:
        """Return the unchanged topics to apply again, and the ids of topics with addresses below.

        The unchanged topics are:

        * the topics of changed subscriptions, because a subscription is a queue of its topic;
        * in a standard space, the topics above changed addresses. A router matches a topic exactly
          if an address of another type is below it, otherwise by prefix.

        The ids may be those of changed topics too.
        """
        ids = {address.topic_id for address in self.addresses if address.topic_id}
        own = {address.id for address in self.addresses if address.type == AddressType.TOPIC}
        names = set() if self.space.type == SpaceType.BROKERED else self._names_above()
        wanted = Q(id__in=ids | own) | Q(at_routers__in=names)
        below = (
            Address.objects.filter(
                space_id=OuterRef("space_id"),
                deleted_at__isnull=True,
                deletion_requested_at__isnull=True,
            )
            .exclude(type=AddressType.TOPIC)
            .alias(at_routers=_at_routers(Coalesce("topic__address", "address")))
            # With the slash, ``ab`` is not below ``a``.
            .filter(at_routers__startswith=Concat(OuterRef("at_routers"), Value("/")))
        )
        found = (
            _addresses(self.space)
            .filter(type=AddressType.TOPIC, deletion_requested_at__isnull=True)
            .annotate(at_routers=_at_routers("address"))
            .filter(wanted)
            .annotate(has_below=Exists(below))
            .order_by("address")
        )
        nearby: list[Address] = [topic for topic in found if topic.id not in own]
        return nearby, frozenset(topic.id for topic in found if topic.has_below)

    def find_dead_letters(self, nearby: Collection[Address]) -> Mapping[str, Collection[str]]:
        """Return {broker id: names of addresses on this broker that get dead or expired messages}.

        These are the targets of the changed addresses and of ``nearby``. A target that is being
        deleted is left out.
        """
        placed = Placement.objects.filter(
            address__space=self.space,
            address__address__in={
                name
                for row in (*self.addresses, *nearby)
                for name in (row.dead_letter, row.expiry)
                if name
            },
            address__deletion_requested_at__isnull=True,
            broker__isnull=False,
        )
        found: dict[str, set[str]] = {}
        for broker, name in placed.values_list("broker_id", "address__address"):
            found.setdefault(str(broker), set()).add(name)
        return found

    def _names_above(self) -> set[str]:
        """Return the names above the changed addresses, as routers compare them.

        For ``a.b.c`` these are ``a`` and ``a/b``.
        """
        found: set[str] = set()
        for address in self.addresses:
            if address.type == AddressType.TOPIC:
                continue  # topics above other topics do not matter
            name = address.address if address.topic is None else address.topic.address
            levels = address_rules.name_at_routers(name).split("/")
            found.update("/".join(levels[:size]) for size in range(1, len(levels)))
        return found


def _at_routers(name: str | Coalesce) -> Replace:
    """Return the SQL expression of ``address_rules.name_at_routers``, applied to ``name``."""
    return Replace(name, Value("."), Value("/"))
