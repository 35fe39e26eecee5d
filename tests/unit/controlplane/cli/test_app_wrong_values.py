"""Values of the wrong kind are called what they are."""

from pathlib import Path

import pytest

from controlplane.core.errors import Invalid
from controlplane.rest_client import Api
from tests.unit.controlplane.cli.conftest import Run


@pytest.mark.parametrize("url", ["ftp://waypost.example", "waypost.example", "localhost:8000"])
def test_an_address_that_is_not_of_http_is_refused_as_one(run: Run, url: str) -> None:
    refused = run("login", "--url", url, "--email", "a@b.example", "--password", "x").exception

    assert isinstance(refused, Invalid), refused
    assert refused.error_code == "api.url"
    assert "http://" in refused.message


def test_an_address_of_http_is_none_the_worse_for_capitals() -> None:
    assert Api("HTTPS://waypost.example").url == "HTTPS://waypost.example"


def test_a_folder_is_no_catalog(run: Run, tmp_path: Path) -> None:
    refused = run("catalog", "publish", tmp_path).exception

    assert isinstance(refused, Invalid), refused
    assert "is a folder" in refused.message
