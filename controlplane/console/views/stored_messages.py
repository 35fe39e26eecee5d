"""Views of an address's stored messages: browse, send, delete, move, resend, purge.

Workers read and change the messages. ``?page=`` is the id of a request to read a page of messages;
the browser polls until a worker has answered the request. Each change except sending is confirmed
on a page of its own.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponseBase, QueryDict
from django.shortcuts import redirect

from controlplane.console import as_command, formats
from controlplane.console.access import tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.spaces import ConfirmForm
from controlplane.console.forms.stored_messages import ChangeForm, SendForm
from controlplane.console.scope import TenantScope
from controlplane.console.views import address_frame, space_frame
from controlplane.core.audit import Actor
from controlplane.core.models import Operation
from tenants import permissions, queries
from tenants.actions import message_requests
from tenants.models import Address, MessageRequest, MessageRequestKind
from tenants.permissions import OF_MESSAGES, Permission

_PAST = {"purge": "deleted", "delete": "deleted", "move": "moved", "resend": "resent"}


@tenant_page(Permission.READ_MESSAGES, or_see=Permission.SEND_MESSAGES)
def page(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Show the stored messages that a worker has read; on POST request that it reads some.

    A POST requests the messages after the position ``after`` (empty: the first ones), and redirects
    to this page with the request's id in ``?page=``. GET shows what that request has read. A member
    who may only send messages sees the form for a test message alone.
    """
    row = address_frame.find(scope, space, address)
    if scope.request.method == "POST":
        after = scope.request.POST.get("after", "")[:80]
        operation = message_requests.browse(address=row, after=after, by=scope.actor)
        return redirect(_url(scope, row, page=operation.subject_id))
    return _render(scope, row)


@tenant_page(OF_MESSAGES[MessageRequestKind.SEND])
def send(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Request that a worker sends a test message to an address; show errors in the form.

    ``address`` is the id.
    """
    row = address_frame.find(scope, space, address)
    form = SendForm(scope.request.POST or None)
    if form.is_valid() and not scope.shows_command:
        values = form.cleaned_data
        begun = form.attempt(message_requests.send, address=row, by=scope.actor, **values)
        if begun:
            messages.success(scope.request, f"A message is being sent to {row.address}.")
            return redirect(_url(scope, row, change=begun.subject_id))
    return _render(scope, row, send_form=form)


@tenant_page(Permission.READ_MESSAGES)
def change(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Ask for confirmation to delete, move or resend messages; request it once confirmed.

    Both steps are a POST of ``ChangeForm``; the confirmation page sends ``confirmed`` too. Whoever
    selects messages reads them, so the page needs that permission, and each verb its own.

    Raises:
        Denied: the role may not do what the form's ``verb`` says, or the tenant is suspended or
            being closed.
    """
    row = address_frame.find(scope, space, address)
    verb = scope.request.POST.get("verb", "")
    if verb in ChangeForm.VERBS:
        permissions.require(scope.role, OF_MESSAGES[verb])
        permissions.require_changeable(scope.tenant, OF_MESSAGES[verb])
    selected = scope.request.POST.getlist("message")
    form = _change_form(scope, row, scope.request.POST, selected)
    if not form.is_valid():
        return _render(scope, row, change_form=form)
    if form.cleaned_data["confirmed"]:
        if begun := form.attempt(_begin, address=row, form=form, by=scope.actor):
            return redirect(_url(scope, row, change=begun.subject_id))
        return _render(scope, row, change_form=form)
    question, consequence = form.question(row.address)
    context = {
        "hidden": [
            *((name, value) for name, value in form.cleaned_data.items() if value),
            *(("message", id_) for id_ in selected),
            ("confirmed", "on"),
        ],
        "question": question,
        "consequence": consequence,
        "verb": ChangeForm.VERBS[verb],
        "loses_messages": verb == "delete",
        "same": as_command.change_messages(scope.tenant.slug, row, verb, _values(form)),
        "back": _url(scope, row),
        "back_label": f"Messages of {row.address}",
    }
    return scope.render("spaces/messages_confirm.html", context)


@tenant_page(OF_MESSAGES[MessageRequestKind.PURGE])
def purge(scope: TenantScope, space: str, address: str) -> HttpResponseBase:
    """Ask for confirmation; on POST with the typed name, request that all messages are deleted."""
    row = address_frame.find(scope, space, address)
    form = ConfirmForm(scope.request.POST or None, expected=row.address)
    if form.is_valid() and (
        begun := form.attempt(message_requests.purge, address=row, by=scope.actor)
    ):
        return redirect(_url(scope, row, change=begun.subject_id))
    context = {
        "form": form,
        "question": f"Delete all messages in {row.address}?",
        "consequence": "Every message that is in it now is lost. This cannot be undone.",
        "verb": "Purge",
        "same": as_command.change_messages(scope.tenant.slug, row, "purge"),
        "back": _url(scope, row),
        "back_label": f"Messages of {row.address}",
    }
    return scope.render("confirm.html", context, form_status(form))


def _change_form(
    scope: TenantScope, row: Address, given: QueryDict | None = None, selected: Sequence[str] = ()
) -> ChangeForm:
    """Return the form with what the role may do, empty or with the values that were ``given``.

    ``selected`` are ids of messages.
    """
    verbs = [verb for verb in ChangeForm.VERBS if scope.may[OF_MESSAGES[verb]]]
    targets = message_requests.targets(row)
    return ChangeForm(given or None, verbs=verbs, targets=targets, selected=selected)


def _values(form: ChangeForm) -> dict[str, Any]:
    """Return the fields of the API's request for the change that the valid ``form`` describes."""
    values = form.cleaned_data
    selected = None if values.get("everything") else list(form.selected)
    more = {"move": "to", "resend": "rate"}.get(values["verb"])
    return {"messages": selected, **({more: values[more]} if more else {})}


def _begin(*, address: Address, form: ChangeForm, by: Actor) -> Operation:
    """Request the change that the valid ``form`` describes; return the operation."""
    values = form.cleaned_data
    selected = None if values.get("everything") else form.selected
    if values["verb"] == "move":
        to = queries.get_address(address.space, values["to"])
        return message_requests.move(address=address, to=to, messages=selected, by=by)
    if values["verb"] == "resend":
        return message_requests.resend(
            address=address, messages=selected, rate=values["rate"], by=by
        )
    # The form refuses to delete everything, so messages are selected.
    return message_requests.delete(address=address, messages=form.selected, by=by)


def _render(
    scope: TenantScope,
    row: Address,
    *,
    send_form: SendForm | None = None,
    change_form: ChangeForm | None = None,
) -> HttpResponseBase:
    """Render the page of stored messages; a form that is None is shown empty.

    The forms that are passed are those that were submitted and refused. ``?page=`` of the scope's
    request selects which messages are shown, and ``?change=`` the change whose outcome is shown.
    """
    # A refused test message comes here too, and its permission shows no stored messages.
    wanted = scope.request.GET.get("page", "") if scope.may["read_messages"] else ""
    browsed, running, ended = _requests(row, wanted, scope.request.GET.get("change", ""))
    reading = browsed is not None and browsed.finished_at is None
    subjects = [one.pk for one in (browsed, running, ended) if one]
    operations = {
        operation.subject_id: operation
        for operation in Operation.objects.filter(
            subject_type=message_requests.SUBJECT, subject_id__in=subjects
        )
    }
    sending = send_form or SendForm()
    context = {
        **address_frame.frame(scope, row, "messages"),
        "can_browse": scope.may["read_messages"] and message_requests.can_browse(row),
        "is_topic": not message_requests.can_browse(row),
        "can_send": scope.may["send_messages"] and message_requests.can_send(row),
        "browsed": browsed,
        "is_lost": bool(wanted) and browsed is None,
        "problem": operations[browsed.pk].error_message if browsed else "",
        "reading": reading,
        "stored": message_requests.page_of(browsed) if browsed else None,
        "change": space_frame.shown(operations[running.pk]) if running else None,
        "outcome": _outcome(ended, operations[ended.pk]) if ended else "",
        # The page that is shown was read before the change ended.
        "is_outdated": bool(
            ended and ended.finished_at and browsed and browsed.created_at < ended.finished_at
        ),
        "polls": reading or running is not None,
        # Not the request's own path: after a refused form, that is the path of the form.
        "here": _url(scope, row),
        "send_form": sending,
        "same": as_command.send_message(
            scope.tenant.slug, row, *sending.message_now(), durable=sending.is_durable_now()
        ),
        "change_form": change_form or _change_form(scope, row),
    }
    return scope.render("spaces/messages.html", context, form_status(send_form, change_form))


def _requests(
    row: Address, page: str, change: str
) -> tuple[MessageRequest | None, MessageRequest | None, MessageRequest | None]:
    """Return the reading ``page``, the change that runs, and the change ``change`` once it ended.

    While a change runs, no ended one is returned.
    """
    requests = queries.list_message_requests(row.space).filter(address=row)
    browsed = requests.filter(pk=page, kind="browse").first() if page else None
    changes = requests.exclude(kind="browse")
    running = changes.filter(finished_at__isnull=True).first()
    if running is not None or not change:
        return browsed, running, None
    return browsed, running, changes.filter(pk=change, finished_at__isnull=False).first()


def _outcome(request: MessageRequest, operation: Operation) -> str:
    """Return what an ended change has done, such as ``1 message resent.``."""
    if request.kind == MessageRequestKind.SEND:
        return operation.error_message or "The test message was sent."
    done, verb = request.done, _PAST[request.kind]
    chosen = len(set(request.arguments.get("messages", ())))
    if operation.error_message:
        return f"{formats.messages(done)} {verb}. {operation.error_message}"
    if done >= chosen:
        return f"{formats.messages(done)} {verb}."
    others = "it is" if chosen == 1 else "the others are"
    return (
        f"{done:,} of {formats.messages(chosen)} {verb}: {others} no longer there, or cannot be "
        f"{verb}."
    )


def _url(scope: TenantScope, row: Address, **values: str) -> str:
    """Return the URL of the page of stored messages.

    ``?page=`` and ``?change=`` are as in the present request, unless ``values`` has others.
    """
    given = {name: values.get(name) or scope.request.GET.get(name) for name in ("page", "change")}
    query = urlencode({name: value[:80] for name, value in given.items() if value})
    return scope.url("messages", row.space.name, row.pk) + (f"?{query}" if query else "")
