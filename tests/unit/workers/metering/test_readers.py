"""What a broker that gives no snapshot means for a sampling cycle."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from controlplane.core.instance_names import Kind
from tenants.models import AddressSpace
from tests.unit.workers.metering.conftest import clock
from workers.infra.kinds import REGISTRY
from workers.instances import Locator
from workers.messaging.management import Refused, Unreachable
from workers.metering import readers, sampling

pytestmark = pytest.mark.django_db


@pytest.fixture
def one_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every space has one broker."""
    found = SimpleNamespace(id=SimpleNamespace(name="broker-0", kind=Kind.BROKER), target=None)

    def list_existing(*_: object) -> Sequence[Any]:
        return [found]

    monkeypatch.setattr(Locator, "list_existing", list_existing)


@pytest.mark.parametrize("error", [Unreachable("no answer in time"), Refused("AMQ229032")])
def test_broker_without_a_snapshot_is_silent_with_its_reason(
    space: AddressSpace,
    one_broker: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    error: Exception,
) -> None:
    def read(*_: object, **__: object) -> Any:
        raise error

    kind = replace(REGISTRY[Kind.BROKER], read_snapshot=read)
    monkeypatch.setattr(readers, "REGISTRY", {Kind.BROKER: kind})
    infra: Any = None

    with structlog.testing.capture_logs() as logged:
        [sampled] = sampling.sample([space], readers.product(infra, tmp_path, clock))

    assert sampled.silent == {"broker-0"}
    [entry] = [entry for entry in logged if entry["event"] == "no sample"]
    assert (entry["log_level"], entry["reason"]) == ("warning", str(error))
    assert "exc_info" not in entry
