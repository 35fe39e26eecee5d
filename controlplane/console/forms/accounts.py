"""Forms for login, sign-up, a new organization and the choice of a plan."""

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
    """Login with email and password; an error does not reveal which of them was wrong."""

    default_renderer = ConsoleRenderer
    username = forms.EmailField(
        label="Email",
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    # The same text for both errors, so that nobody can find out whether an account exists.
    error_messages = {
        "invalid_login": "Email or password is wrong. Try again, or sign up.",
        "inactive": "Email or password is wrong. Try again, or sign up.",
    }

    refusal_code = ""
    refusal_status = 200  # Django's status for a wrong password

    def clean_username(self) -> str:
        return str(self.cleaned_data["username"]).lower()

    def clean(self) -> dict[str, Any]:
        """Count the attempt against the rate limits, then check email and password.

        Over a limit, the password is not checked; the form gets an error and the status 429. An
        attempt without a valid email is not counted.
        """
        email = self.cleaned_data.get("username")
        try:
            if email and self.request:
                throttling.require_login(self.request, email)
        except RateLimited as error:
            self.refusal_code, self.refusal_status = error.error_code, error.status
            raise forms.ValidationError(error.message) from None
        return super().clean()


class PlanForm(ConsoleForm):
    """Asks for one plan out of ``offers``, which pages show as cards; the first is selected."""

    plan = forms.ChoiceField(label="Plan", widget=forms.RadioSelect)

    def __init__(self, *args: Any, offers: Sequence[Offer], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offers = offers
        self.fields["plan"].choices = [(offer.plan.key, offer.plan.title) for offer in offers]  # type: ignore[attr-defined]
        if offers:
            self.fields["plan"].initial = offers[0].plan.key


class OrganizationForm(PlanForm):
    """Asks for the name and plan of a new organization; billing details are entered later."""

    organization = forms.CharField(
        max_length=200,
        label="Organization",
        help_text="Your company or team, as your colleagues will see it.",
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
    )


class SignUpForm(OrganizationForm):
    """Asks for a new user's email and password, and their first organization's name and plan."""

    email = forms.EmailField(
        label="Work email", widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label="Password",
        # A password may begin or end with a space.
        strip=False,
        help_text="At least 10 characters, and not a common password.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    # By default the fields of the base classes come first, so the plan would stand at the top.
    field_order = ["organization", "email", "password", "plan"]

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        password_validation.validate_password(password)
        return password
