"""The docs' Terraform example, run by a real Terraform where the machine has one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from tenants.actions import api_tokens
from tenants.models import Address, AddressSpace, Role
from tests.support import command, domain
from tests.support.source_tree import ROOT
from tests.support.waiting import eventually

pytestmark = pytest.mark.skipif(not shutil.which("terraform"), reason="needs terraform")

EXAMPLE = ROOT / "docs" / "examples" / "terraform"
Terraform = Callable[..., str]


@pytest.fixture
def terraform(
    transactional_db: None, live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Terraform:
    """Run terraform in a copy of the example, with a token of a tenant."""
    monkeypatch.setattr("controlplane.core.enqueue._send", lambda *_: None)
    cast = domain.cast()
    _, token = api_tokens.issue(
        tenant=cast.tenant, name="ci", role=Role.DEVELOPER, expires_at=None, by=SYSTEM
    )
    folder = shutil.copytree(EXAMPLE, tmp_path / "example")
    (tmp_path / "terraformrc").touch()
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "WAYPOST_URL": live_server.url,
        "WAYPOST_TENANT": cast.tenant.slug,
        "WAYPOST_TOKEN": token,
        "CHECKPOINT_DISABLE": "1",  # no request for a newer version
        "TF_CLI_CONFIG_FILE": str(tmp_path / "terraformrc"),
    }

    def run(*arguments: str) -> str:
        log = tmp_path / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["terraform", *arguments, "-no-color"],
                cwd=folder,
                env=environment,
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
            )
        try:
            eventually(lambda: _has_ended(process), "terraform has ended", seconds=120)
        finally:
            process.kill()
            process.wait()
        text = log.read_text()
        assert process.returncode == 0, text
        return text

    return run


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the process has ended; do meanwhile what workers do."""
    for row in Operation.objects.filter(finished_at__isnull=True):
        command.apply_rows({"id": row.pk})
    return process.poll() is not None


def test_terraform_applies_the_file_once(terraform: Terraform) -> None:
    terraform("init")
    first = terraform("apply", "-auto-approve")
    again = terraform("apply", "-auto-approve")

    assert "1 added" in first
    assert "0 added, 0 changed, 0 destroyed" in again
    assert AddressSpace.objects.get().name == "orders"
    addresses = {row.address: row.dead_letter for row in Address.objects.all()}
    assert addresses == {"lost": "", "jobs": "lost"}
