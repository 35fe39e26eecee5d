"""stripe-mock, Stripe's own stand-in: it checks requests by Stripe's API and keeps no state."""

import atexit
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controlplane.embedded import ports
from tests.support.charts import tools

STRIPE_MOCK = "github.com/stripe/stripe-mock@v0.197.0"
_claims = ports.Claims()  # no outgoing connection takes the port before the server listens
atexit.register(_claims.release)


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Run stripe-mock; yield the base address of its API."""
    port = _claims.take_any()
    log = folder / "stripe-mock.log"
    command = [str(tools.go_program(STRIPE_MOCK)), "-http-addr", f"127.0.0.1:{port}"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + 60
        while not ports.is_open("127.0.0.1", port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


if __name__ == "__main__":  # built before the tests, which need no network then
    tools.go_program(STRIPE_MOCK)
