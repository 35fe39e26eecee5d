"""Where tests live: unit tests beside their source's path, and what is no test in tests/support."""

import re
from pathlib import Path

from tests.support import source_tree

TESTS = source_tree.ROOT / "tests"
FROM_TESTS = re.compile(r"^\s*(from|import) tests\.(suites|unit|repo)\b", re.MULTILINE)
# Tests of a whole package or of several modules.
OF_A_PACKAGE = {
    "controlplane/cli/test_documented.py",
    "plans/invoicing/test_billing_law.py",
    "plans/invoicing/test_finance_questions.py",
    "plans/invoicing/test_two_currencies.py",
    "plans/models/test_guards.py",
    "plans/payments/test_money_back.py",
    "workers/infra/kubernetes/test_manifests.py",
    "workers/infra/kubernetes/test_rendered.py",
    "workers/metering/closing/test_closing.py",
    "workers/metering/closing/test_housekeeping.py",
    "workers/metering/closing/test_run_closing.py",
    "workers/metering/closing/test_reading_samples.py",
    "workers/metering/closing/test_verifying.py",
    "workers/metering/closing/test_verifying_tampering.py",
}


def list_tests(folder: Path) -> list[Path]:
    return [path for path in source_tree.list_files(".py") if path.is_relative_to(folder)]


def test_what_is_no_test_lives_in_support() -> None:
    elsewhere = [
        path
        for path in list_tests(TESTS)
        if not path.is_relative_to(TESTS / "support")
        and not path.name.startswith("test_")
        and path.name not in ("__init__.py", "conftest.py")
    ]

    assert elsewhere == []


def test_support_holds_no_tests_and_imports_none() -> None:
    support = list_tests(TESTS / "support")

    assert support
    assert [path for path in support if path.name.startswith("test_")] == []
    assert [path for path in support if FROM_TESTS.search(path.read_text())] == []


def test_unit_tests_stand_at_the_path_of_their_module() -> None:
    unit = TESTS / "unit"
    names = [path.relative_to(unit) for path in list_tests(unit) if path.name.startswith("test_")]

    assert names
    assert [str(name) for name in names if not is_of_a_module(name)] == []


def is_of_a_module(name: Path) -> bool:
    """Return whether ``test_<module>.py`` or ``test_<module>_<topic>.py`` names a module."""
    if name.as_posix() in OF_A_PACKAGE:
        return True
    subject = name.stem.removeprefix("test_")
    folder = source_tree.ROOT / name.parent
    modules = [path.stem for path in folder.iterdir()] if folder.is_dir() else []
    return any(subject == module or subject.startswith(f"{module}_") for module in modules)
