"""Both images, built once for the run (about five minutes); only `make images` asks for them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.images import builder
from tests.images.builder import Builder

# Left out of `make test`: it needs root, buildah and five minutes. CI runs both.
collect_ignore_glob = [] if os.environ.get("WAYPOST_TEST_IMAGES") else ["test_*.py"]


@pytest.fixture(scope="session")
def images() -> Iterator[Builder]:
    """The built images."""
    refusal = builder.missing()
    assert not refusal, refusal
    with tempfile.TemporaryDirectory(prefix="waypost-images-") as folder:
        made = Builder(Path(folder))
        try:
            made.build_all()
            yield made
        finally:  # what is mounted must not be there when the folder is removed
            made.buildah("rm", "--all")
            made.buildah("rmi", "--all", "--force")
            shutil.rmtree(made.folder / "store", ignore_errors=True)


@pytest.fixture(scope="session")
def control_plane(images: Builder) -> Path:
    """The files of the control plane's image."""
    return images.unpack(builder.CONTROL_PLANE)


@pytest.fixture(scope="session")
def spark(images: Builder) -> Path:
    """The files of Spark's image."""
    return images.unpack(builder.SPARK)
