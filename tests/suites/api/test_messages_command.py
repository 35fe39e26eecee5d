"""`waypost messages` against the API: what each command asks for, prints, and how it ends."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from controlplane.core import operations, secrets
from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from tenants.actions import addresses
from tenants.models import Address, AddressSpace, MessageRequest, Role
from tests.suites.api.conftest import Cast
from tests.support import command
from tests.support.command import Ended
from workers import message_requests

MESSAGE = {
    "id": "broker-0:7",
    "sent_ms": 1_795_000_000_123,
    "expires_ms": 0,
    "size": 12,
    "durable": True,
    "priority": 4,
    "group": "",
    "deliveries": 2,
    "came_from": "orders",
    "properties": {},
    "application_properties": {},
    "body": "hello",
    "is_binary": False,
    "is_whole": True,
}
SHOWN = {name: value for name, value in MESSAGE.items() if not name.endswith("_ms")} | {
    "sent_at": "2026-11-18T11:06:40.123000Z",
    "expires_at": None,
}
AT = ("main", "orders/new")
THERE = ["broker-0:1", "broker-0:2"]  # the messages of the queue


Run = Callable[..., Ended]


@pytest.fixture
def run(cast: Cast, queue: Address, space: AddressSpace, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `waypost messages …` as the owner, or as another role, against the API in this process.

    Before it waits for an operation, a worker has carried that out.
    """
    addresses.create(
        space=space, address="old", type="queue", address_plan="brokered-small-queue", by=SYSTEM
    )
    command.connect(monkeypatch, lambda operation: carry_out(operation["subject_id"]))
    monkeypatch.setenv("WAYPOST_TENANT", cast.tenant.slug)

    def run(*arguments: str, role: str = Role.OWNER, answered: str | None = None) -> Ended:
        monkeypatch.setenv("WAYPOST_TOKEN", cast.token(cast.tenant, role))
        return command.run("messages", *arguments, answered=answered)

    return run


def carry_out(request_id: str) -> None:
    """Do to a request's rows what a worker does in the end; a purge fails."""
    row = MessageRequest.objects.get(pk=request_id)
    if row.kind == "purge":
        operations.fail("message_request", row.pk, code="messages.failed", message="It is stuck.")
        return
    if row.kind == "browse":
        page = {"messages": [MESSAGE], "next": "broker-0:7"}
        row.sealed = secrets.encrypt(json.dumps(page))
        row.save()
    elif row.kind != "send":
        there = [id_ for id_ in row.arguments.get("messages", THERE) if id_ in THERE]
        row.done, row.finished_at = len(there), timezone.now()
        row.save()
        message_requests._report(row, "done")
        # The command must not read the number from the text of a step.
        Operation.objects.filter(subject_id=row.pk).update(steps=[])
    operations.succeed("message_request", row.pk, up_to_generation=1)


def test_browse_prints_a_page_and_how_to_see_the_next(run: Run) -> None:
    table = run("browse", *AT)
    page = run("browse", *AT, "--after", "broker-0:7", "-o", "json")

    assert table.code == page.code == 0
    row = "broker-0:7  2026-11-18 11:06:40 UTC  12    4         2           orders     hello"
    assert row in table.stdout
    assert "more: --after broker-0:7" in table.stderr
    assert json.loads(page.stdout) == {"items": [SHOWN], "next": "broker-0:7"}
    asked = MessageRequest.objects.filter(kind="browse").order_by("created_at")
    assert [row.arguments for row in asked] == [{"after": ""}, {"after": "broker-0:7"}]


def test_send_sends_the_text_and_properties_with_their_types(run: Run) -> None:
    given = ("--body", "hi", "--property", "n=7", "--property", "t=x=y", "--property", "b=true")

    ended = run("send", *AT, *given)

    assert ended.code == 0
    assert "sending to orders/new: done (opn_" in ended.stdout
    sealed = json.loads(secrets.decrypt(MessageRequest.objects.get().sealed))
    assert sealed == {"body": "hi", "properties": {"n": 7, "t": "x=y", "b": True}, "durable": True}
    assert run("send", *AT, "--property", "n").error == "property.invalid"


@pytest.mark.parametrize(
    ("arguments", "kind", "stored"),
    [
        (["delete", *AT, "--message", "broker-0:1", "--message", "broker-0:2", "--yes"], "delete",
         {"messages": ["broker-0:1", "broker-0:2"]}),
        (["move", *AT, "old"], "move", {"to": "old"}),
        (["move", *AT, "old", "--message", "broker-0:1"], "move",
         {"to": "old", "messages": ["broker-0:1"]}),
        (["resend", *AT], "resend", {"rate": None}),
        (["resend", *AT, "--message", "broker-0:1", "--rate", "5"], "resend",
         {"rate": 5, "messages": ["broker-0:1"]}),
    ],
)  # fmt: skip
def test_a_change_asks_for_what_the_options_say(
    run: Run, arguments: list[str], kind: str, stored: dict[str, Any]
) -> None:
    ended = run(*arguments, "-o", "json")

    assert (ended.code, json.loads(ended.stdout)["state"]) == (0, "Succeeded")
    row = MessageRequest.objects.get()
    assert (row.kind, row.address.address, row.arguments) == (kind, "orders/new", stored)


def test_an_operation_that_fails_ends_the_command_with_its_code(run: Run) -> None:
    ended = run("purge", *AT, "--yes")

    assert (ended.code, ended.error) == (1, "messages.failed")
    assert MessageRequest.objects.get().kind == "purge"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["resend", *AT], "resending messages of orders/new: done, 2 messages (opn_"),
        (["move", *AT, "old", "--message", "broker-0:1"], "to old: done, 1 message (opn_"),
        (["delete", *AT, "--message", "broker-0:1", "--yes"], "done, 1 message (opn_"),
    ],
)
def test_a_change_prints_how_many_messages_it_changed(
    run: Run, arguments: list[str], told: str
) -> None:
    ended = run(*arguments)

    assert ended.code == 0
    assert told in ended.stdout


def test_the_operation_says_how_many_messages_it_changed(run: Run) -> None:
    def changed(*arguments: str) -> object:
        return json.loads(run(*arguments, "-o", "json").stdout)["messages_changed"]

    assert changed("resend", *AT, "--no-wait") is None  # no worker has counted
    carry_out(MessageRequest.objects.get().pk)
    assert changed("resend", *AT) == 2
    assert changed("delete", *AT, "--message", "broker-0:1", "--yes") == 1
    assert changed("send", *AT, "--body", "hi") is None


@pytest.mark.parametrize(
    "arguments", [["resend", *AT], ["move", *AT, "old"], ["delete", *AT, "--yes"]]
)
def test_a_chosen_message_that_is_not_there_ends_the_command_with_an_error(
    run: Run, arguments: list[str]
) -> None:
    none = run(*arguments, "--message", "broker-0:9999")
    some = run(*arguments, "--message", "broker-0:1", "--message", "broker-0:9999")
    unknown = run(*arguments, "--message", "broker-0:9999", "--no-wait")

    assert (none.code, none.error) == (4, "message.none")
    assert "done, 0 messages (opn_" in none.stdout
    assert (some.code, some.error) == (4, "message.none")
    assert "done, 1 message (opn_" in some.stdout
    assert unknown.code == 0


def test_a_resend_of_nothing_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.THERE", [])

    ended = run("resend", *AT)

    assert ended.code == 0
    assert "resending messages of orders/new: done, 0 messages (opn_" in ended.stdout


def test_without_the_wait_the_operation_is_printed(run: Run) -> None:
    ended = run("resend", *AT, "--no-wait")

    assert ended.code == 0
    assert "resending messages of orders/new: accepted (opn_" in ended.stdout


@pytest.mark.parametrize("command", [["purge", *AT], ["delete", *AT, "--message", "broker-0:1"]])
def test_messages_are_deleted_only_after_a_yes(run: Run, command: list[str]) -> None:
    assert run(*command).error == "confirmation.missing"
    declined = run(*command, answered="n\n")
    assert declined.code == 1
    assert "nothing was done" in declined.stderr
    assert not MessageRequest.objects.exists()

    run(*command, answered="y\n")

    assert MessageRequest.objects.get().kind == command[0]


def test_refusals_end_with_the_documented_exit_codes(run: Run) -> None:
    resend = ("resend", *AT)
    assert run("browse", "main", "nothing").code == 4
    assert run("browse", "nothing", "orders/new").code == 4
    assert run("move", *AT, "nothing").code == 4
    assert run("delete", *AT, "--message", "7", "--yes").code == 1  # no id of a message
    assert run("delete", *AT, "--yes").code == 2
    assert run(*resend, "--rate", "0").code == 2
    assert run(*resend, role=Role.VIEWER).code == 3
    assert run(*resend, "--no-wait").code == 0
    assert run(*resend).error == "message_request.running"
    assert run("purge", *AT, "--yes").code == 5
