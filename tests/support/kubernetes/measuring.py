"""Figures of the Kubernetes adapter and the reconcile loop on the test API server.

Brokers and routers are in memory and answer at once: what is measured is our own work, the
database's and the API server's, all on this machine.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from kubernetes import config

from controlplane.demo import figures as page
from controlplane.demo.figures import Figure
from tenants.models import AddressSpace
from tests.support.infra import places
from tests.support.kubernetes import node
from tests.support.kubernetes.counting_api import CountingApi
from tests.support.kubernetes.node import ListeningNode
from tests.support.kubernetes.server import build, cluster
from tests.support.messaging.recording_metering import RecordingMetering
from tests.support.reconcile import rows
from tests.support.reconcile.fake_routers import FakeRouter, FakeRouters, fake_routing
from tests.support.reconcile.fakes import FakeBroker, FakeBrokers, FakeInfra
from tests.support.source_tree import ROOT
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.cluster import Cluster
from workers.messaging.observed import ManagementTarget
from workers.reconcile import loop
from workers.reconcile.outcome import Done, Wait
from workers.reconcile.ports import Ports

_PATIENCE_SECONDS = 900
_WORKERS = 4  # passes at a time, as in one worker process
_PAGE = ROOT / "docs" / "performance.md"
_COMMAND = "make bench-kubernetes"
_TYPES = ("brokered", "standard")
_PER_TENANT = 5  # as its plan has room for


_NOTE = (
    "Half of the spaces are standard, with a router and a broker, half are brokered; each has two "
    "queues. Brokers and routers are in memory and answer at once."
)


@dataclass(frozen=True)
class Counts:
    """How many spaces there are besides the first of each type, and how many are timed at once."""

    spaces: int
    created: int


class AnsweringBrokers(FakeBrokers):
    """The broker driver over brokers in memory that are there whenever they are asked."""

    def __init__(self) -> None:
        super().__init__(FakeInfra())

    def _at(self, target: ManagementTarget) -> FakeBroker:
        return self.brokers.setdefault(_instance(target), FakeBroker())


class AnsweringRouters(FakeRouters):
    """The router driver over routers of that kind."""

    def __init__(self) -> None:
        super().__init__(FakeInfra(), lambda: datetime.now(UTC))

    def _at(self, target: ManagementTarget) -> FakeRouter:
        return self.routers.setdefault(_instance(target), FakeRouter())


def _instance(target: ManagementTarget) -> tuple[str, str]:
    name, namespace = target.host.split(".")[:2]
    return namespace, name


def _without_registry(place: Cluster) -> Cluster:
    """Return the cluster without the secrets of a registry, which nobody made here."""
    return replace(place, images=replace(place.images, pull_secrets=[]))


class Bench:
    """A cluster, and passes over spaces of brokers and routers that answer at once."""

    def __init__(self, client: Any, folder: Path) -> None:
        self._client = client
        self._folder = folder
        self._brokers = AnsweringBrokers()
        self._routers = AnsweringRouters()
        self._routing = fake_routing("qdrouterd")
        self.calls: list[tuple[str, str]] = []

    def n_writes(self) -> int:
        """Return how often the cluster was written to since ``calls`` began, and the engines."""
        return (
            sum(verb != "GET" for verb, _path in self.calls)
            + self._brokers.writes
            + self._routers.writes
        )

    def n_repeated(self) -> int:
        """Return how many of ``calls`` asked for what had been asked for."""
        return len(self.calls) - len(set(self.calls))

    def forget(self) -> None:
        """Begin to count again."""
        self.calls.clear()
        self._brokers.writes = self._routers.writes = 0

    def settle(self, spaces: Sequence[str]) -> None:
        """Take each space through full passes until it is done, as the beat would: by rounds."""
        AddressSpace.objects.filter(id__in=spaces).update(last_full_pass_at=None)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        waiting = spaces
        with ThreadPoolExecutor(_WORKERS) as pool:
            while waiting:
                assert time.monotonic() < deadline, f"{len(waiting)} spaces still wait"
                outcomes = dict(zip(waiting, pool.map(self._pass, waiting), strict=True))
                waiting = [space for space in waiting if isinstance(outcomes[space], Wait)]
                time.sleep(max((outcomes[space].delay_seconds for space in waiting), default=0))

    def _pass(self, space: str) -> Any:
        outcome = loop.reconcile(space, self._ports())
        connection.close()
        assert isinstance(outcome, Done | Wait), outcome
        return outcome

    def _ports(self) -> Ports:
        api = CountingApi(self._client)
        api.calls = self.calls
        return Ports(
            infra=KubernetesInfra(api, _without_registry(places.cluster())),
            brokers=self._brokers,
            routers=self._routers,
            routing=self._routing,
            metering=RecordingMetering(),
            clock=timezone.now,
            identities_dir=self._folder / "identities",
        )


def measure(folder: Path) -> int:
    """Measure in ``folder`` and write the figures; 1 when a limit is broken."""
    call_command("migrate", verbosity=0)
    folder.mkdir()
    with cluster.running(folder, build.ensure()) as running:
        new_client: Any = config.new_client_from_config
        client = new_client(str(running.kubeconfig))
        with node.running(ListeningNode(new_client(str(running.kubeconfig)))):
            found = []
            for figure in figures(Bench(client, folder), Counts(spaces=1000, created=200)):
                sys.stdout.write(figure.row() + "\n")
                sys.stdout.flush()
                found.append(figure)
    page.write(_PAGE, "On Kubernetes", found, _NOTE)
    return int(any(figure.is_over for figure in found))


def figures(bench: Bench, counts: Counts) -> Iterator[Figure]:
    """Measure one figure after the other."""
    brokered, standard, *spaces = make_spaces(counts.spaces + 2)
    seconds = _timed(lambda: bench.settle([brokered]))
    yield Figure("a brokered space made, its pod ready", seconds, "s", 3, _COMMAND)
    seconds = _timed(lambda: bench.settle([standard]))
    yield Figure("a standard space made, its pods ready", seconds, "s", 3, _COMMAND)
    seconds = _timed(lambda: bench.settle(spaces[: counts.created]))
    yield Figure(f"{counts.created} spaces made", seconds / 60, "min", 5, _COMMAND)
    bench.settle(spaces[counts.created :])
    bench.settle(spaces)  # by now every pod has been told of its files
    bench.forget()
    seconds = _timed(lambda: bench.settle(spaces))
    what = f"full pass over {counts.spaces:,} unchanged spaces"
    yield Figure(what, seconds / 60, "min", 3, _COMMAND)
    yield Figure("writes of that pass", bench.n_writes(), "", 0, _COMMAND)
    yield Figure("calls of that pass made twice", bench.n_repeated(), "", 0, _COMMAND)


def make_spaces(count: int) -> Sequence[str]:
    """Return the ids of new spaces, brokered and standard by turns, each with two queues."""
    found = []
    for number in range(count):
        if number % _PER_TENANT == 0:
            tenant = rows.make_tenant()
        space = rows.make_space(tenant, f"space-{number}", _TYPES[number % len(_TYPES)])
        for address in ("orders", "returns"):
            rows.make_address(space, address)
        found.append(space.id)
    return found


def _timed(act: Callable[[], None]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began
