"""Forms for login, sign-up, a new organization and the choice of a plan."""

from collections.abc import Sequence
from typing import Any

from allauth.account import forms as allauth_forms
from django import forms
from django.contrib.auth import password_validation

from controlplane.console.forms.base import ConsoleForm
from controlplane.console.plan_reads import Offer


class LoginForm(allauth_forms.LoginForm):  # type: ignore[misc]  # the library has no types
    """Login with email and password; an error does not reveal which of them was wrong.

    ``refusal_status`` is 429 if a rate limit refused the attempt.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "Email"
        self.fields["login"].widget.attrs = {"autocomplete": "username webauthn", "autofocus": True}
        self.fields["password"].widget.attrs = {"autocomplete": "current-password"}
        # The library's help text is a link to the password reset; the page has its own.
        self.fields["password"].help_text = ""

    def user_credentials(self) -> dict[str, str]:
        # User names are emails in lower case.
        email = str(self.cleaned_data["login"]).strip().lower()
        return {"email": email, "username": email, "password": self.cleaned_data["password"]}

    @property
    def refusal_code(self) -> str:
        refusal = getattr(self.request, "refusal", None)
        return refusal.error_code if refusal else ""

    @property
    def refusal_status(self) -> int:
        refusal = getattr(self.request, "refusal", None)
        return refusal.status if refusal else 200  # Django's status for a wrong password


class InvitedForm(ConsoleForm):
    """Asks an invited person without an account for a password."""

    password = forms.CharField(
        label="Password",
        # A password may begin or end with a space.
        strip=False,
        help_text="At least 10 characters, and not a common password.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


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
    """Asks for the name and plan of a new organization; billing details are entered later.

    ``offer`` (hidden) is its seller with the currency of the prices in ``offers``.
    """

    offer = forms.CharField(widget=forms.HiddenInput, required=False)

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
