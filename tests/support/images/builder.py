"""Build the product's images with buildah on a base image that is made here by debootstrap."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from controlplane.embedded import artifacts
from tests.support.source_tree import ROOT

SOURCES = ROOT
_SUITE = "bookworm"
CONTROL_PLANE, WORKER, SPARK = "localhost/control-plane", "localhost/worker", "localhost/spark"
BROKER, ROUTER = "localhost/broker", "localhost/router"
_BASE = "localhost/base"
# Authorities that this machine trusts besides Debian's: a proxy of the site, say.
_LOCAL_AUTHORITIES = Path("usr/local/share/ca-certificates")
_NEEDED_GB = 10  # at the peak, where layers share files; copies of layers need more


def missing() -> str:
    """Return what keeps images from being built here; empty: nothing."""
    programs = [
        program for program in ("buildah", "debootstrap", "unshare") if not shutil.which(program)
    ]
    if programs:
        return f"{', '.join(programs)} missing: run `make images`, which installs them"
    if os.geteuid() != 0:
        return "images are built as root here: run `make images` as root"
    place = tempfile.gettempdir()
    free_gb = shutil.disk_usage(place).free / 1e9
    return "" if free_gb > _NEEDED_GB else f"{place} has {free_gb:.1f} of {_NEEDED_GB} GB free"


@dataclass(frozen=True)
class Builder:
    """Images kept in ``folder``."""

    folder: Path

    @cached_property
    def driver(self) -> str:
        """How layers are kept: "overlay" where the folder's file system can, else copies."""
        command = ["buildah", *self._store, "--storage-driver", "overlay", "info"]
        can = subprocess.run(command, capture_output=True, check=False).returncode == 0
        return "overlay" if can else "vfs"

    def build_control_plane(self) -> None:
        """Build the control plane's image, the workers' upon it, and Spark's upon that one."""
        self._build("control-plane", self._base, CONTROL_PLANE)
        self._build("worker", CONTROL_PLANE, WORKER)
        self._build("spark", WORKER, SPARK)

    def build_broker(self) -> None:
        """Build the broker's image from the Artemis of this machine, as install.md says."""
        home = artifacts.artemis_home()
        folder = self.folder / "plugin"
        run([sys.executable, "-m", "workers.broker_plugin", str(folder)])
        contexts = {"artemis": home, "plugin": folder}
        options = [
            word
            for name, place in contexts.items()
            for word in ("--build-context", f"{name}={place}")
        ]
        self._build("broker", self._base, BROKER, *options)

    def build_router(self, folder: Path) -> None:
        """Build the router's image from an installed router's folder."""
        self._build("router", self._base, ROUTER, "--build-context", f"router={folder}")

    def unpack(self, image: str) -> Path:
        """Return a folder with the image's files, mounted or copied."""
        container = self.buildah("from", image).strip()
        return Path(self.buildah("mount", container).strip())

    def inspect(self, image: str, field: str) -> str:
        """Return a field of the image, as a Go template names it."""
        form = "{{" + field + "}}"
        return self.buildah("inspect", "--type", "image", "--format", form, image).strip()

    def environment(self, image: str) -> dict[str, str]:
        """Return the variables of the image, which a container gets under those of its pod."""
        form = "{{range .OCIv1.Config.Env}}{{println .}}{{end}}"
        lines = self.buildah("inspect", "--type", "image", "--format", form, image).split("\n")
        return dict(line.split("=", 1) for line in lines if line)

    def size_in_bytes(self, image: str) -> float:
        """Return the size of all layers of an image, as buildah rounds it."""
        number, unit = self.buildah("images", "--format", "{{.Size}}", image).split()
        return float(number) * {"KB": 1e3, "MB": 1e6, "GB": 1e9}[unit]

    def buildah(self, *arguments: str) -> str:
        """Run buildah and return what it prints."""
        command = ["buildah", *self._store, "--storage-driver", self.driver, *arguments]
        return run(command, {**os.environ, "BUILDAH_ISOLATION": "chroot"})

    @property
    def _store(self) -> Sequence[str]:
        return ["--root", str(self.folder / "store"), "--runroot", str(self.folder / "run")]

    @cached_property
    def _base(self) -> str:
        container = self.buildah("from", "scratch").strip()
        self.buildah("add", container, str(_base_archive()), "/")
        self.buildah("commit", "--rm", container, _BASE)
        return _BASE

    def _build(self, name: str, base: str, image: str, *more: str) -> None:
        folder = SOURCES / "charts" / "images"
        self.buildah(
            *("bud", "--network", "host", "--ignorefile", str(folder / "ignore")),
            *("--build-arg", f"BASE_IMAGE={base}", *more),
            *("--file", str(folder / name / "Containerfile"), "--tag", image, str(SOURCES)),
        )


def _base_archive() -> Path:
    """Return a minimal Debian as an archive; made once, in about a minute."""
    place = artifacts.cache_dir() / f"debian-{_SUITE}.tar"
    folder = place.with_suffix(".making")
    if not place.exists():
        shutil.rmtree(folder, ignore_errors=True)
        run(["debootstrap", "--variant=minbase", _SUITE, str(folder)])
        local = Path("/") / _LOCAL_AUTHORITIES
        if local.is_dir():
            shutil.copytree(local, folder / _LOCAL_AUTHORITIES, dirs_exist_ok=True)
        made = place.with_suffix(".new")
        run(["tar", "-C", str(folder), "-cf", str(made), "."])
        shutil.rmtree(folder)
        made.rename(place)
    return place


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> str:
    """Run a program to its end and return what it prints.

    Raises:
        RuntimeError: it failed; the message holds its last lines.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise RuntimeError(f"{' '.join(command[:8])} failed:\n{tail}")
    return done.stdout
