"""Each name of the product has one import path: the module that defines it.

The packages ``models`` are the exception, because Django finds models only there: their names come
from the package, and only the package itself imports its modules.
"""

import ast
import functools
from collections.abc import Iterator, Mapping

import pytest

from tests.support import source_tree

Trees = Mapping[str, ast.Module]


@functools.cache
def product() -> Trees:
    """Return {dotted name: syntax tree} of the product's modules."""
    found = {}
    for path in source_tree.list_modules():
        name = str(path.relative_to(source_tree.ROOT).with_suffix("")).replace("/", ".")
        found[name.removesuffix(".__init__")] = source_tree.parsed(path)
    return found


@functools.cache
def defined(tree: ast.Module) -> frozenset[str]:
    """Return the names that a module binds itself: functions, classes, variables."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


def taken(tree: ast.Module, trees: Trees) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of what a module takes by ``from m import n`` and ``m.n``."""
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module in trees:
            for alias in node.names:
                yield node.module, alias.name
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            source = modules.get(node.value.id, "")
            if source in trees:
                yield source, node.attr


def second_paths(trees: Trees) -> list[str]:
    """Return every use of a name by way of a module that only imports it."""
    names = {module: defined(tree) for module, tree in trees.items()}
    found = []
    for user, tree in trees.items():
        for module, name in taken(tree, trees):
            is_own = f"{module}.{name}" in trees or name in names[module]
            if not is_own and not name.startswith("__") and not module.endswith(".models"):
                found.append(f"{user} takes {name} from {module}")
    return found


def test_every_name_is_imported_from_the_module_that_defines_it() -> None:
    assert second_paths(product()) == []


def test_models_are_imported_from_their_package_alone() -> None:
    trees = product()
    inner = {name for name in trees if ".models." in name}

    assert inner
    for user, tree in trees.items():
        reached = {module for module, _ in taken(tree, trees)} & inner
        assert [m for m in reached if not user.startswith(m.partition(".models.")[0])] == [], user


def test_no_module_lists_what_it_passes_on() -> None:
    lists = [name for name, tree in product().items() if "__all__" in defined(tree)]

    assert [name for name in lists if not name.endswith(".models")] == []


@pytest.mark.parametrize(
    "line", ["from plans.invoicing import close", "from plans import invoicing\ninvoicing.close()"]
)
def test_a_re_export_is_found(line: str) -> None:
    trees = {
        "plans.invoicing": ast.parse("from plans.invoicing.closing import close"),
        "plans.invoicing.closing": ast.parse("def close(): ..."),
        "plans": ast.parse(""),
        "workers": ast.parse(line),
    }

    assert second_paths(trees) == ["workers takes close from plans.invoicing"]
