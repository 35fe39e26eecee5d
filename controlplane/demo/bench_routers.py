"""Measures standard spaces and their routers, and writes the figures into docs/performance.md.

``make bench-routers`` runs this module, with an installation in a temporary folder that is removed
at the end. It uses the real router if one is installed. Before each figure it waits until the load
of the machine is low, and the figure states the load. Each part is a section of the page. ``python
-m controlplane.demo.bench_routers crowds rig`` measures only the parts ``crowds`` and ``rig``.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from controlplane.demo import bench_crowds, bench_rig, bench_servers, bench_traffic
from controlplane.demo import figures as figures_page
from controlplane.demo.bench_installation import BenchCustomer, temporary_root
from controlplane.demo.bench_results import Result, of_runs, result, seconds_of, wait_quiet
from controlplane.demo.narrator import Narrator
from controlplane.embedded import stack
from controlplane.embedded.installation import Installation
from workers.messaging.counting_client import Login

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
_RUNS = 5  # of each measurement
_READY_SECONDS, _USABLE_SECONDS = 15, 1  # limits
_LOGINS, _CONNECTIONS = 200, 1000
Part = Callable[[Installation], Iterator[Result]]


def main() -> int:
    """Measure the parts named as arguments, or all, and write a section of the page for each.

    Returns the exit code: 1 if a figure exceeds its limit, else 0.
    """
    narrator, is_over = Narrator(), False
    with temporary_root() as root:
        installation = stack.up(root)
        runs_on = stack.router_description(installation)
        narrator.line(f"standard spaces run on {runs_on}")
        for name in sys.argv[1:] or list(_PARTS):
            section, measure, note = _PARTS[name]
            results = []
            for figure in measure(installation):
                narrator.line(figure.row())
                results.append(figure)
            # Written after each part, so that a later part that fails loses nothing.
            figures_page.write(_PAGE, section, results, f"{note} Routers are {runs_on}.")
            is_over = is_over or any(figure.is_over for figure in results)
    return int(is_over)


def spaces(installation: Installation) -> Iterator[Result]:
    """Create five standard spaces, one after the other, with two queues each.

    Yields the medians of three times: until a space is ready, until its first queue is usable, and
    until its second queue is.
    """
    customer = BenchCustomer.signed_up(installation)
    load = wait_quiet()
    ready: list[float] = []
    first: list[float] = []
    later: list[float] = []
    for number in range(_RUNS):
        name = f"timed-{number}"
        ready.append(
            seconds_of(lambda: customer.create_space(name, "standard", "standard-small"))  # noqa: B023
        )
        for times, queue in ((first, "first"), (later, "second")):
            times.append(seconds_of(lambda: customer.create_queue(name, queue)))  # noqa: B023
        # Deleted, because the processes of an earlier space would slow the next one down.
        customer.delete_space(name)
    yield of_runs("a standard space, requested to ready", ready, load, _READY_SECONDS)
    yield of_runs("its first queue, requested to usable", first, load)
    yield of_runs("a queue more, requested to usable", later, load, _USABLE_SECONDS)


def throughput(installation: Installation) -> Iterator[Result]:
    """Yield messages a second through a router, and at a broker without router for comparison."""
    customer = BenchCustomer.signed_up(installation)
    # Space type -> text of the figure, and the instances whose CPU time is measured.
    ways = {
        "standard": ("through the router", "router", "broker"),
        "brokered": ("at the broker", "broker"),
    }
    for type, (way, *kinds) in ways.items():
        name = f"flow-{type}"
        login = customer.create_space_with_queue(name, type)
        pids = bench_servers.find(installation, name, kinds)
        yield from bench_traffic.measure(login, "orders", way, pids)
        customer.delete_space(name)


def crowds(installation: Installation) -> Iterator[Result]:
    """Yield the time of 200 logins at once with SCRAM-SHA-256, then with PLAIN.

    Then open 1,000 connections and yield their time, and the router's memory with them open.
    """
    customer = BenchCustomer.signed_up(installation)
    login = customer.create_space_with_queue("crowd", "standard")
    pids = bench_servers.find(installation, "crowd", ["router"])
    pids["auth"] = bench_servers.find_auth(installation)
    for mechanism in ("SCRAM-SHA-256", "PLAIN"):
        yield _logins(login, mechanism, pids)
    yield from _connections(login, pids["router"])
    customer.delete_space("crowd")


def _logins(login: Login, mechanism: str, pids: Mapping[str, int]) -> Result:
    load, watch = wait_quiet(), bench_servers.Watch(pids)
    with bench_crowds.crowd(login, mechanism, _LOGINS, at_once=_LOGINS) as arrival:
        # Read before the block ends, while the clients are connected and idle.
        spent = watch.spent().processors
        cost = (
            f"CPU router {spent['router']:.1f} s, auth service {spent['auth']:.1f} s, "
            f"clients {arrival.processor_seconds:.1f} s"
        )
        what = f"{_LOGINS} logins at once ({mechanism}), until the last"
        more = f"{arrival.opened} let in{arrival.refused()}; {cost}"
        return result(what, arrival.seconds, "s", load=load, more=more)


def _connections(login: Login, router: int) -> Iterator[Result]:
    load, before = wait_quiet(), bench_servers.memory_mib(router)
    watch = bench_servers.Watch({"router": router})
    with bench_crowds.crowd(login, "SCRAM-SHA-256", _CONNECTIONS, at_once=200) as arrival:
        after, spent = bench_servers.memory_mib(router), watch.spent().processors
    what = f"{_CONNECTIONS:,} connections, 200 dialing at any moment (SCRAM-SHA-256)"
    more = (
        f"{arrival.opened:,} let in{arrival.refused()}; CPU router {spent['router']:.1f} s, "
        f"clients {arrival.processor_seconds:.1f} s"
    )
    yield result(f"{what}: time", arrival.seconds, "s", load=load, more=more)
    more = (
        f"{before:.0f} MiB before, {1024 * (after - before) / max(arrival.opened, 1):.0f} KiB each"
    )
    yield result("the router's memory with them open", after, "MiB", load=load, more=more)


def rig(installation: Installation) -> Iterator[Result]:
    """Yield the figures of ``bench_rig``: a router and a broker outside any space.

    Sets the installation's environment variables in this process.
    """
    # The rig renders with Django's settings, which read the environment at their first use.
    os.environ.update(installation.environment())
    engine = "qdrouterd" if os.environ["WAYPOST_ROUTER_BINARY"] else "devrouter"
    yield from bench_rig.measure(installation.root.parent / "rig", engine)


_PARTS: Mapping[str, tuple[str, Part, str]] = {
    "spaces": (
        "Routers: a standard space and its queues",
        spaces,
        f"Median of {_RUNS} spaces, one after the other; usable is once a probe went through.",
    ),
    "throughput": (
        "Routers: messages a second",
        throughput,
        "100-byte durable messages over TLS, each confirmed, by clients in one Python process.",
    ),
    "crowds": (
        "Routers: many clients",
        crowds,
        "Clients on the same cores; SCRAM costs each of them 16,384 rounds of a hash.",
    ),
    "rig": (
        "Routers: a thousand queues",
        rig,
        "A router and a broker without a portal. The largest plan has 500 addresses.",
    ),
}

if __name__ == "__main__":
    raise SystemExit(main())
