"""Measures CPU time and memory of an installation's routers, brokers and auth service."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

from controlplane.embedded.installation import Installation


@dataclass(frozen=True)
class Spent:
    """The elapsed time and the CPU time of each process by name, both in seconds.

    The name ``client`` is the process of the bench itself.
    """

    seconds: float
    processors: Mapping[str, float]

    def for_each_thousand(self, messages: int) -> str:
        """Return a text with the CPU time that each process spent on a thousand messages.

        ``messages`` is how many were exchanged in all.
        """
        costs = (f"{name} {1000 * s / messages:.2f} s" for name, s in self.processors.items())
        return f"CPU for 1,000: {', '.join(costs)}"


class Watch:
    """Measures the CPU time that processes (name -> pid) spend after this object was created.

    The process of the bench itself is measured too, under the name ``client``.
    """

    def __init__(self, processes: Mapping[str, int]) -> None:
        self._processes = {
            name: psutil.Process(pid) for name, pid in {**processes, "client": os.getpid()}.items()
        }
        self._before = self._now()
        self._began = time.monotonic()

    def spent(self) -> Spent:
        """Return the elapsed time and the CPU times since this object was created."""
        seconds, now = time.monotonic() - self._began, self._now()
        return Spent(seconds, {name: now[name] - self._before[name] for name in now})

    def _now(self) -> dict[str, float]:
        times = {name: process.cpu_times() for name, process in self._processes.items()}
        return {name: cpu.user + cpu.system for name, cpu in times.items()}


def find(installation: Installation, space: str, kinds: Sequence[str]) -> dict[str, int]:
    """Return {kind: pid of the space's instance 0 of this kind}, such as that of ``router-0``.

    A kind is ``router`` or ``broker``. ``space`` is the space's name.

    Raises:
        StopIteration: the space has no such instance.
    """
    running = {status.name: status.pid for status in installation.supervisor().list_programs()}
    found = {}
    for kind in kinds:
        # A program's name ends with its instance and contains the name of its space.
        ends = f".{kind}-0"
        found[kind] = next(p for n, p in running.items() if space in n and n.endswith(ends))
    return found


def find_auth(installation: Installation) -> int:
    """Return the pid of the installation's auth service."""
    programs = installation.supervisor().list_programs()
    return next(status.pid for status in programs if status.name == "auth")


def memory_mib(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    return float(psutil.Process(pid).memory_info().rss) / 2**20
