"""Schemathesis sends generated requests to every operation, on objects that exist.

It runs with WAYPOST_TEST_SCHEMATHESIS=1 (``make test-schemathesis``). The requests are the same in
each run. What it changes is rolled back after each request.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from django.core import signals
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks

from controlplane.api import examples, person_tokens, schema
from controlplane.core.audit import SYSTEM
from plans.invoicing import credit_notes, issuing
from plans.models import Invoice
from tenants.actions import identity_providers, spend_caps
from tests.suites.api.conftest import Cast
from tests.suites.api.test_access import PROVIDER

pytestmark = pytest.mark.skipif(
    not os.environ.get("WAYPOST_TEST_SCHEMATHESIS"), reason="make test-schemathesis"
)
EXAMPLES = int(os.environ.get("WAYPOST_TEST_SCHEMATHESIS") or 0)
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
# The others need a state that ``test_examples`` makes, such as an approved invoice.
COVERED = 0.9


@contextmanager
def one_connection() -> Iterator[None]:
    """Requests use the connection of the test, as those of Django's test client do.

    That client connects the signals again after each of its requests.
    """
    for signal in (signals.request_started, signals.request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (signals.request_started, signals.request_finished):
        signal.connect(close_old_connections)


@dataclass
class Run:
    """Sends generated requests to operations, and collects what came of them."""

    names: dict[str, str]
    sent: Counter[str] = field(default_factory=Counter)
    succeeded: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, str] = field(default_factory=dict)

    def try_operation(self, operation: Any, token: str) -> None:
        """Send the request of the operation's example, and generated ones."""
        label = f"{operation.method.upper()} {operation.path}"

        def send(case: Any) -> None:
            self.send(label, case, token)

        bounded = settings(
            max_examples=EXAMPLES,
            database=None,
            derandomize=True,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        example = examples.stored()["operations"][operation.definition.raw["operationId"]]
        try:
            if "request" in example:
                more = {"body": example["request"], "media_type": "application/json"}
                send(operation.Case(path_parameters=dict(self.names), **more))
            bounded(given(case=operation.as_strategy())(send))()
        # All operations are tried before the test fails.
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001
            self.wrong[label] = str(error)[:3000]

    def send(self, label: str, case: Any, token: str) -> None:
        """Send one request, undo what it changes, and check the answer."""
        given_names = case.path_parameters or {}
        case.path_parameters = {
            name: self.names.get(name, value) for name, value in given_names.items()
        }
        headers = {"Authorization": f"Bearer {token}"}
        if "kept-volumes" in label:
            case.path_parameters["space"] = self.names["kept"]
        if case.method.upper() in ("PUT", "PATCH"):
            # The scene has no override of a quota.
            headers["If-None-Match" if "/staff/" in label else "If-Match"] = "*"
        sid = transaction.savepoint()
        answer = case.call(headers=headers)
        transaction.savepoint_rollback(sid)
        # A savepoint outlives its rollback, and thousands of them fill the server's table of locks.
        transaction.savepoint_commit(sid)
        self.sent[label] += 1
        self.succeeded[label] += answer.status_code < 300
        case.validate_response(answer, checks=CHECKS)


@pytest.fixture
def furnished(cast: Cast, names: dict[str, str], draft: Invoice) -> dict[str, str]:
    """The names of what exists, with an issued invoice, a credit note of it, a cap, a provider."""
    issued = issuing.issue(invoice=issuing.approve(invoice=draft, by=SYSTEM), by=SYSTEM)
    fee = issued.lines.get(meter="plan_fee").position
    note = credit_notes.issue(invoice=issued, wanted={fee: 1}, reason="an outage", by=SYSTEM)
    spend_caps.set_cap(tenant=cast.tenant, amount_minor=5000, action="notify", by=SYSTEM)
    wish = identity_providers.Wish(**PROVIDER)
    identity_providers.save(tenant=cast.tenant, wish=wish, by=SYSTEM)
    assert note.number
    return {**names, "credit_note": note.number}


def test_no_request_breaks_an_operation(cast: Cast, furnished: dict[str, str]) -> None:
    loaded = schemathesis.openapi.from_dict(schema.document())
    loaded.app = get_wsgi_application()
    tokens = {
        who: person_tokens.issue(cast.people[who], timezone.now())[0] for who in ("owner", "staff")
    }
    run = Run(furnished)
    with one_connection():
        try_all(loaded, run, tokens)
    without = sorted(label for label in run.sent if not run.succeeded[label])
    print(run.sent.total(), "requests;", len(run.sent), "operations; no 2xx:", without)  # noqa: T201
    assert run.wrong == {}, "\n\n".join(f"{label}: {error}" for label, error in run.wrong.items())
    assert len(without) <= (1 - COVERED) * len(run.sent)


def try_all(loaded: Any, run: Run, tokens: dict[str, str]) -> None:
    """Send requests to all operations but those that end or make logins."""
    for found in loaded.get_all_operations():
        operation = found.ok()
        if not operation.path.endswith(("/signup", "/metrics", "/session")):
            who = "staff" if "/staff/" in operation.path else "owner"
            run.try_operation(operation, tokens[who])
