"""Our own servers' commands, as the supervisor runs them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from controlplane.embedded import installation as installations
from controlplane.embedded import servers


@pytest.mark.parametrize(
    ("settings", "level_of_workers", "level_of_beat"),
    [({}, "INFO", "WARNING"), ({"WAYPOST_LOG_LEVEL": "ERROR"}, "ERROR", "ERROR")],
)
def test_celery_goes_by_the_level_of_the_logs(
    tmp_path: Path, settings: Mapping[str, str], level_of_workers: str, level_of_beat: str
) -> None:
    made = installations.with_settings(installations.create(tmp_path / "state"), settings)

    commands = servers._service_commands(made)

    levels = {
        name: command[list(command).index("--loglevel") + 1]
        for name, command in commands.items()
        if "--loglevel" in command
    }
    workers = dict.fromkeys(["worker", "metering"], level_of_workers)
    assert levels == {**workers, "beat": level_of_beat}
