"""What a mutation run changes about pytest. ``run`` loads this plugin into every process.

A mutant's process runs few tests and ends, so whatever is slow at the start is left out: tests
without a database are run alone, and tests with one share the server that ``run`` started.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import pytest

from controlplane.embedded import postgres

# Host, port, user and password of the server; not set: tests that need a database are left out.
SERVER = "WAYPOST_MUTATION_SERVER"

# The same examples for each mutant, and no time for making a failing one simpler.
hypothesis.settings.register_profile(
    "mutation",
    deadline=None,
    derandomize=True,
    database=None,
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    suppress_health_check=list(hypothesis.HealthCheck),
)


def pytest_configure(config: pytest.Config) -> None:
    """Use the profile, which replaces the one of tests/conftest.py, and the server if one runs."""
    hypothesis.settings.load_profile("mutation")
    if SERVER in os.environ:
        config.stash[_PATCHED] = patched = pytest.MonkeyPatch()
        patched.setattr(postgres, "throwaway", _shared)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Undo ``pytest_configure``."""
    if patched := config.stash.get(_PATCHED, None):
        patched.undo()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that need a database, unless a server runs."""
    if SERVER in os.environ:
        return
    left_out = [item for item in items if "db" in getattr(item, "fixturenames", ())]
    left_out += [item for item in items if item.get_closest_marker("django_db")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@contextmanager
def _shared(_: Path) -> Iterator[postgres.Server]:
    host, port, user, password = os.environ[SERVER].split()
    yield postgres.Server(host, int(port), user, password)


_PATCHED = pytest.StashKey[pytest.MonkeyPatch]()
