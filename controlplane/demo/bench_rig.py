"""Measures one router and one broker with a thousand queues, for ``bench_routers``.

Router and broker run outside any space, without control plane. They use the product's files and
drivers, so workers would take the same times. No client logs in, so no auth service runs.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from controlplane.core.instance_names import Kind
from controlplane.demo.bench_results import Result, of_runs, result, seconds_of, wait_quiet
from controlplane.demo.bench_servers import memory_mib
from controlplane.embedded import ports
from controlplane.embedded.ports import Claims
from workers.infra.base import InstanceSpec, Namespace
from workers.infra.local import engines
from workers.infra.local.files import InstanceFiles
from workers.messaging import certificates, identities
from workers.messaging.brokers import desired as brokers
from workers.messaging.brokers import driver as broker_driver
from workers.messaging.brokers import render
from workers.messaging.certificates import KeyPair
from workers.messaging.management import Unreachable
from workers.messaging.observed import ManagementTarget
from workers.messaging.routers import config, desired, driver
from workers.messaging.routers.desired import BrokerAt, DesiredRouter, OnBroker, RoutedAddress

_HOST = "127.0.0.1"
_QUEUES, _RUNS = 1000, 5
_START_SECONDS = 120  # the longest wait for a server or its links


class Rig:
    """A router and a broker: their files below one folder, their ports and their processes.

    ``engine`` is the router program: ``qdrouterd`` or ``devrouter``.
    """

    def __init__(self, folder: Path, engine: str, claims: Claims) -> None:
        self._folder, self._engine, self._now = folder, engine, datetime.now(UTC)
        self._authority = certificates.create_authority("bench", self._now)
        # Nothing listens on the port "none". It is used for what the rig lacks: an auth service,
        # and a broker's public listener.
        self._ports = {name: claims.take_any() for name in ("public", "router", "broker", "none")}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.router_target = self._target(self._ports["router"])
        self._broker_target = self._target(self._ports["broker"])

    @classmethod
    @contextmanager
    def running(cls, folder: Path, engine: str) -> Iterator[Self]:
        """Yield a rig in which nothing runs yet; stop its servers when the block ends."""
        # The claims last as long as the rig, because it restarts its router on the same ports.
        with ports.claiming() as claims:
            made = cls(folder, engine, claims)
            try:
                yield made
            finally:
                made.stop()

    def start_broker(self, queues: Sequence[str]) -> None:
        """Start the broker with the addresses ``queues`` and wait until it has all of them."""
        kind = brokers.BrokerAddressKind.QUEUE
        addresses = [brokers.DesiredAddress(queue, kind) for queue in queues]
        wanted = brokers.DesiredBroker(
            public=False,
            addresses=addresses,
            users=(),
            send_withdrawn=False,
            server=self._server(),
            authority_pem=self._authority.certificate_pem,
        )
        files = InstanceFiles(self._folder / "broker-0")
        engine_layout = brokers.EngineLayout(
            str(files.config), str(files.data), _HOST, self._ports["none"], self._ports["broker"]
        )
        self._launch(Kind.BROKER, "broker-0", "artemis", render.files(wanted, engine_layout))
        _until(lambda: bool(broker_driver.find_incarnation(self._broker_target)))
        _until(lambda: not broker_driver.converge(self._broker_target, wanted).pending)

    def router(self, queues: Sequence[str]) -> DesiredRouter:
        """Return the desired state of a router that serves ``queues`` of the rig's broker.

        Starts nothing.
        """
        on_broker = [OnBroker("broker-0")]
        identity = certificates.issue_client(self._authority, brokers.ROUTER_NAME, self._now)
        no_auth_service = desired.AuthServiceAt(
            _HOST, self._ports["none"], self._authority.certificate_pem, identity
        )
        return DesiredRouter(
            name="router-0",
            space_id="spc_bench",
            leads=True,
            brokers=[BrokerAt("broker-0", _HOST, self._ports["broker"])],
            addresses=[
                RoutedAddress(queue, desired.RouterAddressKind.QUEUE, on_broker) for queue in queues
            ],
            server=self._server(),
            client=identity,
            authority_pem=self._authority.certificate_pem,
            auth=no_auth_service,
        )

    def start_router(self, wanted: DesiredRouter) -> int:
        """Stop the router if it runs, start it with files for ``wanted``, wait until it answers.

        Its links may not be up yet (see ``wait_working``). Returns the number of characters in its
        configuration file.
        """
        self._stop("router-0")
        folder = str(InstanceFiles(self._folder / "router-0").config)
        engine_layout = desired.EngineLayout(
            folder, _HOST, self._ports["public"], self._ports["router"]
        )
        files = config.files(wanted, engine_layout)
        self._launch(Kind.ROUTER, "router-0", self._engine, files)
        _until(lambda: bool(driver.find_incarnation(self.router_target)))
        return len(files[config.CONFIG_FILE])

    def wait_working(self, wanted: DesiredRouter) -> None:
        """Run passes of the router's driver until all that ``wanted`` names exists and is linked.

        A pass creates what is missing in the router.
        """
        _until(lambda: not driver.converge(self.router_target, wanted).pending)

    def add(self, grown: DesiredRouter, name: str) -> None:
        """Add the queue ``name`` to the running router; wait until the queue's links are up.

        ``grown`` is the router's desired state with this queue. The broker must have the queue.
        """
        _until(lambda: name not in driver.converge(self.router_target, grown, only=[name]).pending)

    def router_memory_mib(self) -> float:
        """Return the router's resident memory in MiB."""
        return memory_mib(self._processes["router-0"].pid)

    def stop(self) -> None:
        """Stop router and broker, if they run."""
        for name in list(self._processes):
            self._stop(name)

    def _server(self) -> KeyPair:
        return certificates.issue_server(self._authority, [_HOST], self._now)

    def _target(self, port: int) -> ManagementTarget:
        control = certificates.issue_client(self._authority, brokers.CONTROL_NAME, self._now)
        authority = self._authority.certificate_pem
        folder = self._folder / "identities"
        return identities.target(
            _HOST, port, authority_pem=authority, client=control, folder=folder
        )

    def _launch(self, kind: Kind, name: str, engine: str, texts: Mapping[str, str]) -> None:
        files = InstanceFiles(self._folder / name)
        files.make()
        files.write(texts)
        space = Namespace("bench", "ten_bench", "spc_bench")
        spec = InstanceSpec(space, kind, name, texts, memory_mb=256, engine=engine)
        launch = engines.launch(spec, files)
        with (files.log / "output.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                launch.command,
                env={**os.environ, **launch.environment},
                stdout=log,
                stderr=log,
                cwd=files.folder,
            )

    def _stop(self, name: str) -> None:
        process = self._processes.pop(name, None)
        if process is not None:
            process.terminate()
            process.wait(30)


def measure(folder: Path, engine: str) -> Iterator[Result]:
    """Yield what a thousand queues cost: times of starts and of driver passes, with memory.

    ``folder`` gets the rig's files. ``engine`` is ``qdrouterd`` or ``devrouter``. Each queue takes
    two autoLinks, the router's links to the broker's queue.
    """
    queues = [f"queue-{number:04d}" for number in range(_QUEUES)]
    later = [f"later-{number}" for number in range(_RUNS)]
    with Rig.running(folder, engine) as rig:
        rig.start_broker([*queues, *later])
        measurement = _Measurement(rig, rig.router(queues))
        yield from measurement.starts()
        yield from measurement.passes(later)


class _Measurement:
    """Measures a rig whose broker runs; ``wanted`` is the router's state with all queues."""

    def __init__(self, rig: Rig, wanted: DesiredRouter) -> None:
        self._rig = rig
        self._wanted = wanted

    def starts(self) -> Iterator[Result]:
        """Yield three times: creating all autoLinks in a running router, and two starts.

        The router starts from a file with half of the queues, then from one with all.
        """
        rig, wanted = self._rig, self._wanted
        # Without addresses, so that the pass below creates all of them over management.
        rig.start_router(replace(wanted, addresses=()))
        load = wait_quiet()
        made = seconds_of(lambda: driver.converge(rig.router_target, wanted))
        yield result("2,000 autoLinks made in a running router", made, "s", load=load)
        rig.wait_working(wanted)
        # The largest plan has 500.
        half = replace(wanted, addresses=wanted.addresses[: _QUEUES // 2])
        for state, what in ((half, "with half of them"), (wanted, "with all")):
            yield self._start(state, f"its start from a file {what}")

    def _start(self, wanted: DesiredRouter, what: str) -> Result:
        load, began = wait_quiet(), time.monotonic()
        size = self._rig.start_router(wanted)
        answers = time.monotonic() - began
        self._rig.wait_working(wanted)
        seconds = time.monotonic() - began
        more = (
            f"answers after {answers:.1f} s; `router.json` {size / 2**20:.2f} MiB; "
            f"then {self._rig.router_memory_mib():.0f} MiB of memory"
        )
        return result(f"{what}, until every link stands", seconds, "s", load=load, more=more)

    def passes(self, later: Sequence[str]) -> Iterator[Result]:
        """Yield two times of driver passes over a router that has all queues already.

        One is the time of a full pass that changes nothing. The other is the time to add one of
        the queues ``later``, until its links are up.
        """
        rig, wanted, load = self._rig, self._wanted, wait_quiet()
        # Nothing changes: this is the cost of reading and comparing.
        full = [
            seconds_of(lambda: driver.converge(rig.router_target, wanted)) for _ in range(_RUNS)
        ]
        yield of_runs("a full pass over it, unchanged", full, load)
        load, one = wait_quiet(), []
        for number, name in enumerate(later):
            # Each run adds one queue to those of the earlier runs.
            added = rig.router(later[: number + 1]).addresses
            grown = replace(wanted, addresses=[*wanted.addresses, *added])
            one.append(seconds_of(lambda: rig.add(grown, name)))  # noqa: B023  (called at once)
        yield of_runs("one queue more in it, until its links stand", one, load)


def _until(holds: Callable[[], bool]) -> None:
    """Call ``holds`` until it returns true; an ``Unreachable`` that it raises counts as false.

    Raises:
        TimeoutError: after 120 s.
    """
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            if holds():
                return
        except Unreachable:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"not in {_START_SECONDS} s")
        time.sleep(0.05)
