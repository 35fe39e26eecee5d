"""Which package may import which: every contract is kept, and what it forbids breaks it."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support import source_tree

# Contract name begins -> (module file, the import that must break it).
BREAKING = {
    "Layers": ("plans/quotas/checks.py", "import tenants.queries"),
    "Inside workers": ("workers/infra/base.py", "import workers.reconcile.outcome"),
    "The lakehouse knows nothing": ("lakehouse/schemas.py", "import controlplane.core.ids"),
    "Nobody imports the lakehouse": ("workers/models.py", "import lakehouse.schemas"),
    "Spark": ("workers/models.py", "import pyspark"),
    "proton": ("workers/infra/base.py", "import proton"),
    "kubernetes": ("workers/messaging/observed.py", "import kubernetes"),
    "deltalake": ("workers/messaging/observed.py", "import deltalake"),
    "OIDC": ("controlplane/core/ids.py", "import mozilla_django_oidc"),
    "Celery": ("plans/quotas/checks.py", "import celery"),
}


def contract_names() -> list[str]:
    project = tomllib.loads((source_tree.ROOT / "pyproject.toml").read_text())
    return [str(contract["name"]) for contract in project["tool"]["importlinter"]["contracts"]]


def check_imports(folder: Path) -> dict[str, str]:
    """Return {contract: KEPT | BROKEN} of the packages in ``folder``."""
    linter = Path(sys.executable).parent / "lint-imports"
    shown = subprocess.run(
        [str(linter), "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "NO_COLOR": "1"},
    )
    verdicts = {}
    for name in contract_names():
        for verdict in ("KEPT", "BROKEN"):
            if f"{name} {verdict}" in shown.stdout:
                verdicts[name] = verdict
    assert verdicts, shown.stdout + shown.stderr
    return verdicts


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the packages, to be broken."""
    for package in source_tree.PACKAGES:
        shutil.copytree(
            source_tree.ROOT / package,
            tmp_path / package,
            ignore=shutil.ignore_patterns("__pycache__", "static", "templates"),
        )
    shutil.copy(source_tree.ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.slow
def test_every_contract_is_kept(copy: Path) -> None:
    assert set(check_imports(copy).values()) == {"KEPT"}


@pytest.mark.slow
def test_every_contract_is_broken_by_what_it_forbids(copy: Path) -> None:
    for file, line in BREAKING.values():
        module = copy / file
        module.write_text(f"{module.read_text()}\n{line}\n")

    verdicts = check_imports(copy)

    assert len(verdicts) == len(BREAKING)
    for beginning in BREAKING:
        matching = [verdict for name, verdict in verdicts.items() if name.startswith(beginning)]
        assert matching == ["BROKEN"], beginning
