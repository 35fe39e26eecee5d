"""Measure speed and memory, and write them with their limits into docs/performance.md.

Run by ``make bench``. Every figure is measured with real servers in a temporary folder, which is
removed at the end. The demonstration is timed as users run it.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from controlplane.demo import figures as figures_page
from controlplane.demo.customers import EVERYTHING, Customer
from controlplane.demo.figures import Figure
from controlplane.demo.narrator import Narrator
from controlplane.embedded import stack, supervision
from controlplane.embedded.installation import Installation
from workers.messaging.traffic import Party, Plan

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "performance.md"
_ADDRESSES = 10
# Runs in a new process, because only the first session of a process starts Java.
_SPARK = (
    "import time; began = time.monotonic()\n"
    "from lakehouse import session\n"
    "spark = session.start('bench'); spark.range(1000).selectExpr('sum(id)').collect()\n"
    "print(time.monotonic() - began)"
)


def main() -> int:
    """Measure everything and write the page; the exit code is 1 if a limit is exceeded."""
    narrator = Narrator()
    figures = []
    for measure in (_setup, _installation, _spark, _demo):
        for figure in measure():
            narrator.tell(f"{figure.what}: {figure.value:.1f} {figure.unit}")
            figures.append(figure)
    figures_page.write(PAGE, "On one machine", figures)
    return int(any(figure.is_over for figure in figures))


def _setup() -> Iterator[Figure]:
    seconds = _timed(lambda: _run([str(REPOSITORY / ".ci" / "setup")]))
    yield Figure("setup again", seconds, "s", 5, "time make setup")


def _installation() -> Iterator[Figure]:
    with _folder() as root:
        began = time.monotonic()
        installation = stack.up(root)
        yield Figure("up from nothing", time.monotonic() - began, "s", 30, "make bench")
        yield from _first_message(installation)
        yield Figure(
            "memory with two spaces (PSS)",
            supervision.resident_bytes(installation) / 2**30,
            "GiB",
            4,
            "make bench",
        )


def _first_message(installation: Installation) -> Iterator[Figure]:
    customer = Customer(installation.url, "Bench Works", installation.run_dir)
    began = time.monotonic()
    customer.sign_up("team")
    customer.create_space("one", "brokered", "brokered-small")
    customer.create_address("one", "first", "queue", "brokered-small-queue")
    customer.create_user("one", "client", EVERYTHING)
    _exchange(customer, "first", 1)
    yield Figure("signup to first message", time.monotonic() - began, "s", 5, "make bench")
    times = []
    for number in range(_ADDRESSES):
        address = f"queue-{number}"
        times.append(
            _timed(
                lambda address=address: customer.create_address(  # type: ignore[misc]
                    "one", address, "queue", "brokered-small-queue"
                )
            )
        )
    yield Figure("address usable (median)", statistics.median(times), "s", 2, "make bench")
    began = time.monotonic()
    _exchange(customer, "first", 5000)
    yield Figure(
        "5,000 messages through a queue over TLS", time.monotonic() - began, "s", 30, "make bench"
    )
    # Only for the memory of two spaces, one of each type.
    customer.create_space("two", "standard", "standard-small")


def _exchange(customer: Customer, address: str, messages: int) -> None:
    party = Party(customer.login("one", "client"), Plan(address, messages))
    party.open()
    party.exchange()
    party.close()


def _spark() -> Iterator[Figure]:
    shown = subprocess.run(
        [sys.executable, "-c", _SPARK], capture_output=True, text=True, check=True
    )
    seconds = float(shown.stdout.split()[-1])
    yield Figure("first Spark action", seconds, "s", 8, "make bench")


def _demo() -> Iterator[Figure]:
    with _folder() as root:
        command = [str(Path(sys.executable).parent / "waypost"), "demo", "--exit"]
        seconds = _timed(lambda: _run([*command, "--state", str(root)]))
    yield Figure("the whole demonstration", seconds, "s", 240, "time make demo EXIT=1")


def _run(command: list[str]) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def _timed(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began


@contextmanager
def _folder() -> Iterator[Path]:
    # Short names: the sockets of an installation have a limited path length.
    parent = Path(tempfile.mkdtemp(prefix="wp-bench-"))
    try:
        yield parent / "s"
    finally:
        # A refused start leaves no installation, and `down` fails without one.
        if (parent / "s" / "installation.json").exists():
            stack.down(parent / "s", purge=True)
        shutil.rmtree(parent)


if __name__ == "__main__":
    raise SystemExit(main())
