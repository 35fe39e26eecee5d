"""The order of the chapters, and the start and stop of the installation around them."""

import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from controlplane.core.errors import WaypostError
from controlplane.demo import allowance, chapters
from controlplane.demo.cast import Cast
from controlplane.demo.narrator import Narrator
from controlplane.embedded import identity_provider, lock, stack
from controlplane.embedded import installation as installations
from workers.messaging.counting_client import TrafficError

_COMMAND = "waypost demo"
# Short intervals, because with those of production the usage appears only after minutes.
SETTINGS = {
    "WAYPOST_SAMPLE_SECONDS": "5",
    "WAYPOST_LANDING_SECONDS": "10",
    "WAYPOST_PIPELINE_SECONDS": "45",
}
STORY: tuple[Callable[[Cast], None], ...] = (
    chapters.publish_prices,
    chapters.sign_up,
    chapters.create_spaces,
    chapters.exchange_messages,
    chapters.refuse_strangers,
    chapters.revoke_a_user,
    allowance.use_up_the_month,
    chapters.show_usage,
    chapters.reach_a_quota,
    chapters.delete_things,
    chapters.close_and_issue,
    chapters.compare,
)


def run(root: Path, *, stays: bool, oidc: bool = False) -> int:
    """Run all chapters on the installation in ``root`` and return the process's exit code.

    The code is 0 only if every chapter ran and every comparison holds. Everything is stopped at the
    end, after an error, and at SIGINT or SIGTERM. With ``stays``, a complete run waits for such a
    signal. An installation that another command has started again meanwhile (``waypost up``, or a
    backup) keeps running. The folder is always kept. With ``oidc``, users can also log in through
    Keycloak.

    Raises:
        Occupied: ``stack.running`` or ``stack.busy``: another command runs, starts or stops the
            installation, which is not changed.
        Unavailable: ``keycloak.missing``: ``oidc`` is set and Keycloak has not been fetched.
    """
    if oidc:
        identity_provider.require()
    signal.signal(signal.SIGTERM, _interrupt)
    narrator = Narrator()
    cast = Cast(narrator, root, interval_seconds=int(SETTINGS["WAYPOST_SAMPLE_SECONDS"]))
    is_complete = False
    try:
        _start(cast, oidc)
        cast.began_at = datetime.now(UTC)
        for chapter in STORY:
            chapter(cast)
        is_complete = True
        chapters.show_logins(cast)
        if stays:
            narrator.plain(cast.comparisons.closing_line())
            narrator.line("Everything keeps running until Ctrl-C.")
            signal.pause()
    except KeyboardInterrupt:
        narrator.line("interrupted")
    except lock.Occupied:  # the command line prints it and chooses the exit code
        raise
    except (WaypostError, TrafficError) as error:
        narrator.line(f"The demonstration ends early: {error}")
    finally:
        if cast.is_started:
            _stop(cast)
    narrator.plain(cast.comparisons.closing_line())
    # Without any comparison nothing was proved.
    return 0 if is_complete and cast.comparisons.rows and not cast.comparisons.n_differences else 1


def _start(cast: Cast, oidc: bool) -> None:
    cast.narrator.chapter("Starting real servers on this machine")
    began = time.monotonic()
    cast.installation = stack.up(
        cast.root,
        settings=SETTINGS,
        own=cast.take,
        command=_COMMAND,
        say=cast.narrator.line,
    )
    cast.supervisor_pid = cast.installation.supervisor().find_pid()
    if oidc:
        cast.person = identity_provider.start(cast.installation, say=cast.narrator.line)
    cast.narrator.line(f"Up after {time.monotonic() - began:.1f} s at {cast.installation.url}")
    cast.narrator.line(f"Standard spaces run on {stack.router_description(cast.installation)}")


def _stop(cast: Cast) -> None:
    # A second signal must not interrupt the stop and leave servers running.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    cast.close_traffic()
    try:
        _stop_own(cast)
    except lock.Occupied as occupied:
        cast.narrator.line(str(occupied))
        if occupied.error_code == "stack.restarted":
            cast.narrator.line("It has the demonstration's short intervals until its next start.")
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop_own(cast: Cast) -> None:
    """Stop what this run started, and remove the short intervals from the installation.

    Does nothing if the folder holds no installation.

    Raises:
        Occupied: ``stack.restarted``: another command has started the installation again.
    """
    if installations.load(cast.root) is None:
        return
    try:
        stack.down(
            cast.root,
            supervisor_pid=cast.supervisor_pid,
            command=_COMMAND,
            say=cast.narrator.line,
        )
    finally:
        # Also if the stop failed, because a later `waypost up` must not use the short intervals.
        remaining = installations.load(cast.root)
        if remaining is not None:
            installations.without_settings(remaining, SETTINGS)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
