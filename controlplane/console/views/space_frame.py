"""Provides the parts that a space's pages share: state card, client notes, tabs, next step."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from controlplane.console import formats, space_reads
from controlplane.console.scope import NavItem, TenantScope
from controlplane.core import phases, restarts
from controlplane.core.models import Operation
from controlplane.core.phases import Phase
from controlplane.core.reasons import ENGINE_DOWN
from plans.catalog import publishing
from tenants import queries, router_patches
from tenants.models import AddressSpace, SpaceType

_TABS = (
    ("Addresses", "space"),
    ("Messaging users", "space_users"),
    ("Connections", "space_connections"),
    ("Connect", "space_connect"),
    ("Activity", "space_activity"),
    ("Settings", "space_settings"),
)
_SHOWN_RUNNING = 5  # running operations
_HEADLINES = {
    Phase.PENDING: "Waiting to be configured.",
    Phase.CONFIGURING: "Being configured.",
    Phase.ACTIVE: "Ready for messages.",
    Phase.FAILED: "There is a problem; Waypost retries automatically.",
    Phase.TERMINATING: "Being deleted.",
}


class NextStep(NamedTuple):
    """The next step towards the first message in a new space, as pages show it.

    ``at`` is the step's number in the wizard. ``label`` is the text of the button that leads to
    ``url``. ``allowed``: the member's role permits the step.
    """

    at: int
    title: str
    text: str
    label: str
    url: str
    allowed: bool


@dataclass(frozen=True)
class ShownOperation:
    """An operation as pages show it.

    ``title`` is a text such as ``Create address orders``. ``restarts`` is a sentence, or empty if
    the operation does not say what restarts. ``messages`` says how many messages it changed, such
    as ``1 message``; empty if it does not say.
    """

    title: str
    state: str
    steps: Sequence[Any]
    restarts: str
    messages: str
    error_code: str
    error_message: str
    created_at: Any
    finished_at: Any


def shown(operation: Operation) -> ShownOperation:
    """Return what pages show of an operation."""
    return ShownOperation(
        formats.operation_title(operation.kind, operation.subject_name),
        operation.state,
        operation.steps,
        restarts.sentence(operation.restarts),
        formats.messages(operation.messages_changed),
        operation.error_code,
        operation.error_message,
        operation.created_at,
        operation.finished_at,
    )


def status_context(space: AddressSpace) -> dict[str, Any]:
    """Return the template context of the card that shows a space's state.

    ``live``: an operation runs, or the space is not Active, so the browser polls. ``seen``: a hash
    of what the card shows, except the time of the last test message. ``running``: at most five
    running operations; ``more_running``: how many more there are.
    """
    operations = list(space_reads.running(space))
    running = [shown(operation) for operation in operations[:_SHOWN_RUNNING]]
    unsettled = space.phase in {Phase.PENDING, Phase.CONFIGURING, Phase.TERMINATING, Phase.FAILED}
    problems = formats.problems_of(space)
    # What the card shows, except the time of the last test message. The browser sends the hash with
    # the next poll, and an unchanged card is not sent again.
    limits = (space.send_withdrawn, space.throttle_percent, space.connections_refused)
    content = (space.phase, limits, running, len(operations), problems)
    return {
        "space": space,
        "seen": hashlib.sha256(repr(content).encode()).hexdigest()[:16],
        "headline": _headline(space),
        "running": running,
        "more_running": len(operations) - len(running),
        "problems": problems,
        "live": bool(running) or unsettled,
    }


def _headline(space: AddressSpace) -> str:
    ready = phases.find_condition(space.conditions, phases.READY)
    was_active = space.active_since is not None and space.phase == Phase.CONFIGURING
    if was_active and ready is not None and ready["reason"] in ENGINE_DOWN:
        return "A broker or router does not serve; Waypost works on it."
    return _HEADLINES.get(Phase(space.phase), "")


def frame(scope: TenantScope, space: AddressSpace, tab: str) -> dict[str, Any]:
    """Return the template context that every page of a space needs.

    ``tab`` is the URL name of the tab that the page belongs to, such as ``space_users``.
    """
    return {
        **status_context(space),
        "may_choose": scope.may["manage_messaging"] and not space.deletion_requested_at,
        "client_notes": client_notes(space),
        "tabs": [NavItem(label, scope.url(name, space.name), name == tab) for label, name in _TABS],
    }


def client_notes(space: AddressSpace) -> Sequence[str]:
    """Return notes on the space's routers for client developers.

    Empty for a brokered space, and before the space was Active for the first time.
    """
    if space.type != SpaceType.STANDARD or space.active_since is None:
        return []
    # What clients must know depends on the patches that this space's routers report.
    routers = publishing.space_plan_definition(space.space_plan).routers
    return router_patches.notes_for_clients(space.router_patches, routers)


def next_step(scope: TenantScope, space: AddressSpace) -> NextStep | None:
    """Return what a new space needs next: a first address, a first messaging user, a test message.

    None if the space has all of them or is being deleted, or if it needs only the test message and
    the member may not send messages.
    """
    if space.deletion_requested_at:
        return None
    if not queries.has_clients_addresses(space):
        meanwhile = " Meanwhile the space is being configured."
        return NextStep(
            2,
            "Add the first address",
            "Clients send to and receive from an address: a queue, a "
            f"topic and more.{'' if space.phase == Phase.ACTIVE else meanwhile}",
            "Create an address",
            scope.url("address_new", space.name),
            scope.may["manage_messaging"],
        )
    if not queries.list_users(space).exists():
        return NextStep(
            3,
            "Add a messaging user",
            "A client logs in as a messaging user with a password that is shown once.",
            "Create a user",
            scope.url("user_new", space.name),
            scope.may["manage_messaging"],
        )
    if scope.may["send_messages"] and not queries.had_messages(space):
        return NextStep(
            4,
            "Send a test message",
            "Waypost sends it through the brokers of the space, as a program would.",
            "Send a test message",
            scope.url("first_message", space.name),
            True,
        )
    return None
