"""Forms of people: log in, sign up, a further organisation."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth import password_validation
from django.contrib.auth.forms import AuthenticationForm

from controlplane.console.forms.base import ConsoleForm, ConsoleRenderer
from controlplane.console.plan_reads import Offer
from controlplane.core import throttling
from controlplane.core.errors import RateLimited


class LoginForm(AuthenticationForm):
    """Email and password of a local account; the answer never says which of them was wrong."""

    default_renderer = ConsoleRenderer
    username = forms.EmailField(
        label="Email",
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    error_messages = {
        "invalid_login": "Email or password is wrong. Try again, or sign up.",
        "inactive": "Email or password is wrong. Try again, or sign up.",
    }

    refusal_code = ""
    refusal_status = 200  # as Django answers a wrong password

    def clean_username(self) -> str:
        return str(self.cleaned_data["username"]).lower()

    def clean(self) -> dict[str, Any]:
        """Count the try before the password is looked at."""
        email = self.cleaned_data.get("username")
        try:
            if email and self.request:
                throttling.require_login(self.request, email)
        except RateLimited as error:
            self.refusal_code, self.refusal_status = error.error_code, error.status
            raise forms.ValidationError(error.message) from None
        return super().clean()


class PlanForm(ConsoleForm):
    """One of the offered plans; the page shows them as cards."""

    plan = forms.ChoiceField(label="Plan", widget=forms.RadioSelect)

    def __init__(self, *args: Any, offers: Sequence[Offer], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offers = offers
        self.fields["plan"].choices = [(each.plan.key, each.plan.title) for each in offers]  # type: ignore[attr-defined]
        if offers:
            self.fields["plan"].initial = offers[0].plan.key


class OrganisationForm(PlanForm):
    """A new organisation and its plan; billing details may wait."""

    organisation = forms.CharField(
        max_length=200,
        label="Organisation",
        help_text="Your company or team, as your colleagues will see it.",
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
    )


class SignUpForm(OrganisationForm):
    """A person and their first organisation."""

    email = forms.EmailField(
        label="Work email", widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        help_text="At least 10 characters, and not one that everybody uses.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    field_order = ["organisation", "email", "password", "plan"]

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        password_validation.validate_password(password)
        return password
