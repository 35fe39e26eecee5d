"""The server time, queries and bytes of every page and list of the URL map."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.demo.bench_results import Result
from tests.support.access.furnished import Furnished
from tests.support.crowd import questions
from tests.support.crowd.figures import figure, share
from tests.support.crowd.questions import Question

_REQUESTS, _LEAST, _MOST_SECONDS = 20, 3, 10
_LIMIT_MS = 100


@dataclass(frozen=True)
class Asked:
    """What the answers to one question took, each in milliseconds of wall and processor time."""

    question: Question
    wall_ms: list[float]
    cpu_ms: list[float]
    queries: int
    bytes: int
    is_file: bool

    def row(self) -> Result:
        """Return the question as a row of the table."""
        more = (
            f"p95 of {len(self.wall_ms)}; median {share(self.wall_ms, 0.5):.0f} ms; processor "
            f"{share(self.cpu_ms, 0.95):.0f} ms, median {share(self.cpu_ms, 0.5):.0f} ms; "
            f"{self.queries} queries; {self.bytes / 1000:,.0f} kB"
        )
        what = f"`{self.question}`, as {self.question.caller}"
        if self.is_file:  # as long as the rows that somebody downloads
            return figure(f"file {what}", share(self.wall_ms, 0.95), "ms", more=more)
        return figure(what, share(self.wall_ms, 0.95), "ms", more=more, limit=_LIMIT_MS)


def measure(furnished: Furnished) -> Iterator[Result]:
    """Ask every question; yield what all pages have in common, each of them, and each file."""
    asked = [_asked(furnished, question) for question in questions.list_questions(furnished)]
    asked += [_asked(furnished, question) for question in questions.list_variants(furnished)]
    asked.sort(key=lambda one: -share(one.wall_ms, 0.95))
    files = [one for one in asked if one.is_file]
    pages = [one for one in asked if not one.is_file]
    over = [one for one in pages if one.row().is_over]
    all_p95 = share([value for one in pages for value in one.wall_ms], 0.95)
    cpu_p95 = share([value for one in pages for value in one.cpu_ms], 0.95)
    most = max(pages, key=lambda one: one.queries)
    more = (
        f"p95 of all requests; processor {cpu_p95:.0f} ms; {len(over)} of {len(pages)} over the "
        f"limit by themselves; most queries {most.queries} (`{most.question}`)"
    )
    yield figure(f"all {len(pages)} pages and lists", all_p95, "ms", more=more, limit=_LIMIT_MS)
    for one in [*pages, *files]:
        yield one.row()


def _asked(furnished: Furnished, question: Question) -> Asked:
    backend, wall, cpu = _Backend(), list[float](), list[float]()

    def ask() -> Any:
        at, used = time.perf_counter(), time.process_time() + backend.seconds()
        answer = question.ask(furnished)
        wall.append(1000 * (time.perf_counter() - at))
        cpu.append(1000 * (time.process_time() + backend.seconds() - used))
        return answer

    with CaptureQueriesContext(connection) as captured:
        answer = ask()
    assert answer.status_code in (200, 302), (question, answer.status_code)
    queries, size, is_file = len(captured), questions.size_of(answer), questions.is_file(answer)
    # A file takes as long as its rows, so once is enough; a page that takes seconds is asked less.
    if not is_file:
        wall.clear()
        cpu.clear()
        began = time.monotonic()
        while len(wall) < _REQUESTS and (
            len(wall) < _LEAST or time.monotonic() - began < _MOST_SECONDS
        ):
            ask()
    return Asked(question, wall, cpu, queries, size, is_file)


class _Backend:
    """The PostgreSQL process that serves this process's connection."""

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            self._path = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")

    def seconds(self) -> float:
        """Return the processor time that it has used so far."""
        return int(self._path.read_text().split()[0]) / 1e9
