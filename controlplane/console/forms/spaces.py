"""Forms for spaces, addresses, messaging users, confirmations and client examples."""

from collections.abc import Sequence
from typing import Any

from django import forms

from controlplane.console.forms.base import ConsoleForm
from plans.catalog.definitions import AddressPlanDefinition, SpacePlanDefinition
from tenants.models import Address, SpaceType

# HTML attributes of inputs for names that programs use: browsers must not alter them.
_MONO = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class SpaceForm(ConsoleForm):
    """A new space: its name, and a plan that determines its type and size."""

    name = forms.CharField(
        max_length=63,
        label="Name",
        widget=forms.TextInput(attrs=_MONO),
        help_text="Lowercase letters, digits and hyphens, such as orders or shop-events.",
    )
    space_plan = forms.ChoiceField(label="Size and kind", widget=forms.RadioSelect)

    def __init__(
        self, *args: Any, space_plans: Sequence[SpacePlanDefinition], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.space_plans = space_plans
        _offer(self.fields["space_plan"], [(plan.key, plan.title) for plan in space_plans])


class SpacePlanForm(ConsoleForm):
    """A new plan for a space, and the consent to restarts and to the new price."""

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
    """A new address. The plan determines its type; settings left empty take the plan's defaults."""

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
        existing: Sequence[Address],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.address_plans = address_plans
        _offer(self.fields["address_plan"], [(plan.key, plan.title) for plan in address_plans])
        self._offer_existing("topic", "topic", existing)
        # Only brokered spaces support dead letters so far (tenants.address_rules).
        is_brokered = any(plan.space_type == SpaceType.BROKERED for plan in address_plans)
        self._offer_existing("dead_letter", "queue", existing if is_brokered else [])

    def _offer_existing(self, field: str, kind: str, existing: Sequence[Address]) -> None:
        """Offer the existing addresses of type ``kind``; remove the field when there are none."""
        names = [address.address for address in existing if address.type == kind]
        if names:
            _offer(self.fields[field], [("", "none"), *((name, name) for name in names)])
        else:
            del self.fields[field]

    @property
    def has_settings(self) -> bool:
        """Whether a setting was entered; the page then shows the settings unfolded."""
        names = ("message_ttl_seconds", "max_delivery_attempts", "dead_letter")
        return any(self.data.get(name) for name in names)


class MessagingUserForm(ConsoleForm):
    """A new messaging user and its permissions."""

    name = forms.CharField(
        max_length=63,
        label="Name",
        widget=forms.TextInput(attrs=_MONO),
        help_text="One for each program, such as checkout or billing-worker.",
    )
    operations = forms.MultipleChoiceField(
        label="Allowed operations",
        choices=[("send", "Send"), ("recv", "Receive")],
        initial=["send", "recv"],
        widget=forms.CheckboxSelectMultiple,
    )
    addresses = forms.CharField(
        label="Addresses",
        initial="#",
        widget=forms.TextInput(attrs=_MONO),
        help_text="Separated by spaces. # is every address, orders/# all below orders.",
    )

    def permissions(self) -> list[dict[str, list[str]]]:
        """Return the requested permissions in the format that the model stores."""
        return [
            {
                "addresses": self.cleaned_data["addresses"].replace(",", " ").split(),
                "operations": self.cleaned_data["operations"],
            }
        ]


class ConfirmForm(ConsoleForm):
    """A typed confirmation of an action that cannot be undone."""

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
    """The confirmation of deleting a space, and whether to keep its volumes."""

    keep_volumes = forms.BooleanField(
        label="Keep the volumes with stored messages",
        required=False,
        help_text="They stay until the operator releases them.",
    )


class ConnectForm(ConsoleForm):
    """The user and address that the client examples are filled in with."""

    user = forms.ChoiceField(label="Messaging user", required=False)
    address = forms.ChoiceField(label="Address", required=False)

    def __init__(
        self, *args: Any, users: Sequence[str], addresses: Sequence[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        _offer(self.fields["user"], [(name, name) for name in users])
        _offer(self.fields["address"], [(name, name) for name in addresses])
        # Both selects always have a value, so the labels must not say "(optional)".
        for field in self.fields.values():
            field.required = True


def _offer(field: forms.Field, choices: list[tuple[str, str]]) -> None:
    """Set a field's choices; a required field starts with the first one selected."""
    field.choices = choices  # type: ignore[attr-defined]
    if choices and field.required:
        field.initial = choices[0][0]
