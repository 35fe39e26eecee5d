"""Run the `waypost` command against the API in this process, without a server or workers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.test import Client
from django.utils import timezone
from typer.testing import CliRunner

from controlplane.api import person_tokens
from controlplane.cli import output
from controlplane.cli.app import app
from controlplane.core import operations
from controlplane.core.errors import WaypostError
from controlplane.core.models import Operation
from controlplane.core.phases import Phase
from controlplane.rest_client import Api
from tenants.models import Address, AddressSpace, MessagingUser, User
from tests.support import rest_answers

_KEPT = ("authorization", "idempotency-key", "if-match", "if-none-match")
_ROWS: dict[str, Any] = {
    "address_space": AddressSpace,
    "address": Address,
    "messaging_user": MessagingUser,
}
Worker = Callable[[Any], None]


@dataclass(frozen=True)
class Ended:
    """How a command ended, with the exit code of the whole program."""

    code: int
    stdout: str
    stderr: str
    error: str = ""


def connect(monkeypatch: pytest.MonkeyPatch, worker: Worker) -> None:
    """Let every ``Api`` reach the API of this process.

    Before a command waits for an operation, ``worker`` gets its body and carries it out.
    """
    rest_answers.answer_by(monkeypatch, _answer)
    really = Api.wait

    def wait(api: Api, tenant: str, operation: Any, **more: Any) -> Any:
        worker(operation)
        return really(api, tenant, operation, **more)

    monkeypatch.setattr(Api, "wait", wait)
    monkeypatch.setenv("WAYPOST_URL", "http://testserver")


def run(*arguments: str, answered: str | None = None) -> Ended:
    """Run the command with ``arguments``; ``answered`` is what a person types."""
    output.answer_in(output.Format.TABLE)
    ended = CliRunner().invoke(app, [*arguments], input=answered)
    if isinstance(ended.exception, WaypostError):
        code = output.exit_code(ended.exception)
        return Ended(code, ended.stdout, ended.stderr, ended.exception.error_code)
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


def as_people(
    people: Mapping[str, User], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ended]:
    """Return ``run`` with a parameter ``by``: who of ``people`` runs it, the owner by default.

    ``tenant`` is the slug of the tenant. What a command waits for is done at once.
    """
    connect(monkeypatch, apply_rows)
    monkeypatch.setenv("WAYPOST_TENANT", tenant)

    def run_as(*arguments: str, by: str = "owner", answered: str | None = None) -> Ended:
        token = person_tokens.issue(people[by], timezone.now())[0]
        monkeypatch.setenv("WAYPOST_TOKEN", token)
        return run(*arguments, answered=answered)

    return run_as


def apply_rows(operation: Any) -> None:
    """Do to the subject of an operation what the workers do in the end: it is Active, or gone."""
    row = Operation.objects.get(pk=operation["id"])
    _settle(_ROWS[row.subject_type].objects.get(pk=row.subject_id))
    operations.succeed(row.subject_type, row.subject_id, up_to_generation=row.target_generation)


def _settle(row: AddressSpace | Address | MessagingUser) -> None:
    row.observed_generation = row.generation
    if row.deletion_requested_at:
        row.phase, row.deleted_at = Phase.TERMINATING, timezone.now()
    else:
        row.phase, row.active_since = Phase.ACTIVE, row.active_since or timezone.now()
    row.save()


def _answer(request: httpx.Request) -> httpx.Response:
    """Answer a request of the command as the API does."""
    answered = Client().generic(
        request.method,
        request.url.raw_path.decode(),
        request.content,
        request.headers.get("content-type", ""),
        headers={name: request.headers[name] for name in _KEPT if name in request.headers},
    )
    # A file is sent piece by piece.
    content = b"".join(answered) if answered.streaming else answered.content
    return httpx.Response(answered.status_code, content=content, headers=dict(answered.headers))
