"""Forms of the page of an address's stored messages: send one, or change some or all."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from controlplane.console.forms.base import ConsoleForm

Property = str | int | float | bool


class SendForm(ConsoleForm):
    """Asks for a test message: its text, application properties, and whether it is durable."""

    body = forms.CharField(
        label="Text",
        required=False,
        # A message is sent as it was typed, with the blanks at its ends.
        strip=False,
        widget=forms.Textarea,
        help_text="At most 64 KiB.",
    )
    properties = forms.CharField(
        label="Application properties",
        required=False,
        widget=forms.Textarea(attrs={"spellcheck": "false", "autocapitalize": "none"}),
        help_text="One name=value in each line. Numbers, true and false keep their type; quotes "
        'make them text: count="7".',
    )
    durable = forms.BooleanField(label="Keep it over a restart", required=False, initial=True)

    def message_now(self) -> tuple[str, dict[str, Property]]:
        """Return (text, properties) that the form has now; no properties unless they are valid."""
        valid = getattr(self, "cleaned_data", {})
        return self["body"].value() or "", valid.get("properties", {})

    def is_durable_now(self) -> bool:
        """Return whether the message of the form as it is now is durable."""
        return bool(self["durable"].value())

    def clean_properties(self) -> dict[str, Property]:
        """Parse the lines ``name=value`` and return {name: value}; empty lines are skipped.

        Raises:
            ValidationError: a line is no name=value, or repeats a name.
        """
        found: dict[str, Property] = {}
        for number, line in enumerate(self.cleaned_data["properties"].splitlines(), start=1):
            if not line.strip():
                continue
            # The first = ends the name: a value may have more of them.
            name, separator, text = (part.strip() for part in line.partition("="))
            if not (name and separator):
                raise forms.ValidationError(f"Line {number}: write name=value.")
            if name in found:
                raise forms.ValidationError(f"Line {number}: {name[:80]} has a value already.")
            found[name] = _value(text)
        return found


class ChangeForm(ConsoleForm):
    """Asks what to do with stored messages: resend, move or delete the selected ones, or all.

    ``verbs`` are those of ``VERBS`` that the member may use; fields of other verbs are left out.
    ``targets`` are the names of the queues that messages may move to. ``selected`` are the ids of
    the selected messages. Only the confirmation page sends ``confirmed``; without it the view asks
    before it changes anything.
    """

    VERBS: ClassVar[Mapping[str, str]] = {"resend": "Resend", "move": "Move", "delete": "Delete"}

    verb = forms.ChoiceField(label="Do")
    to = forms.ChoiceField(required=False)
    rate = forms.IntegerField(
        label="Resend at most",
        required=False,
        min_value=1,
        max_value=10_000,
        help_text="Only to resend: messages in a second. Empty: as fast as possible.",
    )
    everything = forms.BooleanField(
        label="All messages, not only the selected ones", required=False
    )
    confirmed = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        verbs: Sequence[str],
        targets: Sequence[str],
        selected: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.selected, self.verbs = selected, verbs
        offered = [(verb, self.VERBS[verb]) for verb in verbs]
        self.fields["verb"] = forms.ChoiceField(label="Do", choices=offered)
        choices = [("", "Choose a queue"), *((name, name) for name in targets)]
        self.fields["to"] = forms.ChoiceField(
            label="Move to", required=False, choices=choices, help_text="Only to move."
        )
        self.order_fields(["verb", "to", "rate", "everything"])
        fields_of = {"to": {"move"}, "rate": {"resend"}, "everything": {"move", "resend"}}
        for name, users in fields_of.items():
            if users.isdisjoint(verbs):
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        """Check the values together and return them; add an error to the form for each mistake.

        Mistakes are: no message is selected, a move has no target, or all messages would be
        deleted (purging does that).
        """
        values: dict[str, Any] = super().clean() or {}
        if not (values.get("everything") or self.selected):
            self.add_error(None, "Select messages in the list, or choose all messages.")
        # A field that has an error already is missing in ``values``.
        if values.get("verb") == "move" and "to" in values and not values["to"]:
            self.add_error("to", "Choose the queue that the messages move to.")
        if values.get("verb") == "delete" and values.get("everything"):
            self.add_error("everything", "To delete all messages, use Purge.")
        return values

    def question(self, address: str) -> tuple[str, str]:
        """Return the question that asks for confirmation, and a sentence on the consequence.

        ``address`` is the name of the address. The form must be valid.
        """
        values, count = self.cleaned_data, len(self.selected)
        everything = values.get("everything", False)
        which = "all messages" if everything else f"{count} message"
        which += "s" if not everything and count != 1 else ""
        if values["verb"] == "move":
            return f"Move {which} to {values['to']}?", f"They leave {address}."
        if values["verb"] == "resend":
            text = "They return to the queues that they came from, and receivers get them again."
            return f"Resend {which}?", text
        text = f"This cannot be undone. Other messages in {address} stay."
        return f"Delete {which}?", text


def _value(text: str) -> Property:
    """Return ``text`` parsed as a JSON string, number or boolean; any other text unchanged."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # Python reads NaN and Infinity too, which JSON does not have.
    if isinstance(value, float) and not math.isfinite(value):
        return text
    # Application properties are of simple types (AMQP 1.0, 3.2.5): lists and objects stay text.
    # A bool is an int.
    return value if isinstance(value, str | int | float) else text
