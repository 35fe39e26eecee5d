"""A catalog's file is taken whole or not at all."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.utils.datastructures import MultiValueDict

from controlplane.console.forms.prices import CatalogForm


def filled(content: bytes) -> CatalogForm:
    files: MultiValueDict[str, UploadedFile[Any]] = MultiValueDict(
        {"file": [SimpleUploadedFile("c.yaml", content)]}
    )
    return CatalogForm({"yaml": ""}, files)


@pytest.mark.parametrize("content", [b"a" * 500_001, "é".encode() * 250_001])
def test_a_file_over_the_limit_is_refused(content: bytes) -> None:
    form = filled(content)

    assert not form.is_valid()
    assert "more than 500,000 bytes" in str(form.errors)


def test_a_file_of_the_limit_is_taken() -> None:
    form = filled(b"a" * 500_000)

    assert form.is_valid(), form.errors
    assert len(form.cleaned_data["yaml"]) == 500_000
