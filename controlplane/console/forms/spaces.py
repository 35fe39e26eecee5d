"""Forms for spaces, addresses, messaging users, confirmations and client examples."""

from collections.abc import Collection, Sequence
from typing import Any

from django import forms

from controlplane.console.forms.base import ConsoleForm
from controlplane.console.forms.setting_fields import (
    base_value,
    fill_default,
    form_name,
    given,
    setting_field,
)
from controlplane.core.address_types import (
    ADVISED_SPACE_TYPE,
    SETTING,
    SETTINGS,
    AddressSettings,
)
from plans.catalog.definitions import AddressPlanDefinition, SpacePlanDefinition
from tenants.models import Address

# HTML attributes of inputs for names that programs use: browsers must not alter them.
_MONO = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


class SpaceForm(ConsoleForm):
    """Asks for a new space's name, its space plan, and whether it keeps dead letters.

    The space plan determines type and size. ``space_plans`` are the choices. The first one of the
    type that the docs advise is selected; without such a plan, the first one.
    ``keeps`` has the types of spaces for which the tenant's plan includes an address plan for dead
    letters. If it is empty, the form lacks the field ``dead_letters``.
    """

    name = forms.CharField(
        max_length=63,
        label="Name",
        widget=forms.TextInput(attrs=_MONO),
        help_text="Lowercase letters, digits and hyphens, such as orders or shop-events.",
    )
    space_plan = forms.ChoiceField(label="Size and kind", widget=forms.RadioSelect)
    dead_letters = forms.BooleanField(
        label="Keep rejected and expired messages",
        required=False,
        initial=True,
        help_text="Creates the address dead-letters. New queues and topics send there what "
        "receivers reject and what expires; without it such messages are deleted.",
    )

    def __init__(
        self,
        *args: Any,
        space_plans: Sequence[SpacePlanDefinition],
        keeps: Collection[str],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        if not keeps:
            del self.fields["dead_letters"]
        self.space_plans = space_plans
        _offer(self.fields["space_plan"], [(plan.key, plan.title) for plan in space_plans])
        advised = [plan.key for plan in space_plans if plan.space_type == ADVISED_SPACE_TYPE]
        if advised:
            self.fields["space_plan"].initial = advised[0]

    @property
    def has_types(self) -> bool:
        """Whether there is a choice between types of spaces."""
        return len({plan.space_type for plan in self.space_plans}) > 1

    def field_named(self, name: str) -> str:
        """Return the name of the form field that an error calls ``name``, as the API does."""
        return "space_plan" if name == "plan" else name


class SpacePlanForm(ConsoleForm):
    """Asks for a space's new plan, and for agreement to its price and to restarts.

    ``space_plans`` are the choices. ``current`` is the key of the space's present plan, which is
    selected.
    """

    space_plan = forms.ChoiceField(label="Plan", widget=forms.RadioSelect)
    agreed = forms.BooleanField(
        label="Restart what it says, and charge the chosen plan from now on"
    )

    def __init__(
        self, *args: Any, space_plans: Sequence[SpacePlanDefinition], current: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.space_plans = space_plans
        _offer(self.fields["space_plan"], [(plan.key, plan.title) for plan in space_plans])
        self.fields["space_plan"].initial = current

    def field_named(self, name: str) -> str:
        """Return the name of the form field that an error calls ``name``, as the API does."""
        return "space_plan" if name == "plan" else name


class AddressForm(ConsoleForm):
    """Asks for a new address: its name, its plan, which determines its type, and its settings.

    A setting that is left empty takes the plan's value, which its field shows. ``address_plans``
    are the plans to choose from, all of one space type. ``existing`` are the space's addresses,
    which settings may name.
    """

    address = forms.CharField(
        max_length=255,
        label="Address",
        widget=forms.TextInput(attrs=_MONO),
        help_text="What clients send to and receive from, such as orders or orders/new.",
    )
    address_plan = forms.ChoiceField(label="Type and plan", widget=forms.RadioSelect)

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
        # A setting has a field if it is offered for the type of any plan that can be chosen.
        self.shown = {
            form_name(setting): setting
            for setting in SETTINGS
            if any(setting.is_offered(plan.space_type, plan.address_type) for plan in address_plans)
        }
        for name, setting in list(self.shown.items()):
            field = setting_field(setting, existing, address_plans[0].space_type)
            # There is no address to refer to: the only choice would be "none".
            if field is None:
                del self.shown[name]
            else:
                fill_default(field, setting, address_plans)
                self.fields[name] = field

    @property
    def fixed_fields(self) -> list[forms.BoundField]:
        """The fields of settings that an address of some type must have: a subscription's topic.

        The page always shows these fields, below the plans; ``setting_fields`` can be folded away.
        """
        return [self[name] for name, setting in self.shown.items() if setting.is_relation]

    @property
    def setting_fields(self) -> list[forms.BoundField]:
        """The fields of all settings that are not in ``fixed_fields``."""
        return [self[name] for name, setting in self.shown.items() if not setting.is_relation]

    @property
    def has_settings(self) -> bool:
        """Whether a value was submitted in ``setting_fields``; the page then unfolds them."""
        return any(field.data for field in self.setting_fields)

    def given(self) -> dict[str, Any]:
        """Return the settings that a submitted form has, as the API names them, in base units."""
        valid = getattr(self, "cleaned_data", {})
        values = {
            setting.name: base_value(setting, valid[name])
            for name, setting in self.shown.items()
            if name in valid
        }
        return given(values)

    def settings(self) -> AddressSettings:
        """Return the settings of the valid form, in base units; empty fields stay unset."""
        values = {
            setting.name: base_value(setting, self.cleaned_data[name])
            for name, setting in self.shown.items()
        }
        return AddressSettings(**values)

    def field_named(self, name: str) -> str:
        """Return the name of the form field that an error calls ``name``.

        An error names a setting as the API does, such as ``message_ttl_ms``; the name of the form
        field has the form's unit instead (``message_ttl_seconds``).
        """
        if name == "plan":
            return "address_plan"
        return form_name(SETTING[name]) if name in SETTING else name


class MessagingUserForm(ConsoleForm):
    """Asks for the name and permissions of a new messaging user."""

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
        """Return the requested permissions in the format of ``MessagingUser.permissions``.

        The only entry allows every chosen operation on every entered address pattern.
        """
        return self._entry(self.cleaned_data["addresses"], self.cleaned_data["operations"])

    def permissions_now(self) -> list[dict[str, list[str]]]:
        """Return the permissions that the form shows now, which may not be valid."""
        return self._entry(self["addresses"].value() or "", self["operations"].value() or [])

    def _entry(self, patterns: str, operations: Sequence[str]) -> list[dict[str, list[str]]]:
        addresses = patterns.replace(",", " ").split()
        return [{"addresses": addresses, "operations": list(operations)}]


class FirstMessageForm(ConsoleForm):
    """Asks to which of ``addresses`` a test message goes; the first is selected."""

    address = forms.ChoiceField(label="Address")

    def __init__(self, *args: Any, addresses: Sequence[Address], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _offer(self.fields["address"], [(row.pk, row.address) for row in addresses])


class NewPasswordForm(ConsoleForm):
    """Confirms that a messaging user gets a new password, which Waypost generates."""

    renew = forms.CharField(widget=forms.HiddenInput, initial="yes")


class ConfirmForm(ConsoleForm):
    """The confirmation of an action that cannot be undone: the user must type ``expected``."""

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


class _Texts(forms.MultipleChoiceField):
    """Any number of texts, of which none is refused."""

    def valid_value(self, value: str) -> bool:
        return True


class BulkForm(ConfirmForm):
    """The confirmation of an action on several rows, whose ids are ``chosen``: at most ``MOST``.

    Hidden fields carry the ids to the confirmation. The form accepts any id: the view skips those
    that name no row of the space, because a row that is gone must not stop the others.
    """

    MOST = 500
    id = _Texts(required=False, widget=forms.MultipleHiddenInput)

    def __init__(self, *args: Any, chosen: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, initial={"id": list(chosen)}, **kwargs)


class CloseConnectionsForm(ConsoleForm):
    """Carries the connections to close through the confirmation page, in hidden fields.

    ``chosen`` are ids of connections. If ``user``, the name of a messaging user, is not empty, all
    connections of this user are meant instead.
    """

    ids = forms.MultipleChoiceField(required=False, widget=forms.MultipleHiddenInput)
    user = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, chosen: Sequence[str], user: str, **kwargs: Any) -> None:
        kwargs["initial"] = {"ids": chosen, "user": user}
        super().__init__(*args, **kwargs)
        self.fields["ids"].choices = [(name, name) for name in chosen]  # type: ignore[attr-defined]


class ConnectForm(ConsoleForm):
    """Asks which messaging user and which address the example programs use."""

    user = forms.ChoiceField(label="Messaging user", required=False)
    address = forms.ChoiceField(label="Address", required=False)

    def __init__(
        self, *args: Any, users: Sequence[str], addresses: Sequence[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        _offer(self.fields["user"], [(name, name) for name in users])
        _offer(self.fields["address"], [(name, name) for name in addresses])
        # Both selects always have a value. Required, so that their labels do not say "(optional)".
        for field in self.fields.values():
            field.required = True


def _offer(field: forms.Field, choices: list[tuple[str, str]]) -> None:
    """Set a field's choices; if the field is required, the first choice is selected."""
    field.choices = choices  # type: ignore[attr-defined]
    if choices and field.required:
        field.initial = choices[0][0]
