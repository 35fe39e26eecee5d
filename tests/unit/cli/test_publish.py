"""A catalogue that is no text ends in one line, not in a traceback."""

import subprocess
import sys
from pathlib import Path


def test_a_catalogue_that_is_not_utf8_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.yaml"
    path.write_bytes("plans: Größe".encode("latin-1"))
    environment = {"DJANGO_SETTINGS_MODULE": "controlplane.settings", "PATH": ""}

    done = subprocess.run(
        [sys.executable, "-m", "controlplane.cli.publish", str(path), "--dry-run"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )

    assert done.returncode == 1
    assert "is not UTF-8 text" in done.stderr
    assert "code: catalogue.not_text" in done.stderr
    assert "Traceback" not in done.stderr
