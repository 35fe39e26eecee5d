"""Which package may import which: every contract is kept, and what it forbids breaks it."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support import source_tree

# Contract name begins -> (module file, the import that must break it).
BREAKING = {
    "Layers": ("plans/quotas/checks.py", "import tenants.queries"),
    "Inside controlplane": ("controlplane/core/ids.py", "import controlplane.gauges"),
    "Inside tenants:": ("tenants/models/tenant.py", "import tenants.placement"),
    "Inside tenants.notifications": (
        "tenants/notifications/event_kinds.py",
        "import tenants.notifications.outbox",
    ),
    "Only workers.notifications": ("tenants/notifications/rendering.py", "import apprise"),
    "Inside plans.invoicing": ("plans/invoicing/states.py", "import plans.invoicing.facts"),
    "Inside plans.payments": ("plans/payments/port.py", "import plans.payments.providers"),
    "Only plans.payments.stripe_provider": ("plans/invoicing/states.py", "import stripe"),
    "Inside plans.exports": ("plans/exports/tables.py", "import plans.exports.registry"),
    "Inside plans.einvoices": ("plans/einvoices/xml_tree.py", "import plans.einvoices.ubl"),
    "Inside workers:": ("workers/infra/base.py", "import workers.reconcile.outcome"),
    "Reconcile and rollouts": ("workers/reconcile/outcome.py", "import workers.metering.bronze"),
    "Inside workers.infra": ("workers/infra/base.py", "import workers.infra.local.files"),
    "Inside lakehouse": ("lakehouse/schemas.py", "import lakehouse.tables"),
    "The lakehouse imports nothing": ("lakehouse/schemas.py", "import controlplane.core.ids"),
    "Nothing imports the lakehouse": ("workers/models.py", "import lakehouse.schemas"),
    "Only lakehouse imports Spark": ("workers/models.py", "import pyspark"),
    "Only workers.messaging": ("workers/infra/base.py", "import proton"),
    "Only workers.infra.kubernetes": ("workers/messaging/observed.py", "import kubernetes"),
    "Only workers.custom_resources": ("workers/messaging/observed.py", "import kopf"),
    "Only workers.metering": ("workers/messaging/observed.py", "import deltalake"),
    "Only controlplane.oidc": ("controlplane/core/ids.py", "import mozilla_django_oidc"),
    "Only the Celery app": ("plans/quotas/checks.py", "import celery"),
    "Production": ("plans/quotas/checks.py", "import controlplane.embedded.ports"),
}
PROJECT = tomllib.loads((source_tree.ROOT / "pyproject.toml").read_text())
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]


def contract_names() -> list[str]:
    return [str(contract["name"]) for contract in CONTRACTS]


def layered(contract: dict[str, Any]) -> list[str]:
    """Return the modules of a layers contract."""
    return [name.strip(" ()") for layer in contract["layers"] for name in layer.split("|")]


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


def test_every_module_is_in_a_layer() -> None:
    (general,) = [row for row in CONTRACTS if row["name"].startswith("Layers")]
    layers = layered(general)

    outside = []
    for path in source_tree.list_modules():
        name = str(path.relative_to(source_tree.ROOT).with_suffix("")).replace("/", ".")
        module = name.removesuffix(".__init__")
        is_parent = any(layer.startswith(f"{module}.") for layer in layers)  # holds layers only
        is_inside = any(f"{module}.".startswith(f"{layer}.") for layer in layers)
        if not (is_parent or is_inside or module.startswith("lakehouse")):
            outside.append(module)

    assert outside == []


def test_the_contracts_inside_packages_are_exhaustive() -> None:
    inner = [row for row in CONTRACTS if row["name"].startswith("Inside")]

    assert len(inner) == 10
    assert [row["name"] for row in inner if not row.get("exhaustive")] == []


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
