"""Forms of notifications: channels, preferences, the budget, and alarms of addresses."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms

from controlplane.console.forms.amounts import minor_amount
from controlplane.console.forms.base import ConsoleForm
from plans.rating import money
from tenants.actions.alarms import Limits
from tenants.notifications.chat_services import REGISTRY as CHATS
from tenants.notifications.event_kinds import CHOOSABLE
from tenants.notifications.models import AddressAlarm, Channel
from tenants.notifications.preferences import Choice

_CHATS = ", ".join(service.title for service in CHATS)
_EU = " and ".join(service.title for service in CHATS if "eu" in service.regions)
_KINDS = [(kind.key, kind.title) for kind in CHOOSABLE]


class ChannelForm(ConsoleForm):
    """Asks for the name, kind, URL and events of a channel."""

    name = forms.CharField(max_length=100, label="Name")
    kind = forms.ChoiceField(
        label="Kind",
        choices=[(Channel.Kind.WEBHOOK, "Signed webhook"), (Channel.Kind.CHAT, "Chat or pager")],
    )
    # No URLField: it refuses the schemes by which Apprise names chats.
    url = forms.CharField(
        label="URL",
        max_length=2000,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=f"A https address for a webhook. For {_CHATS}: the URL of Apprise's form, such "
        f"as {CHATS[0].form}. {_EU} in the EU: with ?region=eu at its end. "
        "It is stored encrypted and not shown again.",
    )
    kinds = forms.MultipleChoiceField(
        label="Events",
        choices=_KINDS,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None selected: all events.",
    )


class ChannelChangeForm(ConsoleForm):
    """Asks for another name, URL or events of a channel, and whether it is on."""

    name = forms.CharField(max_length=100, label="Name")
    url = forms.CharField(
        label="Another URL",
        max_length=2000,
        required=False,
        help_text="Empty: the URL stays as it is.",
    )
    kinds = forms.MultipleChoiceField(
        label="Events",
        choices=_KINDS,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None selected: all events.",
    )
    enabled = forms.BooleanField(label="Send events to this channel", required=False)


class PreferencesForm(ConsoleForm):
    """Asks what a member gets by mail, with one checkbox for every item of ``choices``."""

    def __init__(self, *args: Any, choices: Iterable[Choice], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._before = {choice.kind.key: choice.by_mail for choice in choices}
        for choice in choices:
            self.fields[choice.kind.key] = forms.BooleanField(
                label=choice.kind.title,
                help_text=choice.kind.meaning,
                required=False,
                initial=choice.by_mail,
                # Django ignores what is sent for a disabled field: what is fixed stays on.
                disabled=choice.is_fixed,
            )

    def changed_choices(self) -> dict[str, bool | None]:
        """Return {kind: by mail} of the kinds that the member has changed."""
        return {
            key: self.cleaned_data[key]
            for key, before in self._before.items()
            if self.cleaned_data[key] != before
        }


class DefaultsForm(ConsoleForm):
    """Asks which kinds of events go by mail to members who have made no choice of their own.

    Each kind is by role, on or off.
    """

    def __init__(self, *args: Any, defaults: dict[str, bool], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in CHOOSABLE:
            # Nobody can turn off a required kind.
            if not kind.is_required:
                chosen = defaults.get(kind.key)
                # No checkbox: it has two states, and None (by role) is the third one.
                self.fields[kind.key] = forms.TypedChoiceField(
                    label=kind.title,
                    coerce=lambda text: {"": None, "on": True, "off": False}[text],
                    empty_value=None,
                    required=False,
                    choices=[("", "By role"), ("on", "Everyone"), ("off", "Nobody")],
                    initial={None: "", True: "on", False: "off"}[chosen],
                )


class BudgetForm(ConsoleForm):
    """Asks for the monthly budget in the currency (euros, not cents); an empty one removes it."""

    budget = forms.DecimalField(
        label="Monthly budget",
        required=False,
        max_value=Decimal(10**9),
        max_digits=20,
        help_text="Waypost notifies at 50, 80 and 100 percent, and checks every 15 minutes. "
        "Nothing stops.",
    )

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._digits = money.minor_digits(currency)

    def clean_budget(self) -> int | None:
        """Return the budget in minor units, or None if the field is empty.

        Raises:
            ValidationError: it is not positive, or has more decimals than the currency.
        """
        entered = self.cleaned_data["budget"]
        return None if entered is None else minor_amount(entered, self._digits)

    def field_named(self, name: str) -> str:
        """Return the name of the form field that an error calls ``name``."""
        return "budget" if name == "budget_minor" else name


class AlarmForm(ConsoleForm):
    """Asks for the rule of a new alarm."""

    metric = forms.ChoiceField(
        label="What",
        choices=[
            (AddressAlarm.Metric.DEPTH, "Messages stored"),
            (AddressAlarm.Metric.AGE, "Age of the oldest message, in seconds"),
        ],
    )
    threshold = forms.IntegerField(label="Threshold", min_value=1)
    for_seconds = forms.IntegerField(
        label="For how many seconds",
        min_value=0,
        initial=60,
        help_text="The alarm is raised when the value has been at the threshold or above it for so "
        "long.",
    )
    clear_below = forms.IntegerField(
        label="Cleared below",
        min_value=1,
        required=False,
        help_text="Empty: below 80 percent of the threshold.",
    )

    def limits(self) -> Limits:
        """Return the limits of the submitted form."""
        values = self.cleaned_data
        # 0 stands for 80 percent of the threshold.
        return Limits(values["threshold"], values["for_seconds"], values["clear_below"] or 0)
