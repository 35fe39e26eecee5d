"""The installation that a bench measures, and the tenant that works on it."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from controlplane.demo.customers import EVERYTHING, Customer
from controlplane.embedded import stack
from controlplane.embedded.installation import Installation
from workers.messaging.counting_client import Login


@contextmanager
def temporary_root() -> Iterator[Path]:
    """Yield a folder for an installation; at the end stop what runs in it, and remove it."""
    # Short names: the sockets of an installation have a limited path length.
    parent = Path(tempfile.mkdtemp(prefix="wp-bench-"))
    root = parent / "s"
    try:
        yield root
    finally:
        # A refused start leaves no installation, and `down` fails without one.
        if (root / "installation.json").exists():
            stack.down(root, purge=True)
        shutil.rmtree(parent)


class BenchCustomer(Customer):
    """A tenant whose messaging users may do everything."""

    @classmethod
    def signed_up(cls, installation: Installation) -> Self:
        """Return a new tenant on the plan ``team``."""
        customer = cls(installation.url, "Bench Works", installation.run_dir)
        customer.sign_up("team")
        return customer

    def create_queue(self, space: str, address: str) -> None:
        """Create a queue of the smallest plan, and wait until it is ready."""
        self.create_address(space, address, "queue", f"{self.spaces[space].type}-small-queue")

    def create_space_with_queue(self, name: str, type: str) -> Login:
        """Create a space with the queue ``orders``; return the login of a new user."""
        self.create_space(name, type, f"{type}-medium")
        self.create_queue(name, "orders")
        self.create_user(name, "client", EVERYTHING)
        return self.login(name, "client")
