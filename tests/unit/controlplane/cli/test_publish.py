"""A catalog that is no text ends in one line, not in a traceback."""

import json
import subprocess
import sys
from pathlib import Path


def published(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """What the process says that publishes; it comes to no database."""
    return subprocess.run(
        [sys.executable, "-m", "controlplane.cli.publish", str(path), "--dry-run", *options],
        capture_output=True,
        text=True,
        env={"DJANGO_SETTINGS_MODULE": "controlplane.settings", "PATH": ""},
        check=False,
    )


def test_every_mistake_of_a_catalog_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "catalog.yaml"
    path.write_text("seller: 1\nplans: 2\n")

    lines = [line.strip() for line in published(path).stderr.splitlines()]
    told = json.loads(published(path, "--output=json").stderr)

    assert {"seller: line 1: must be a mapping of names to values"} <= set(lines)
    assert {"plans: line 2: must be a mapping of names to values"} <= set(lines)
    assert told["code"] == "catalog.invalid"
    assert told["fields"]["plans"][0] == "line 2: must be a mapping of names to values"


def test_a_catalog_that_is_not_utf8_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "catalog.yaml"
    path.write_bytes("plans: Größe".encode("latin-1"))

    done = published(path)

    assert done.returncode == 1
    assert "is not UTF-8 text" in done.stderr
    assert "code: catalog.not_text" in done.stderr
    assert "Traceback" not in done.stderr
