"""The router's image, made from the installed router: it starts as the cluster starts it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from controlplane.embedded import artifacts, ports, routers
from tests.support.images import builder, inside
from tests.support.images.builder import Builder
from tests.support.images.inside import ANY_USER, Container
from tests.support.infra import places
from tests.support.messaging import routing_rig
from tests.support.messaging.routing_rig import HOST, Rig
from tests.support.waiting import eventually
from workers.infra.kubernetes import pods
from workers.infra.kubernetes.objects import json_of
from workers.messaging.routers import client, config

OWN_USER = "1001:1001"
USERS = pytest.mark.parametrize("user", [OWN_USER, ANY_USER], ids=["own", "any"])
DISPATCH_COMMIT = "1b8933608c63cc44fe4d0ebdb5e4de30a0c34b5c"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """Files of a router that finds them where the cluster mounts them, and its auth service."""
    with routing_rig.rig(tmp_path, "qdrouterd") as made:
        made.engine_layout = replace(
            made.engine_layout,
            config_dir=pods.CONFIG_DIR,
            mesh_port=routing_rig.free_port(),
            health_port=routing_rig.free_port(),
        )
        for name, text in config.files(made.desired, made.engine_layout).items():
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o444)
        tmp_path.chmod(0o755)
        yield made


def container(root: Path, rig: Rig, user: str) -> Container:
    """Return the router as the cluster's adapter describes it."""
    template: Any = json_of(pods.template(places.cluster(), places.router()))
    pod = template["spec"]
    (described,) = pod["containers"]
    environment = {variable["name"]: variable["value"] for variable in described["env"]}
    shown = {pods.CONFIG_DIR: rig.folder}
    return Container(
        root, described["command"], environment, user, writable=[pods.SCRATCH_DIR], shown=shown
    )


def test_it_runs_as_a_user_that_is_not_root(workshop: Builder, router: Path) -> None:
    assert workshop.inspect(builder.ROUTER, ".OCIv1.Config.User") == OWN_USER


def test_it_says_what_it_was_built_from(workshop: Builder, router: Path) -> None:
    labels = workshop.inspect(builder.ROUTER, ".OCIv1.Config.Labels")
    bill = json.loads((router / "usr/share/sbom/router.cdx.json").read_text())
    listed = [component["purl"] for component in bill["components"]]

    assert f"org.apache.qpid.dispatch.commit:{DISPATCH_COMMIT}" in labels
    assert "org.apache.qpid.proton.version:0.39.0" in labels
    assert f"pkg:github/apache/qpid-dispatch@{DISPATCH_COMMIT}" in listed
    assert any(line.startswith("pkg:deb/debian/libwebsockets17@") for line in listed)
    # what wrote the bill, and compiled the modules, is in another image
    assert not any(line.startswith("pkg:deb/debian/python3@") for line in listed)


def test_it_holds_nothing_that_builds_and_no_place_of_where_it_was_built(router: Path) -> None:
    programs = ("usr/bin/gcc", "usr/bin/cmake", "usr/bin/python3", "usr/bin/git")
    wrapper = (router / "usr/local/bin/qdrouterd").read_text()

    assert [program for program in programs if (router / program).exists()] == []
    assert re.findall(r"^here=(.*)$", wrapper, re.M) == ["/opt/qpid-dispatch"]
    assert list(router.glob("opt/qpid-dispatch/python/**/*.pyc"))


@USERS
def test_it_says_its_version_with_a_read_only_root(router: Path, user: str) -> None:
    ran = inside.finish(Container(router, ["qdrouterd", "--version"], user=user, writable=[]))
    touched = inside.finish(Container(router, ["touch", "/tmp/new"], user=user, writable=[]))

    assert re.fullmatch(r"1\.\d+\.\d+\S*\n", ran.stdout), ran.stderr
    assert "Read-only file system" in touched.stderr


@USERS
def test_it_starts_from_rendered_files_and_listens(router: Path, rig: Rig, user: str) -> None:
    rig.auth.set_users(
        routing_rig.known("alice", "secret", {"send": ("#",), "recv": ("#",)}), addresses=["orders"]
    )
    log = rig.folder / "router.log"
    layout = rig.engine_layout
    wanted = [layout.public_port, layout.internal_port, layout.mesh_port, layout.health_port]

    def listens() -> bool:
        return all(port and ports.is_open(HOST, port) for port in wanted)

    with inside.started(container(router, rig, user), log) as process:
        eventually(lambda: listens() or process.poll() is not None, "it listens")
        assert process.poll() is None, log.read_text()[-3000:]
        assert httpx.get(f"http://{HOST}:{layout.health_port}{config.HEALTH_PATH}").is_success
        with client.connected(rig.target, purpose="test") as asking:
            patches = {str(patch) for patch in asking.patches}
        rig.connect("alice", "secret")  # by the auth service
        rig.close_clients()

    installed: Any = routers.find(artifacts.cache_dir(), path="")
    assert patches == set(routers.list_patches(installed))
    assert process.returncode == 0  # ends when it is asked to, as the cluster asks
    assert "Read-only" not in log.read_text()
