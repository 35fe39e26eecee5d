"""The refusals of the local adapter."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from pytest_django import Settings

from controlplane.core.instance_names import Kind
from workers.infra.base import InfraError, InstanceSpec, Namespace, Session
from workers.infra.local import files
from workers.infra.local.adapter import LocalInfra


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with LocalInfra(tmp_path, Mock()).open(Namespace("wp-x", "t", "s")) as opened:
        yield opened


def test_a_machine_without_a_free_port_is_refused(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PORTS", range(0))

    with pytest.raises(InfraError, match="no free port") as layout:
        session.layout_of(Kind.BROKER, "broker-0")
    with pytest.raises(InfraError, match="no free port"):
        session.ensure_endpoint("broker-0")

    assert (layout.value.reason, layout.value.retry) == ("PortTaken", True)


def test_a_folder_that_cannot_be_written_is_refused(session: Session, tmp_path: Path) -> None:
    (tmp_path / "spaces").write_text("a file where the folder must be")

    with pytest.raises(InfraError, match="spaces") as layout:
        session.layout_of(Kind.BROKER, "broker-0")
    with pytest.raises(InfraError, match="spaces"):
        session.ensure_endpoint("broker-0")

    assert (layout.value.reason, layout.value.retry) == ("FolderUnusable", True)


def test_a_router_that_is_missing_is_named(
    session: Session, settings: Settings, tmp_path: Path
) -> None:
    settings.ROUTER_BINARY = str(tmp_path / "qdrouterd")
    spec = InstanceSpec(
        Namespace("wp-x", "t", "s"), Kind.ROUTER, "router-0", files={}, engine="qdrouterd"
    )

    with pytest.raises(InfraError, match=r"The router \S+/qdrouterd is not an executable file"):
        session.ensure_instance(spec)
