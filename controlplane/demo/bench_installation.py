"""Provides the temporary folder of an installation that a bench measures, and its tenant."""

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
    """Yield a path for a new installation; at the end stop what runs there and remove the folder.

    The caller starts the installation; the folder does not exist before.
    """
    # Short names, because the path of a unix socket has a limited length.
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
    """A ``Customer`` with methods that create in one call what a bench needs."""

    @classmethod
    def signed_up(cls, installation: Installation) -> Self:
        """Sign up a new tenant of ``installation`` on the plan ``team``, and return it."""
        customer = cls(installation.url, "Bench Works", installation.run_dir)
        customer.sign_up("team")
        return customer

    def create_queue(self, space: str, address: str) -> None:
        """Create a queue of the smallest plan in the space ``space``; wait until it is ready."""
        self.create_address(space, address, "queue", f"{self.spaces[space].type}-small-queue")

    def create_space_with_queue(self, name: str, type: str) -> Login:
        """Create a space of medium size with the queue ``orders`` and a messaging user.

        Returns the user's login; it may send and receive everywhere.
        """
        self.create_space(name, type, f"{type}-medium")
        self.create_queue(name, "orders")
        self.create_user(name, "client", EVERYTHING)
        return self.login(name, "client")
