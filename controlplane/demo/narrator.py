"""Prints the output of the demonstration and the benches: plain lines with times."""

import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from controlplane.rest_client import Json, Progress

_INDENT = " " * 9  # as wide as the time before each line
_WIDTH = 100  # characters of a line
# After this time without output, ``still`` prints: a new text, and the text that it printed last.
_SILENCE_SECONDS, _SAME_SECONDS = 2, 10


class Narrator:
    """Prints chapters and lines below them, each with the time since the start."""

    def __init__(self) -> None:
        self._began = self._printed_at = time.monotonic()
        self._still = ""

    def chapter(self, title: str) -> None:
        """Print the title of a chapter."""
        self._write(f"\n{self._clock()}  {title.upper()}")

    def line(self, text: str) -> None:
        """Print a line with the time since the start."""
        self._write(f"{self._clock()}  {self._folded(text)}")

    def still(self, text: str) -> None:
        """Print ``text``, the progress of a wait, but not too often; for calls in a loop.

        A new text is printed only if nothing was printed for 2 s. The text that ``still`` printed
        last is printed again only if nothing was printed for 10 s.
        """
        silence = _SAME_SECONDS if text == self._still else _SILENCE_SECONDS
        if time.monotonic() - self._printed_at >= silence:
            self._still = text
            self.line(text)

    def steps_of(self, who: str) -> Progress:
        """Return a function that takes an operation and prints its running step, through ``still``.

        ``who`` stands in front of the step's name.
        """

        def show(operation: Json) -> None:
            running = [step["name"] for step in operation["steps"] if step["state"] == "running"]
            self.still(f"{who}: {running[0] if running else 'waiting for a worker'} …")

        return show

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Print rows as columns: the first is aligned to the left, the others to the right."""
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        for row in rows:
            first, *others = (
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            self._write(_INDENT + "  ".join([first, *others]).rstrip())

    def plain(self, text: str) -> None:
        """Print a line without a time."""
        self._write(text)

    @contextmanager
    def timed(self, text: str) -> Iterator[None]:
        """Print ``text`` after the block, with the time that the block took.

        Nothing is printed if the block raises an error.
        """
        began = time.monotonic()
        yield
        self.line(f"{text} ({time.monotonic() - began:.1f} s)")

    def _clock(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        return f"{minutes:4d}:{seconds:02d}"

    @staticmethod
    def _folded(text: str) -> str:
        return textwrap.fill(text, _WIDTH, subsequent_indent=_INDENT, break_long_words=False)

    def _write(self, text: str) -> None:
        self._printed_at = time.monotonic()
        sys.stdout.write(text + "\n")
        sys.stdout.flush()  # a pipe is buffered, and its reader waits for each line
