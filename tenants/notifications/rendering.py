"""Render an event as a message for people, and as the body of a webhook."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

from controlplane.core import instants, secrets
from tenants.notifications.event_kind import EventKind
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import Event

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?]) ")
# An instant as events hold it, and as those of earlier versions do.
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d):\d\d\.\d{6}Z| (\d\d:\d\d))")
_FIELD = re.compile(r"\{(?P<name>\w+)\}")


@dataclass(frozen=True)
class Message:
    """An event for people. ``url`` is its page in the portal; empty if there is none."""

    subject: str
    text: str
    url: str
    severity: str

    @property
    def plain(self) -> str:
        """The text of a mail: the message, the URL of its page, and a signature."""
        # "-- " with its blank begins a signature, which mail programs set apart (RFC 3676, 4.3).
        return "\n\n".join(part for part in (self.text, self.url, "-- \nWaypost") if part) + "\n"

    @property
    def html(self) -> str:
        """The same as HTML."""
        return render_to_string("notifications/mail.html", {"message": self})


def message(event: Event, *, to_staff: bool = False) -> Message:
    """Return the event as a message for people; ``to_staff``: for the operator's staff.

    A newer version may name more fields than the version that wrote the event. A field that the
    event lacks shows as ``?``; if the field is a whole sentence, the sentence is left out.
    """
    kind = BY_KEY[event.kind]
    fields = event.fields
    clear = {name: secrets.decrypt(fields[name]) for name in kind.secrets if name in fields}
    return _message(kind.for_staff() if to_staff else kind, fields | clear)


def _message(kind: EventKind, values: Mapping[str, Any]) -> Message:
    fields = _Fields(values)
    path = kind.path.format_map(fields)
    url = path if path.startswith("http") or not path else settings.PUBLIC_URL.rstrip("/") + path
    # One line, because a line break in a subject would begin another header of the mail.
    subject = " ".join(kind.subject.format_map(fields).split())
    text = _without_missing_sentences(kind.text, values).format_map(fields)
    return Message(subject, text.strip(), url, str(kind.severity))


def _without_missing_sentences(text: str, values: Mapping[str, Any]) -> str:
    """Return ``text`` without the sentences that are one field alone, which ``values`` lacks."""
    sentences = _BETWEEN_SENTENCES.split(text)
    kept = [
        sentence
        for sentence in sentences
        if not (field := _FIELD.fullmatch(sentence)) or field["name"] in values
    ]
    return " ".join(kept)


def webhook_body(event: Event) -> str:
    """Return the JSON body of a webhook: ``type``, ``timestamp`` and ``data``.

    ``data`` has the fields of the event, and the message for people. The same event always has the
    same body, so a receiver may compare repeated deliveries.
    """
    made, secret = message(event), BY_KEY[event.kind].secrets
    content: dict[str, Any] = {
        **{name: value for name, value in event.fields.items() if name not in secret},
        "subject": made.subject,
        "text": made.text,
        "url": made.url,
        "severity": made.severity,
    }
    document = {
        "type": event.kind,
        "timestamp": instants.text(event.occurred_at),
        "data": content,
    }
    return json.dumps(document, separators=(",", ":"), sort_keys=True)


def sample(kind: EventKind, organization: str, slug: str) -> Message:
    """Return an example of a kind, with the sample values of its fields."""
    return _message(kind, {**kind.sample, "tenant": slug, "organization": organization})


class _Fields(dict[str, Any]):
    """The fields of an event for ``format_map``, as people read them.

    Numbers have separators, instants are short (``2026-12-01 02:00 UTC``); ``?`` if missing.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__((name, _shown(value)) for name, value in fields.items())

    def __missing__(self, key: str) -> str:
        return "?"


def _shown(value: Any) -> Any:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str) and (found := _INSTANT.fullmatch(value)):
        day, minute, earlier = found.groups()
        return f"{day} {minute or earlier} UTC"
    return value
