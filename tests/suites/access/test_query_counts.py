"""No page and no list takes more queries when there are more rows.

The pages and operations come from Django's map of URLs, so a new one is counted by itself.
"""

import re
from collections import Counter

from django.core.cache import cache
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.support.access.furnished import Furnished
from tests.support.crowd import questions, seeding
from tests.support.crowd.questions import Question

FEW, MANY = 3, 30


def test_more_rows_take_no_more_queries(tenant: Furnished) -> None:
    asked = list(questions.list_questions(tenant))
    for question in asked:  # what a process loads once is no query of a page
        question.ask(tenant)

    few, many = (counted(tenant, asked, rows) for rows in (FEW, MANY))

    assert len(asked) > 130
    assert {
        str(question): more_often(few[question], many[question])
        for question in asked
        if len(few[question]) != len(many[question])
    } == {}


def more_often(few: list[str], many: list[str]) -> list[str]:
    """Return the beginnings of the statements that occur more often in ``many``, without values."""
    more = Counter(map(_shape, many)) - Counter(map(_shape, few))
    return [f"{count} x {shape[:300]}" for shape, count in more.items()]


def _shape(statement: str) -> str:
    return re.sub(r"(\?, )+\?", "?", re.sub(r"'[^']*'|\d+", "?", statement))


def counted(tenant: Furnished, asked: list[Question], rows: int) -> dict[Question, list[str]]:
    """Return the queries of each question with ``rows`` rows of every kind."""
    sid = transaction.savepoint()
    seeding.grow(seeding.flat(rows))
    found = {}
    for question in asked:
        cache.clear()
        inner = transaction.savepoint()
        with CaptureQueriesContext(connection) as queries:
            answer = question.ask(tenant)
        transaction.savepoint_rollback(inner)
        assert answer.status_code in (200, 302), (question, answer.status_code)
        # No writes: the time of a token's last use is one, once a minute.
        found[question] = [query["sql"] for query in queries if query["sql"].startswith("SELECT")]
    transaction.savepoint_rollback(sid)
    return found
