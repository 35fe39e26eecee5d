"""Which adapter of spaces an installation uses, and the refusals of a wrong setting."""

import sys

import pytest
from pytest_django import Settings

from controlplane.core.errors import Invalid
from workers.infra import adapters
from workers.infra.local.adapter import LocalInfra


def test_the_local_adapter(settings: Settings) -> None:
    settings.INFRA = "local"

    assert isinstance(adapters.current(), LocalInfra)


@pytest.mark.parametrize("missing", ["workers.infra.local", "supervisor"])
def test_local_without_what_it_needs_says_what_to_do(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    settings.INFRA = "local"
    for loaded in ("workers.infra.local.adapter", "controlplane.embedded.supervisor_client"):
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    monkeypatch.delattr("workers.infra.local.adapter", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(Invalid, match=missing) as refusal:
        adapters.current()

    assert refusal.value.error_code == "infra.not_installed"


def test_an_unknown_adapter_is_refused(settings: Settings) -> None:
    settings.INFRA = "cloud"

    with pytest.raises(Invalid) as refusal:
        adapters.current()

    assert refusal.value.error_code == "infra.unknown"
