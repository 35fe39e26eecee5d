"""The images, each built once for the run (about six minutes); only `make images` asks for them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.embedded import artifacts, routers
from tests.support.images import builder
from tests.support.images.builder import Builder

# Left out of `make test`: it needs root, buildah and five minutes. CI runs both.
collect_ignore_glob = [] if os.environ.get("WAYPOST_TEST_IMAGES") else ["test_*.py"]


@pytest.fixture(scope="session")
def workshop() -> Iterator[Builder]:
    """Where images are built, none yet."""
    refusal = builder.missing()
    assert not refusal, refusal
    with tempfile.TemporaryDirectory(prefix="waypost-images-") as folder:
        made = Builder(Path(folder))
        try:
            yield made
        finally:  # what is mounted must not be there when the folder is removed
            made.buildah("rm", "--all")
            made.buildah("rmi", "--all", "--force")
            shutil.rmtree(made.folder / "store", ignore_errors=True)


@pytest.fixture(scope="session")
def images(workshop: Builder) -> Builder:
    """The built images of the control plane, of workers and of Spark."""
    workshop.build_control_plane()
    return workshop


@pytest.fixture(scope="session")
def control_plane(images: Builder) -> Path:
    """The files of the control plane's image."""
    return images.unpack(builder.CONTROL_PLANE)


@pytest.fixture(scope="session")
def worker(images: Builder) -> Path:
    """The files of the workers' image."""
    return images.unpack(builder.WORKER)


@pytest.fixture(scope="session")
def broker(workshop: Builder) -> Path:
    """The files of the broker's image, made from the Artemis that is installed here."""
    workshop.build_broker()
    return workshop.unpack(builder.BROKER)


@pytest.fixture(scope="session")
def spark(images: Builder) -> Path:
    """The files of Spark's image."""
    return images.unpack(builder.SPARK)


@pytest.fixture(scope="session")
def router(workshop: Builder) -> Path:
    """The files of the router's image, made from the router that is installed here."""
    # Neither what WAYPOST_ROUTER names nor what is on PATH is in a folder that can be copied.
    installed = routers.find(artifacts.cache_dir(), path="")
    if installed is None:
        pytest.skip("no router is installed: build one and run `make router FROM=<its folder>`")
    workshop.build_router(installed.resolve().parent)
    return workshop.unpack(builder.ROUTER)
