"""What is said of a server that does not get ready."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from controlplane.embedded import servers
from controlplane.embedded.installation import Installation


def test_the_end_of_the_log_is_shown_and_an_empty_one_is_explained(tmp_path: Path) -> None:
    fake = SimpleNamespace(log_file=lambda name: tmp_path / f"{name}.log")
    installation = cast(Installation, fake)
    (tmp_path / "web.log").write_text("no such table\n")
    (tmp_path / "worker.log").write_text("")

    assert servers.last_words(installation, "web") == "The end of its log:\nno such table"
    for name in ("worker", "beat"):
        assert "run `waypost up` again" in servers.last_words(installation, name)
