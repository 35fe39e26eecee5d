"""Forms of spaces: a space, an address, a messaging user, a typed confirmation."""

from collections.abc import Sequence
from typing import Any

from django import forms

from controlplane.console.forms.base import ConsoleForm
from plans.catalog import AddressPlanDefinition, SpacePlanDefinition
from tenants.models import Address, SpaceType

_MONO = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class SpaceForm(ConsoleForm):
    """A new space: its name, and a plan that says kind and size."""

    name = forms.CharField(
        max_length=63,
        label="Name",
        widget=forms.TextInput(attrs=_MONO),
        help_text="Lower-case letters, digits and hyphens, such as orders or shop-events.",
    )
    space_plan = forms.ChoiceField(label="Size and kind", widget=forms.RadioSelect)

    def __init__(
        self, *args: Any, space_plans: Sequence[SpacePlanDefinition], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.space_plans = space_plans
        _offer(self.fields["space_plan"], [(plan.key, plan.title) for plan in space_plans])


class SpacePlanForm(ConsoleForm):
    """Another plan for a space, and the word that what restarts may restart."""

    space_plan = forms.ChoiceField(label="Plan", widget=forms.RadioSelect)
    agreed = forms.BooleanField(label="Restart them, and charge the chosen plan from now on")

    def __init__(
        self, *args: Any, space_plans: Sequence[SpacePlanDefinition], current: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.space_plans = space_plans
        _offer(self.fields["space_plan"], [(plan.key, plan.title) for plan in space_plans])
        self.fields["space_plan"].initial = current


class AddressForm(ConsoleForm):
    """A new address: its plan says the type; what is left empty follows the plan."""

    address = forms.CharField(
        max_length=255,
        label="Address",
        widget=forms.TextInput(attrs=_MONO),
        help_text="What clients send to and receive from, such as orders or orders/new.",
    )
    address_plan = forms.ChoiceField(label="Type and plan", widget=forms.RadioSelect)
    topic = forms.ChoiceField(
        label="Topic", required=False, help_text="Only for a subscription: the topic it reads."
    )
    message_ttl_seconds = forms.IntegerField(
        label="Message lifetime, seconds", required=False, min_value=1, max_value=10**9
    )
    max_delivery_attempts = forms.IntegerField(
        label="Delivery attempts", required=False, min_value=1, max_value=10**6
    )
    dead_letter = forms.ChoiceField(
        label="Dead letters go to",
        required=False,
        help_text="A queue of this space, for messages that could not be delivered.",
    )

    def __init__(
        self,
        *args: Any,
        address_plans: Sequence[AddressPlanDefinition],
        neighbours: Sequence[Address],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.address_plans = address_plans
        _offer(self.fields["address_plan"], [(plan.key, plan.title) for plan in address_plans])
        self._offer_neighbours("topic", "topic", neighbours)
        # Only brokered spaces have dead letters as yet (tenants.address_rules).
        is_brokered = any(plan.space_type == SpaceType.BROKERED for plan in address_plans)
        self._offer_neighbours("dead_letter", "queue", neighbours if is_brokered else [])

    def _offer_neighbours(self, field: str, kind: str, neighbours: Sequence[Address]) -> None:
        names = [each.address for each in neighbours if each.type == kind]
        if names:
            _offer(self.fields[field], [("", "none"), *((name, name) for name in names)])
        else:
            del self.fields[field]

    @property
    def has_settings(self) -> bool:
        """Whether a setting was given, so that the page shows them open."""
        names = ("message_ttl_seconds", "max_delivery_attempts", "dead_letter")
        return any(self.data.get(name) for name in names)


class MessagingUserForm(ConsoleForm):
    """A new messaging user and what it may do."""

    name = forms.CharField(
        max_length=63,
        label="Name",
        widget=forms.TextInput(attrs=_MONO),
        help_text="Such as checkout or billing-worker: one for each program.",
    )
    operations = forms.MultipleChoiceField(
        label="May",
        choices=[("send", "Send"), ("recv", "Receive")],
        initial=["send", "recv"],
        widget=forms.CheckboxSelectMultiple,
    )
    addresses = forms.CharField(
        label="On which addresses",
        initial="#",
        widget=forms.TextInput(attrs=_MONO),
        help_text="Separated by spaces. # is every address, orders/# all below orders.",
    )

    def permissions(self) -> list[dict[str, list[str]]]:
        """Return what was asked for in the form that the model stores."""
        return [
            {
                "addresses": self.cleaned_data["addresses"].replace(",", " ").split(),
                "operations": self.cleaned_data["operations"],
            }
        ]


class ConfirmForm(ConsoleForm):
    """The typed confirmation of something that cannot be undone."""

    confirmation = forms.CharField(widget=forms.TextInput(attrs=_MONO))

    def __init__(self, *args: Any, expected: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected = expected
        self.fields["confirmation"].label = f"Type {expected} to confirm"

    def clean_confirmation(self) -> str:
        typed = str(self.cleaned_data["confirmation"])
        if typed != self.expected:
            raise forms.ValidationError(f"Type exactly {self.expected}.")
        return typed


class DeleteSpaceForm(ConfirmForm):
    """The end of a space, and what becomes of its messages."""

    keep_volumes = forms.BooleanField(
        label="Keep the volumes with stored messages",
        required=False,
        help_text="They stay until the operator releases them.",
    )


class ConnectForm(ConsoleForm):
    """Which user and address the client examples are filled in for."""

    user = forms.ChoiceField(label="Messaging user", required=False)
    address = forms.ChoiceField(label="Address", required=False)

    def __init__(
        self, *args: Any, users: Sequence[str], addresses: Sequence[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        _offer(self.fields["user"], [(name, name) for name in users])
        _offer(self.fields["address"], [(name, name) for name in addresses])
        for field in self.fields.values():
            field.required = True  # both selects always have a choice here; no "(optional)" beside


def _offer(field: forms.Field, choices: list[tuple[str, str]]) -> None:
    """Set a field's choices; the first one is chosen when the person has not chosen."""
    field.choices = choices  # type: ignore[attr-defined]
    if choices and field.required:
        field.initial = choices[0][0]
