"""What `make mutation` reads and reports; the run itself is no test."""

import importlib
from collections import Counter

import pytest

from tests.support import source_tree
from tests.support.mutation import run
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
