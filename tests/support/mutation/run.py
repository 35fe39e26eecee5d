"""Run the mutation tests and compare them with the goal (``make mutation``).

mutmut changes one operator, value or argument at a time in a copy of the sources, and runs the
tests that reach it. A change that no test notices survives. ``parts.toml`` says which modules are
changed, which tests run, and which survivors are no gap of the tests, with the reason. mutmut has
an environment of its own in front of that of development, because it brings a browser of results
with many packages.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from controlplane.embedded import postgres
from tests.support import source_tree
from tests.support.mutation import plugin, with_spark

GOAL_PERCENT = 95
FOLDER = source_tree.ROOT / "build" / "mutation"
PARTS = Path(__file__).with_name("parts.toml")
_LOCK = source_tree.ROOT / ".locks" / "mutation.txt"
_PLACE = source_tree.ROOT / ".venv" / "mutation"
# A test that is stopped as too slow noticed the change: it made a loop endless.
_KILLED = {"killed", "timeout"}
# The plugins that our configuration of pytest names. Others would be searched for each mutant.
_PLUGINS = ("pytest_django.plugin", "xdist.plugin", "pytest_socket", "_hypothesis_pytestplugin")


@dataclass(frozen=True)
class Survivor:
    """A change that no test noticed: the function, and its lines before and after."""

    function: str
    before: str
    after: str


@dataclass(frozen=True)
class Part:
    """Modules that are changed and the tests that run on them.

    ``with_server``: the tests need a database; then one mutant is tested at a time. ``with_spark``:
    the tests need Spark; then one process tests all mutants. ``explained`` are survivors that are
    no gap, with the reason.
    """

    name: str
    modules: Sequence[str]
    tests: Sequence[str]
    with_server: bool
    explained: Mapping[Survivor, str]
    with_spark: bool = False


@dataclass
class Result:
    """What the mutants of one module came to, by status, and the survivors."""

    statuses: Counter[str] = field(default_factory=Counter)
    survivors: list[Survivor] = field(default_factory=list)

    @property
    def n_killed(self) -> int:
        return sum(self.statuses[status] for status in _KILLED)


def main(arguments: Sequence[str]) -> int:
    """Run the named parts, by default all; return 0 if they reach the goal."""
    known = {part.name: part for part in parts()}
    parser = argparse.ArgumentParser(prog="make mutation")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(known))
    parser.add_argument("--children", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(arguments)
    wanted = [known[name] for name in asked.parts] or list(known.values())
    return max(_tested(part, asked.children) for part in wanted)


def parts() -> list[Part]:
    """Return the parts of ``parts.toml``."""
    return [
        Part(
            name,
            row["modules"],
            row["tests"],
            row.get("with_server", False),
            {
                Survivor(one["function"], one["before"], one["after"]): one["because"]
                for one in row.get("explained", ())
            },
            row.get("with_spark", False),
        )
        for name, row in tomllib.loads(PARTS.read_text()).items()
    ]


def _tested(part: Part, n_children: int) -> int:
    """Test the mutants of a part, print what was found, and return the exit code."""
    mutmut = _environment()
    folder = _prepared(part)
    if part.with_spark:
        with_spark.run(mutmut.with_name("python"), folder, [*_options(), *part.tests])
        return report(part, _results(mutmut, folder))
    with _server(part) as variables:
        subprocess.run(
            [mutmut, "run", "--max-children", str(1 if part.with_server else n_children)],
            check=True,
            cwd=folder,
            env={**os.environ, **variables, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
    return report(part, _results(mutmut, folder))


def report(part: Part, results: Mapping[str, Result]) -> int:
    """Print the results by module, and the survivors without a reason; return the exit code."""
    total = sum((result.statuses for result in results.values()), Counter[str]())
    survivors = [one for result in results.values() for one in result.survivors]
    open_ones = [one for one in survivors if one not in part.explained]
    gone = [one for one in part.explained if one not in survivors]
    for module, result in sorted(results.items()):
        n = result.statuses.total()
        _say(f"{module}: {n} mutants, {result.n_killed} killed, {n - result.n_killed} survived")
    for one in open_ones:
        _say(f"survived in {one.function}:\n  - {one.before}\n  + {one.after}")
    for one in gone:
        _say(f"explained, and not among the survivors: {one.function}: {one.after}")
    n_killed = sum(total[status] for status in _KILLED)
    percent = 100 * n_killed / max(1, total.total())
    _say(
        f"{part.name}: {total.total()} mutants, {percent:.1f} % killed (goal: {GOAL_PERCENT} %), "
        f"{len(survivors)} survived, {len(open_ones)} of them without a reason"
    )
    return int(percent < GOAL_PERCENT or bool(open_ones))


def _environment() -> Path:
    """Return the path of mutmut; makes its environment once for each lock."""
    stamp, program = _PLACE / "lock", _PLACE / "bin" / "mutmut"
    wanted = _LOCK.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        uv = Path(sys.executable).parent / "uv"
        venv = [uv, "venv", "-q", "--clear", "--no-project", "--python", sys.executable, _PLACE]
        subprocess.run(list(map(str, venv)), check=True)
        install = [uv, "pip", "install", "-q", "--python", _PLACE, "--require-hashes", "-r", _LOCK]
        subprocess.run(list(map(str, install)), check=True)
        [packages] = _PLACE.glob("lib/python*/site-packages")
        [ours] = [path for path in sys.path if path.endswith("site-packages")]
        (packages / "development.pth").write_text(f"{ours}\n")
        stamp.write_text(wanted)
    return program


def _prepared(part: Part) -> Path:
    """Return a new copy of the tracked files, with the configuration of mutmut."""
    folder = FOLDER / part.name
    shutil.rmtree(folder, ignore_errors=True)
    for path in source_tree.list_files():
        name = path.relative_to(source_tree.ROOT)
        if name.parts[0] in (*source_tree.PACKAGES, "tests", "docs", "pyproject.toml"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / name)
    with (folder / "pyproject.toml").open("a") as configuration:
        configuration.write(
            "\n[tool.mutmut]\n"
            f"source_paths = {list(source_tree.PACKAGES)}\n"
            f"only_mutate = {list(part.modules)}\n"
            'also_copy = ["docs"]\n'
            f"pytest_add_cli_args = {_options()}\n"
            f"pytest_add_cli_args_test_selection = {list(part.tests)}\n"
            "use_git_change_detection = false\n"
            "timeout_constant = 10.0\n"
        )
    return folder


def _options() -> list[str]:
    """Return the options of pytest."""
    # pytest-django would find ``manage.py`` above the copy, and import the sources beside it.
    options = ["-o", "django_find_project=false"]
    for loaded in (*_PLUGINS, "no:cacheprovider", plugin.__name__):
        options += ["-p", loaded]
    return options


@contextmanager
def _server(part: Part) -> Iterator[Mapping[str, str]]:
    """Serve a database for all mutants of a part; yield the variables that name it."""
    if not part.with_server:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="waypost-mutation-") as folder:
        with postgres.throwaway(Path(folder)) as server:
            address = (server.host, str(server.port), server.user, server.password)
            yield {plugin.SERVER: " ".join(address)}


def _results(mutmut: Path, folder: Path) -> Mapping[str, Result]:
    """Return the results by module, as mutmut keeps them in the folder."""
    listed = subprocess.run(
        [mutmut, "results", "--all", "true"], check=True, cwd=folder, capture_output=True, text=True
    ).stdout
    found: dict[str, Result] = {}
    for name, status in re.findall(r"^\s+(\S+): (.+)$", listed, re.M):
        result = found.setdefault(name.rpartition(".")[0], Result())
        result.statuses[status] += 1
        if status not in _KILLED:
            result.survivors.append(_shown(mutmut, folder, name))
    return found


def _shown(mutmut: Path, folder: Path, name: str) -> Survivor:
    """Return the function and the lines that a mutant changes."""
    text = subprocess.run(
        [mutmut, "show", name], check=True, cwd=folder, capture_output=True, text=True
    ).stdout
    removed = re.findall(r"^-(?!-- )(.*)$", text, re.M)
    added = re.findall(r"^\+(?!\+\+ )(.*)$", text, re.M)
    before, after = (" ".join(line.strip() for line in lines) for lines in (removed, added))
    return Survivor(function_of(name), before, after)


def function_of(mutant: str) -> str:
    """Return the dotted name of the function that a mutant is of."""
    module, _, mangled = mutant.partition("__mutmut_")[0].rpartition(".")
    # mutmut writes ``x_name`` for a function, and for a method ``xǁClassǁname`` with U+01C1.
    if mangled.startswith("x_"):
        return f"{module}.{mangled.removeprefix('x_')}"
    return module + mangled.removeprefix("x").replace("\u01c1", ".")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
