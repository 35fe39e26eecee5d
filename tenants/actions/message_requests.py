"""Request operations on the messages of an address: browse, send, purge, delete, move, resend.

A worker carries out each request later (``workers.message_requests``). All functions that request
something return the operation to poll, and raise SpaceTerminating if the space is being deleted.
Changes are audited here, when they are requested, and once more by the worker with their counts. A
browse is audited here only. Bodies are never audited.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from controlplane.core import address_types, audit, enqueue, operations, secrets
from controlplane.core.address_types import BrokerForm
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid
from controlplane.core.models import Operation
from tenants.actions import address_spaces
from tenants.models import (
    Address,
    AddressType,
    MessageRequest,
    MessageRequestKind,
    Tenant,
    UnpaidStage,
)

SUBJECT = "message_request"
PAGE_SIZE = 50  # messages of one answer
MOST_SELECTED = 500  # ids of messages in one request
BODY_BYTES = 64 * 1024  # of a message that a person sends
_Kind = MessageRequestKind


class NotStored(Invalid):
    """Addresses of this type do not allow the operation.

    Only queues, dead-letter addresses and subscriptions store messages of their own. Test messages
    can be sent only to queues and topics.
    """

    code = "message_request.not_stored"


class SendWithdrawn(Conflict):
    """Nobody may send in the space now (``AddressSpace.send_withdrawn``)."""

    code = "message_request.send_withdrawn"


class ChangeRunning(Conflict):
    """Another request that changes messages of this address has not ended."""

    code = "message_request.running"


def browse(*, address: Address, after: str = "", by: Actor) -> Operation:
    """Request a page of the messages that the address stores; ``page_of`` returns it later.

    ``after`` is the ``next`` of the page before; empty for the first page.

    Raises:
        NotStored: the address is a topic, an anycast or a multicast address.
    """
    _check_stored(address)
    return _request(address, _Kind.BROWSE, {"after": after}, by)


def send(
    *,
    address: Address,
    body: str,
    properties: Mapping[str, str | int | float | bool] | None = None,
    durable: bool = True,
    by: Actor,
) -> Operation:
    """Request that one test message is sent to a queue or a topic. Sending it is not billed.

    ``body`` is sent as a text, ``properties`` as application properties.

    Raises:
        Invalid: the body is larger than ``BODY_BYTES``. NotStored: the address is of another type.
        ChangeRunning: another change of the address's messages is running. SendWithdrawn: nobody
        may send in the space now.
    """
    if not can_send(address):
        raise NotStored(
            f"A test message can be sent to a queue or a topic; {address.address!r} is of type "
            f"{address.type}."
        )
    if address.space.send_withdrawn:
        raise SendWithdrawn(_why_withdrawn(address.space.tenant))
    if len(body.encode()) > BODY_BYTES:
        reason = f"The body is larger than {BODY_BYTES} bytes: send a shorter one."
        raise Invalid(reason, body=[reason])
    message = {"body": body, "properties": dict(properties or {}), "durable": durable}
    # Encrypted: the database and its backups hold no body in clear text.
    return _request(address, _Kind.SEND, {}, by, sealed=secrets.encrypt(json.dumps(message)))


def purge(*, address: Address, by: Actor) -> Operation:
    """Request that all messages that the address stores are deleted.

    Raises:
        NotStored, ChangeRunning: as ``delete``.
    """
    _check_stored(address)
    return _request(address, _Kind.PURGE, {}, by)


def delete(*, address: Address, messages: Sequence[str], by: Actor) -> Operation:
    """Request that the messages with these ids are deleted; those that are gone are left out.

    The ids are those of a page that ``browse`` requested.

    Raises:
        Invalid: there are no ids or more than ``MOST_SELECTED``, or one is malformed. NotStored:
        the address stores no messages of its own. ChangeRunning: another change of the address's
        messages is running.
    """
    _check_stored(address)
    return _request(address, _Kind.DELETE, {"messages": _checked(messages)}, by)


def move(*, address: Address, to: Address, messages: Sequence[str] | None, by: Actor) -> Operation:
    """Request that messages of ``address`` move to the queue ``to`` of the same space.

    ``messages`` are ids as in ``delete``; None moves all messages.

    Raises:
        Invalid: ``to`` is ``address`` itself, no queue, of another space or being deleted; or as
        ``delete``. NotStored, ChangeRunning: as ``delete``.
    """
    _check_stored(address)
    if to.space_id != address.space_id or to.pk == address.pk or not _is_target(to):
        raise Invalid("Messages move to another queue of the same space: choose one.")
    if to.deletion_requested_at is not None:
        raise Invalid(f"{to.address!r} is being deleted with its messages: choose another queue.")
    # Without ``messages`` the worker takes all of them.
    chosen = {} if messages is None else {"messages": _checked(messages)}
    return _request(address, _Kind.MOVE, {"to": to.address, **chosen}, by)


def resend(
    *,
    address: Address,
    messages: Sequence[str] | None,
    rate: int | None = None,
    by: Actor,
) -> Operation:
    """Request that dead and expired messages return to the queues that they came from.

    ``address`` is the one that took them. ``messages`` are ids as in ``delete``; None resends all
    messages. ``rate`` is the most messages in a second; None sets no limit. Messages that a sender
    sent to ``address`` itself, or that came from a queue that is gone, stay.

    Raises:
        Invalid: ``rate`` is out of range, or as ``delete``. NotStored, ChangeRunning: as
        ``delete``.
    """
    _check_stored(address)
    if rate is not None and not 1 <= rate <= 10_000:
        raise Invalid("The rate is from 1 to 10000 messages a second.")
    chosen = {} if messages is None else {"messages": _checked(messages)}
    return _request(address, _Kind.RESEND, {"rate": rate, **chosen}, by)


def can_browse(address: Address) -> bool:
    """Return whether the type of the address stores messages, so that they can be read and changed.

    True for queues, dead-letter addresses and subscriptions.
    """
    form = address_types.BY_SLUG[address.type].broker_form
    return form in (BrokerForm.QUEUE, BrokerForm.QUEUE_OF_TOPIC)


def can_send(address: Address) -> bool:
    """Return whether a test message can be sent to the address: to a queue or a topic."""
    row = address_types.BY_SLUG[address.type]
    return row.broker_form in (BrokerForm.QUEUE, BrokerForm.TOPIC) and not row.is_read_only


def targets(address: Address) -> list[str]:
    """Return the names of the queues that messages of ``address`` may move to, sorted.

    These are the other queues of the same space that are not being deleted.
    """
    rows = Address.objects.filter(space_id=address.space_id, deletion_requested_at__isnull=True)
    others = rows.exclude(pk=address.pk).order_by("address")
    return [row.address for row in others if _is_target(row)]


def page_of(request: MessageRequest) -> dict[str, Any]:
    """Return {"messages": [...], "next": position}: the page that a worker has read for a browse.

    ``next`` is empty after the last page. Before the worker has read the page, and for a request of
    another kind, both are empty.

    Raises:
        Unavailable: the key that encrypted the page is missing.
    """
    if not request.sealed or request.kind != _Kind.BROWSE:
        return {"messages": [], "next": ""}
    page: dict[str, Any] = json.loads(secrets.decrypt(request.sealed))
    return page


def deliveries_of(message: Mapping[str, Any]) -> int | None:
    """Return how often a message of ``page_of`` was delivered; None if nobody knows.

    A broker moves a message as a copy whose count begins at 0, and keeps no earlier count.
    """
    count: int = message["deliveries"]
    return None if message["came_from"] and not count else count


def _request(
    address: Address,
    kind: MessageRequestKind,
    arguments: dict[str, Any],
    by: Actor,
    *,
    sealed: str = "",
) -> Operation:
    with transaction.atomic():
        address_spaces.lock_for_change(address.space)
        open_changes = MessageRequest.objects.filter(address=address, finished_at__isnull=True)
        # A browse changes no message, so it neither waits nor makes others wait.
        is_change = kind is not _Kind.BROWSE
        if is_change and open_changes.exclude(kind=_Kind.BROWSE).exists():
            raise ChangeRunning(
                f"Messages of {address.address!r} are being changed: wait until that has ended."
            )
        row = MessageRequest.objects.create(
            space_id=address.space_id,
            address=address,
            kind=kind,
            arguments=arguments,
            sealed=sealed,
            requested_by=by.name,
        )
        operation = operations.begin(
            tenant_id=address.space.tenant_id,
            kind=f"messages.{kind}",
            subject=(SUBJECT, row.pk, address.address),
            generation=1,
            by=by,
        )
        subject = audit.Subject("address", address.pk, address.address, address.space.tenant_id)
        selected = arguments.get("messages")
        after = {name: value for name, value in arguments.items() if name in ("to", "rate")}
        if kind is not _Kind.SEND:
            after["selected"] = "all" if selected is None else len(selected)
        audit.record(by, f"messages.{kind}", subject, after=after if is_change else {})
        enqueue.after_commit("workers.run_message_request", request_id=row.pk)
    return operation


def _checked(messages: Sequence[str]) -> list[str]:
    """Check that ``messages`` are ids such as ``broker-0:17``, and how many; return them as a list.

    Whether the messages exist is not checked.

    Raises:
        Invalid: an id is malformed, or there are none or too many.
    """
    if not 1 <= len(messages) <= MOST_SELECTED:
        raise Invalid(f"Select from 1 to {MOST_SELECTED} messages.")
    for id_ in messages:
        broker, _, number = id_.partition(":")
        # ``isdigit`` alone also accepts digits that ``int`` refuses, such as "²".
        if not (broker.startswith("broker-") and number.isascii() and number.isdigit()):
            raise Invalid(f"{id_!r} is no id of a message: use those that browsing shows.")
    return list(messages)


def _check_stored(address: Address) -> None:
    if address.type == AddressType.TOPIC:
        raise NotStored(
            f"{address.address!r} is a topic: its messages are stored in its subscriptions. Name a "
            "subscription to read or purge its messages. Those of a durable subscription by link "
            "name can only be received by its client."
        )
    if not can_browse(address):
        raise NotStored(
            f"{address.address!r} is of type {address.type} and stores no messages of its own: "
            "choose a queue or a subscription."
        )


def _why_withdrawn(tenant: Tenant) -> str:
    """Return why nobody may send in the spaces of the tenant, and what to do."""
    if tenant.suspended_at is not None:
        return "This organization is suspended, so nobody may send in this space: ask the operator."
    if tenant.unpaid_stage != UnpaidStage.NONE:
        return "Invoices are unpaid, so nobody may send in this space: pay them."
    if tenant.erase_at is not None:
        return (
            "This organization is being closed, so nobody may send in this space. An owner can "
            "undo that under Settings."
        )
    return "A quota of this organization is used up, so nobody may send in this space: see Usage."


def _is_target(address: Address) -> bool:
    row = address_types.BY_SLUG[address.type]
    return row.broker_form is BrokerForm.QUEUE and not row.is_read_only
