"""Tests mutants with one Spark session, because each start of Spark takes ten seconds.

mutmut starts a process for each mutant. Here it only writes the mutants. They stand side by side in
the copied sources, and the variable ``MUTANT_UNDER_TEST`` says at each call which one to take. So
one process runs the tests of one mutant after another. ``run`` starts this module as that process.
Results go to mutmut's own files, which its commands ``results`` and ``show`` read.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

import pytest
from _pytest.runner import runtestprotocol

# What mutmut's own files say about a mutant.
_SURVIVED, _KILLED, _TIMEOUT = 0, 1, 36
_MUTANT = "MUTANT_UNDER_TEST"
_FOLDER = "mutants"
_SECONDS = 60
_GENERATE = (
    "from mutmut import __main__ as mutmut; "
    "mutmut.set_mutant_under_test('mutant_generation'); "
    "mutmut.copy_src_dir(); mutmut.copy_also_copy_files(); mutmut.create_mutants(1)"
)


@dataclass(frozen=True)
class Mutant:
    """One mutant: the file with its result, and its name."""

    file: Path
    name: str

    @property
    def function(self) -> str:
        """The name of the function that it is of, as mutmut writes it."""
        return self.name.partition("__mutmut_")[0]

    def write(self, result: int) -> None:
        """Store the result as mutmut does."""
        stored = json.loads(self.file.read_text())
        stored["exit_code_by_key"][self.name] = result
        self.file.write_text(json.dumps(stored, indent=4))


@dataclass(frozen=True)
class Timed:
    """A test, its duration and the functions with mutants that it calls."""

    item: pytest.Item
    seconds: float
    reached: frozenset[str]


def run(python: Path, folder: Path, arguments: Sequence[str]) -> None:
    """Write the mutants of the copy in ``folder``, and test each of them.

    ``python`` is the interpreter that has mutmut, ``arguments`` are those of pytest. A test that
    takes too long, or leaves something behind in Spark, ends the process. Then another one goes on.
    """
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run([python, "-c", _GENERATE], check=True, cwd=folder, env=variables)
    copy = folder / _FOLDER
    n_open = len(untested(copy))
    while n_open:
        command = [str(python), "-m", __name__, *arguments]
        subprocess.run(command, check=False, cwd=copy, env=variables)
        n_before, n_open = n_open, len(untested(copy))
        if n_open == n_before:
            raise RuntimeError("The tests failed without a mutant.")


def untested(folder: Path) -> list[Mutant]:
    """Return the mutants that have no result yet."""
    found = []
    for file in sorted(folder.glob("**/*.meta")):
        results = json.loads(file.read_text())["exit_code_by_key"]
        found += [Mutant(file, name) for name, result in results.items() if result is None]
    return found


class EachMutant:
    """A plugin of pytest that runs the collected tests for each mutant instead of once."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self._mutants = mutants

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        """Tell upper case from lower case in names of columns, which mutmut changes."""
        made: Any = yield
        if fixturedef.argname == "spark":
            made.conf.set("spark.sql.caseSensitive", "true")
        return made

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Test all mutants; raise ``session.Failed`` when only a new process can go on."""
        if session.testsfailed:
            raise session.Failed("The tests could not be collected.")
        for item in session.items:
            _reached(item)  # the first run of a test is slower
        tests = sorted(map(_timed, session.items), key=lambda test: test.seconds)
        is_new = True
        for group in _groups(self._mutants):
            killers = {mutant: _killer(mutant, tests) for mutant in group}
            is_broken = any(map(_fails, {killer for killer in killers.values() if killer}))
            if is_broken and not is_new:
                # Which mutant was it? A new process, which tests its first ones one by one, tells.
                raise session.Failed(f"A mutant of {group[0].function} left something behind.")
            for mutant, killer in killers.items():
                mutant.write(_KILLED if killer else _SURVIVED)
                _say(f"{mutant.name}: {killer.name if killer else 'survived'}")
            if is_broken:
                raise session.Failed(f"{group[0].name} left something behind.")
            is_new = False
        return True


def _groups(mutants: Sequence[Mutant]) -> Iterator[Sequence[Mutant]]:
    """Yield the mutants of the first function one by one, and then those of each function."""
    functions = [list(group) for _, group in groupby(mutants, key=lambda one: one.function)]
    yield from ([mutant] for mutant in functions[0])
    yield from functions[1:]


def _killer(mutant: Mutant, tests: Sequence[Timed]) -> pytest.Item | None:
    """Return the first test that fails with a mutant."""
    reaching = (test.item for test in tests if mutant.function in test.reached)
    with _time_limit(mutant):
        return next((item for item in reaching if _fails(item, mutant.name)), None)


def _timed(item: pytest.Item) -> Timed:
    """Run a test without a mutant, and measure how long it takes."""
    begun = time.monotonic()
    reached = _reached(item)
    return Timed(item, time.monotonic() - begun, reached)


def _reached(item: pytest.Item) -> frozenset[str]:
    """Return the functions with mutants that a test calls."""
    state: Any = importlib.import_module("mutmut.state").state()
    state._stats.clear()
    if _fails(item, "stats"):
        raise pytest.UsageError(f"{item.nodeid} fails without a mutant.")
    return frozenset(state._stats)


def _fails(item: pytest.Item, mutant: str = "") -> bool:
    """Run a test with a mutant, and tear down all of its fixtures but those of the session."""
    os.environ[_MUTANT] = mutant
    try:
        # The next item decides which fixtures remain. Those of modules must not: they would hold
        # what the mutant before computed.
        reports = runtestprotocol(item, log=False, nextitem=item.session)  # type: ignore[arg-type]
    finally:
        os.environ[_MUTANT] = ""
    return any(report.failed for report in reports)


@contextmanager
def _time_limit(mutant: Mutant) -> Iterator[None]:
    """End the process when a mutant takes too long; the mutant is killed then."""

    def end(*_: object) -> NoReturn:
        mutant.write(_TIMEOUT)
        os._exit(1)

    signal.signal(signal.SIGALRM, end)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def _say(line: str) -> None:
    sys.__stdout__.write(f"{line}\n")  # type: ignore[union-attr]


if __name__ == "__main__":
    raise SystemExit(pytest.main(sys.argv[1:], plugins=[EachMutant(untested(Path.cwd()))]))
