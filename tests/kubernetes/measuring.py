"""Figures of the Kubernetes adapter and the reconcile loop on the test API server.

Brokers answer at once here: what is measured is our own work, the database's and the API server's,
all on this machine.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from kubernetes import config

from controlplane.demo import figures as page
from controlplane.demo.figures import Figure
from tenants.models import AddressSpace
from tests.kubernetes import node
from tests.kubernetes.conftest import CountingApi
from tests.kubernetes.node import Node
from tests.kubernetes.server import build, cluster
from tests.reconcile import rows
from tests.unit.infra import places
from tests.verification.conftest import RecordingMetering
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.cluster import Cluster
from workers.messaging.brokers.driver import Converged
from workers.messaging.certificates import KeyPair
from workers.reconcile import loop
from workers.reconcile.doors import Doors, Routing
from workers.reconcile.outcome import Done, Wait

_SPACES = 1000
_CREATED = 200
_PATIENCE_SECONDS = 900
_WORKERS = 4  # passes at a time, as in one worker process
_PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
_COMMAND = "make bench-kubernetes"


class Answering:
    """A broker driver whose brokers hold what they should, at once."""

    def find_life(self, _target: object) -> str:
        return "life"

    def converge(self, *_args: object, **_options: object) -> Converged:
        return Converged({}, 0)

    def cut_off(self, *_args: object, **_options: object) -> int:
        return 0

    def remove(self, _target: object, _addresses: Collection[str]) -> None:
        return None

    def list_strays(self, *_args: object) -> Sequence[str]:
        return []

    def probe(self, *_args: object) -> float:
        return 0.0

    def probe_listener(self, *_args: object) -> None:
        """Listen, as all of these do."""


def _without_registry(place: Cluster) -> Cluster:
    """Return the cluster without the secrets of a registry, which nobody made here."""
    return replace(place, images=replace(place.images, pull_secrets=[]))


class Bench:
    """A cluster, and passes over spaces of brokers that answer at once."""

    def __init__(self, client: Any, folder: Path) -> None:
        self._client = client
        self._folder = folder
        self.calls: list[tuple[str, str]] = []

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
        outcome = loop.reconcile(space, self._doors())
        connection.close()
        assert isinstance(outcome, Done | Wait), outcome
        return outcome

    def _doors(self) -> Doors:
        api = CountingApi(self._client)
        api.calls = self.calls
        brokers: Any = Answering()
        return Doors(
            infra=KubernetesInfra(api, _without_registry(places.cluster())),
            brokers=brokers,
            routers=brokers,
            routing=Routing("qdrouterd", "127.0.0.1", 1, _no_standard_space),
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
        with node.running(Node(new_client(str(running.kubeconfig)))):
            found = []
            for figure in _figures(Bench(client, folder)):
                sys.stdout.write(figure.row() + "\n")
                sys.stdout.flush()
                found.append(figure)
    page.write(_PAGE, "On Kubernetes", found)
    return int(any(figure.is_over for figure in found))


def _figures(bench: Bench) -> Iterator[Figure]:
    spaces = _make_rows(_SPACES)
    seconds = _timed(lambda: bench.settle(spaces[:1]))
    yield Figure("a space made, its pod ready", seconds, "s", 3, _COMMAND)
    seconds = _timed(lambda: bench.settle(spaces[1 : _CREATED + 1]))
    yield Figure("200 spaces made", seconds / 60, "min", 5, _COMMAND)
    bench.settle(spaces[_CREATED + 1 :])
    bench.settle(spaces)  # by now every pod has been told of its files
    bench.calls.clear()
    seconds = _timed(lambda: bench.settle(spaces))
    yield Figure("full pass over 1,000 unchanged spaces", seconds / 60, "min", 3, _COMMAND)
    writes = sum(verb != "GET" for verb, _path in bench.calls)
    yield Figure("writes of that pass", writes, "", 0, _COMMAND)
    repeated = len(bench.calls) - len(set(bench.calls))
    yield Figure("calls of that pass made twice", repeated, "", 0, _COMMAND)


def _make_rows(count: int) -> Sequence[str]:
    found: list[str] = []
    while len(found) < count:
        tenant = rows.make_tenant()
        found += [rows.make_space(tenant, f"space-{number}").id for number in range(5)]
    return found[:count]


def _no_standard_space(_now: object) -> KeyPair:
    raise AssertionError("no standard space is measured")


def _timed(act: Callable[[], None]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began
