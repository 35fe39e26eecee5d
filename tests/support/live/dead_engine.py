"""How long a killed or hung broker stays unseen on the API of a running installation."""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from controlplane.demo import bench_servers
from controlplane.demo.bench_installation import BenchCustomer, temporary_root
from controlplane.demo.bench_results import Result
from controlplane.embedded import ports, stack
from controlplane.embedded.installation import Installation
from tests.support.live.figures import RUNS, figure
from tests.support.waiting import eventually

_LIMIT_SECONDS = 15


def measure(_folder: Path) -> Iterator[Result]:
    """Kill, then stop, the broker of a brokered space, three times each."""
    for name in [name for name in os.environ if name.startswith("WAYPOST_")]:
        del os.environ[name]  # those of the bench's own database
    with temporary_root() as root:
        installation = stack.up(root, web_port=ports.reserve_port())
        customer = BenchCustomer.signed_up(installation)
        customer.create_space_with_queue("ends", "brokered")
        for what, fault in (("killed", signal.SIGKILL), ("hung", signal.SIGSTOP)):
            load = os.getloadavg()[0]
            runs = [_Fault(installation, customer).run(fault) for _ in range(RUNS)]
            shown, back = zip(*runs, strict=True)
            more = (
                f"the longest of {RUNS}, the shortest {min(shown):.1f} s; Active again in "
                f"{max(back):.1f} s at most"
            )
            yield figure(
                f"a {what} broker, until the API shows it",
                max(shown),
                "s",
                load=load,
                more=more,
                limit=_LIMIT_SECONDS,
            )


@dataclass(frozen=True)
class _Fault:
    """A fault of the broker of the customer's space ``ends``."""

    installation: Installation
    customer: BenchCustomer

    def run(self, fault: signal.Signals) -> tuple[float, float]:
        """Return the seconds until the API shows the fault, and from its end until it is over."""
        # Without this, all faults would begin just after a cycle of the sampler.
        time.sleep(random.uniform(0, 10))
        began = time.monotonic()
        pid = self._hit(fault)
        while self._is_active():
            assert time.monotonic() - began < 120, "the API does not show it"
            if fault == signal.SIGKILL:
                # The supervisor starts it again at once, often before the sampler asks.
                self._hit(fault)
            time.sleep(0.2)
        shown = time.monotonic() - began
        if fault == signal.SIGSTOP:
            os.kill(pid, signal.SIGCONT)
        began = time.monotonic()
        eventually(self._is_active, "the space is Active again", seconds=180)
        return shown, time.monotonic() - began

    def _hit(self, fault: signal.Signals) -> int:
        pid = bench_servers.find(self.installation, "ends", ["broker"])["broker"]
        if pid:
            with suppress(ProcessLookupError):
                os.kill(pid, fault)
        return pid

    def _is_active(self) -> bool:
        return bool(
            self.customer.api.get(self.customer.path("/address-spaces/ends"))["phase"] == "Active"
        )
