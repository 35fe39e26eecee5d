"""``output.watch``: shows an answer again and again until it is interrupted."""

import pytest

from controlplane.cli import output
from controlplane.cli.output import Format


def test_watch_shows_each_answer_until_an_interrupt(capfd: pytest.CaptureFixture[str]) -> None:
    depths = iter((1, 2))
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        output.watch(lambda: {"depth": next(depths)}, Format.JSON, wait=wait)

    shown = capfd.readouterr().out
    assert '"depth": 1' in shown
    assert '"depth": 2' in shown
