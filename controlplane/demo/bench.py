"""Measures speed and memory, and writes the figures with their limits into docs/performance.md.

``make bench`` runs this module. Installations run in a temporary folder, which is removed at the
end. The demonstration is timed as users run it, with ``waypost demo --exit``.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from controlplane.demo import figures as figures_page
from controlplane.demo.bench_installation import BenchCustomer, temporary_root
from controlplane.demo.bench_results import seconds_of
from controlplane.demo.customers import EVERYTHING
from controlplane.demo.figures import Figure
from controlplane.demo.narrator import Narrator
from controlplane.embedded import stack, supervision
from controlplane.embedded.installation import Installation
from workers.messaging.traffic import Party, Plan

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "performance.md"
_ADDRESSES = 10  # how often the time of an address is measured
# Runs in a new process, because only the first session of a process starts Java.
_SPARK = (
    "import time; began = time.monotonic()\n"
    "from lakehouse import session\n"
    "spark = session.start('bench'); spark.range(1000).selectExpr('sum(id)').collect()\n"
    "print(time.monotonic() - began)"
)


def main() -> int:
    """Measure everything and write the section "On one machine" of docs/performance.md.

    Returns the exit code: 1 if a figure exceeds its limit, else 0.
    """
    narrator = Narrator()
    figures = []
    for measure in (setup_again, installation, spark_session, demonstration):
        for figure in measure():
            narrator.line(f"{figure.what}: {figure.value:.1f} {figure.unit}")
            figures.append(figure)
    figures_page.write(PAGE, "On one machine", figures)
    return int(any(figure.is_over for figure in figures))


def setup_again() -> Iterator[Figure]:
    """Run the setup (.ci/setup) on this machine, which has everything already; yield its time."""
    command = [str(REPOSITORY / ".ci" / "setup")]
    seconds = seconds_of(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
    yield Figure("setup again", seconds, "s", 5, "time make setup")


def installation() -> Iterator[Figure]:
    """Start a temporary installation; yield times of its first use, and its memory.

    The times are those of the start, of the signup with a first message, of an address until it is
    usable, and of 5,000 messages. The memory is that of all processes with two spaces (PSS).
    """
    with temporary_root() as root:
        began = time.monotonic()
        running = stack.up(root)
        yield Figure("up from nothing", time.monotonic() - began, "s", 30, "make bench")
        yield from _first_message(running)
        yield Figure(
            "memory with two spaces (PSS)",
            supervision.resident_bytes(running) / 2**30,
            "GiB",
            4,
            "make bench",
        )


def _first_message(running: Installation) -> Iterator[Figure]:
    began = time.monotonic()
    customer = BenchCustomer.signed_up(running)
    customer.create_space("one", "brokered", "brokered-small")
    customer.create_queue("one", "first")
    customer.create_user("one", "client", EVERYTHING)
    _exchange(customer, "first", 1)
    yield Figure("signup to first message", time.monotonic() - began, "s", 5, "make bench")
    times = []
    for number in range(_ADDRESSES):
        address = f"queue-{number}"
        times.append(seconds_of(lambda: customer.create_queue("one", address)))  # noqa: B023
    yield Figure("address usable (median)", statistics.median(times), "s", 2, "make bench")
    began = time.monotonic()
    _exchange(customer, "first", 5000)
    yield Figure(
        "5,000 messages through a queue over TLS", time.monotonic() - began, "s", 30, "make bench"
    )
    # Only so that the memory is that of two spaces, one of each type.
    customer.create_space("two", "standard", "standard-small")


def _exchange(customer: BenchCustomer, address: str, messages: int) -> None:
    party = Party(customer.login("one", "client"), Plan(address, messages))
    party.open()
    party.exchange()
    party.close()


def spark_session() -> Iterator[Figure]:
    """Start a Spark session in a new process; yield the time until its first action has ended.

    Each run of the billing pipeline needs this time.
    """
    shown = subprocess.run(
        [sys.executable, "-c", _SPARK], capture_output=True, text=True, check=True
    )
    seconds = float(shown.stdout.split()[-1])
    yield Figure("first Spark action", seconds, "s", 8, "make bench")


def demonstration() -> Iterator[Figure]:
    """Run the whole demonstration in a process of its own; yield its time."""
    with temporary_root() as root:
        waypost = str(Path(sys.executable).parent / "waypost")
        command = [waypost, "demo", "--exit", "--state", str(root)]
        seconds = seconds_of(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
    yield Figure("the whole demonstration", seconds, "s", 240, "time make demo EXIT=1")


if __name__ == "__main__":
    raise SystemExit(main())
