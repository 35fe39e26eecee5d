"""What `make mutation` reads and reports; the run itself is no test."""

import importlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support import source_tree
from tests.support.mutation import run, with_spark
from tests.support.mutation.run import Part, Result, Survivor

SURVIVOR = Survivor("plans.rating.money.allocate", "a < 0", "a <= 0")


def part(explained: dict[Survivor, str]) -> Part:
    return Part("kernel", (), (), with_server=False, explained=explained)


def test_parts_name_what_exists() -> None:
    parts = run.parts()

    assert [one.name for one in parts] == ["kernel", "enforcement", "lakehouse"]
    for one in parts:
        assert [name for name in one.modules if not list(source_tree.ROOT.glob(name))] == []
        assert [name for name in one.tests if not (source_tree.ROOT / name).exists()] == []


def test_explained_survivors_are_of_lines_that_exist() -> None:
    gone = []
    for one in run.parts():
        for survivor, because in one.explained.items():
            names = survivor.function.split(".")
            # The module is the longest part that is one; a class may follow.
            files = [source_tree.ROOT.joinpath(*names[:n]).with_suffix(".py") for n in (3, 2)]
            [file, *_] = [file for file in files if file.exists()]
            n_module = len(file.relative_to(source_tree.ROOT).parts)
            text = file.read_text()
            found = importlib.import_module(".".join(names[:n_module]))
            for name in names[n_module:]:
                found = getattr(found, name)
            if survivor.before not in text or not because:
                gone.append(survivor)

    assert gone == []


@pytest.mark.parametrize(
    ("mutant", "function"),
    [
        ("plans.rating.money.x_allocate__mutmut_3", "plans.rating.money.allocate"),
        ("plans.rating.money.x__private__mutmut_3", "plans.rating.money._private"),
        (
            "plans.rating.pricing.x\u01c1_Bill\u01c1line__mutmut_33",
            "plans.rating.pricing._Bill.line",
        ),
    ],
)
def test_a_mutant_is_named_by_its_function(mutant: str, function: str) -> None:
    assert run.function_of(mutant) == function


@pytest.mark.parametrize(
    ("killed", "survivors", "explained", "code"),
    [
        (20, [], {}, 0),
        (19, [SURVIVOR], {SURVIVOR: "No test can notice it."}, 0),
        (19, [SURVIVOR], {}, 1),
        (18, [SURVIVOR], {SURVIVOR: "No test can notice it."}, 1),
    ],
)
def test_a_run_passes_with_the_goal_and_a_reason_for_each_survivor(
    killed: int, survivors: list[Survivor], explained: dict[Survivor, str], code: int
) -> None:
    statuses = Counter(killed=killed - 1, timeout=1, survived=len(survivors))

    found = run.report(part(explained), {"plans.rating.money": Result(statuses, survivors)})

    assert found == code


# Files of a folder as mutmut leaves them: a module with two mutants of one function, its test, and
# what mutmut knows of the functions that were called.
FOLDER = {
    "mutmut/__init__.py": "",
    "mutmut/state.py": """
class State:
    _stats = set()

def state():
    return State
""",
    "sums.py": """
import os
from mutmut.state import state

def double(number):
    mutant = os.environ["MUTANT_UNDER_TEST"]
    if mutant == "stats":
        state()._stats.add("sums.x_double")
    return number * (3 if mutant == "sums.x_double__mutmut_1" else 2)
""",
    "test_sums.py": """
from pathlib import Path
import pytest, sums

@pytest.fixture(scope="session")
def server():
    with Path("starts").open("a") as starts:
        starts.write("start ")

@pytest.fixture(scope="module")
def four(server):
    return sums.double(2)

def test_double(four):
    assert four == 4
""",
    "pytest.ini": "[pytest]",
    "sums.py.meta": json.dumps(
        {
            "exit_code_by_key": {
                "sums.x_double__mutmut_1": None,
                "sums.x_double__mutmut_2": None,
                "sums.x_half__mutmut_1": None,
                "sums.x_double__mutmut_3": 1,
            }
        }
    ),
}


def test_one_process_tests_all_mutants_with_one_session(tmp_path: Path) -> None:
    for name, text in FOLDER.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    subprocess.run(
        [sys.executable, "-m", with_spark.__name__, "-p", "no:cacheprovider"],
        check=True,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(source_tree.ROOT),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
        },
    )

    results = json.loads((tmp_path / "sums.py.meta").read_text())["exit_code_by_key"]
    assert results == {
        "sums.x_double__mutmut_1": 1,  # killed
        "sums.x_double__mutmut_2": 0,  # survived
        "sums.x_half__mutmut_1": 0,  # no test calls it
        "sums.x_double__mutmut_3": 1,
    }
    assert with_spark.untested(tmp_path) == []
    assert (tmp_path / "starts").read_text() == "start "
