"""The house rules on size and names, held by a walk over the tree."""

import ast
import statistics

import pytest

from tests.support import source_tree

MAX_MODULE, MAX_TEST, MAX_FUNCTION, MAX_PARAMETERS = 400, 500, 50, 6
FORBIDDEN_NAMES = {"utils", "util", "helper", "helpers", "manager", "managers", "info", "data"}


def test_modules_are_short() -> None:
    lines = {path: path.read_text().count("\n") for path in source_tree.list_modules()}

    too_long = [f"{path}: {count}" for path, count in lines.items() if count > MAX_MODULE]

    assert lines
    assert too_long == []


def test_test_modules_are_short() -> None:
    tests = [
        path
        for path in source_tree.list_written(".py")
        if path.relative_to(source_tree.ROOT).parts[0] == "tests"
    ]

    too_long = [str(path) for path in tests if path.read_text().count("\n") > MAX_TEST]

    assert tests
    assert too_long == []


def test_functions_are_short() -> None:
    too_long = [
        f"{function.place} {function.name}: {function.n_lines}"
        for path in source_tree.list_written(".py")
        for function in source_tree.list_functions(path)
        if function.n_lines > MAX_FUNCTION
    ]

    assert too_long == []


def test_functions_of_the_product_are_short_as_a_rule() -> None:
    lengths = [
        function.n_lines
        for path in source_tree.list_modules()
        for function in source_tree.list_functions(path)
    ]

    assert statistics.median(lengths) <= 12


def test_functions_take_few_parameters() -> None:
    functions = [
        function
        for path in source_tree.list_modules()
        for function in source_tree.list_functions(path)
    ]

    too_many = [
        f"{function.place} {function.name}: {function.n_parameters}"
        for function in functions
        if function.n_parameters > MAX_PARAMETERS
    ]

    assert too_many == []


def test_modules_are_named_for_their_subject() -> None:
    named = [path for path in source_tree.list_modules() if path.stem in FORBIDDEN_NAMES]

    assert named == []


def test_every_module_says_what_lives_there() -> None:
    silent = [
        str(path)
        for path in source_tree.list_modules()
        if path.read_text().strip() and not ast.get_docstring(source_tree.parsed(path))
    ]

    assert silent == []


@pytest.mark.parametrize("word", ["TODO", "FIXME"])
def test_nothing_is_left_to_do(word: str) -> None:
    left = [
        str(path)
        for path in source_tree.list_written(".py", ".html", ".yaml", ".toml")
        if path.name != "test_size_and_names.py" and word in path.read_text()
    ]

    assert left == []
