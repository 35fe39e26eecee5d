"""How the demonstration ends: what its exit code says, and that it always stops what it started."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controlplane.core.errors import Unavailable
from controlplane.demo import chapters, story
from controlplane.demo.cast import Cast
from controlplane.demo.narrator import Narrator
from controlplane.embedded import installation as installations
from controlplane.embedded import stack

Chapter = Callable[[Cast], None]


def agree(cast: Cast) -> None:
    cast.comparisons.add("in", 1, 1)


def differ(cast: Cast) -> None:
    cast.comparisons.add("in", 1, 2)


def fail(_cast: Cast) -> None:
    raise Unavailable("the broker is away")


def terminate(_cast: Cast | None = None) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def interrupt(_cast: Cast | None = None) -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Cast]]:
    """A demonstration without servers; who was stopped."""
    stopped: list[Cast] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    # A run in the background of a script ignores SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(story, "_start", lambda cast, _oidc: cast.take())
    monkeypatch.setattr(story, "_stop", stopped.append)
    monkeypatch.setattr(chapters, "show_logins", lambda _cast: None)
    yield stopped
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ([agree], 0),
        ([agree, differ], 1),
        ([], 1),  # nothing was compared
        ([agree, fail], 1),
        ([agree, interrupt], 1),
        ([agree, terminate], 1),
    ],
)
def test_the_exit_code_is_0_only_if_all_was_told_and_held(
    stopped: list[Cast], monkeypatch: pytest.MonkeyPatch, told: list[Chapter], code: int
) -> None:
    monkeypatch.setattr(story, "STORY", tuple(told))

    assert story.run(Path("s"), stays=False) == code
    assert len(stopped) == 1


@pytest.mark.parametrize("end", [interrupt, terminate])
def test_whoever_ends_it_after_the_story_is_no_failure(
    stopped: list[Cast], monkeypatch: pytest.MonkeyPatch, end: Callable[[], None]
) -> None:
    monkeypatch.setattr(story, "STORY", (agree,))
    monkeypatch.setattr(signal, "pause", end)

    assert story.run(Path("s"), stays=True) == 0
    assert len(stopped) == 1


def test_the_verdict_is_told_before_everything_stays_up(
    stopped: list[Cast], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []

    def look_and_leave() -> None:
        told.append(capsys.readouterr().out)
        interrupt()

    monkeypatch.setattr(story, "STORY", (agree,))
    monkeypatch.setattr(signal, "pause", look_and_leave)

    story.run(Path("s"), stays=True)

    verdict = "demo: 1 comparisons, 0 differences"
    assert verdict in told[0].splitlines()
    assert capsys.readouterr().out.splitlines()[-1] == verdict


def test_the_demonstrations_haste_does_not_outlive_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = installations.create(tmp_path / "s")
    kept = {"WAYPOST_SIGNUP_ENABLED": "false"}
    installations.with_settings(made, {**kept, **story.SETTINGS})
    monkeypatch.setattr(stack, "down", lambda _root, **_: None)

    story._stop(Cast(Narrator(), made.root, interval_seconds=5))

    left = installations.load(made.root)
    assert left is not None
    assert left.settings == kept
