"""Forms for the login through an organization: which one, and its identity provider."""

from typing import Any

from django import forms

from controlplane.console.forms.base import ConsoleForm
from tenants.actions.identity_providers import Wish
from tenants.models import PROVIDER_ROLES, IdentityProvider


class OrganizationLoginForm(ConsoleForm):
    """Asks through which organization a person logs in."""

    organization = forms.CharField(
        label="Organization",
        # The length of the longest domain name.
        max_length=253,
        help_text="Its short name, or your email address at it.",
        widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "organization"}),
    )


class ProviderForm(ConsoleForm):
    """The identity provider of an organization. Without a new secret the stored one stays."""

    # No URLField, which may rewrite the text: tokens must have exactly this issuer.
    issuer = forms.CharField(
        max_length=300,
        help_text="As the provider writes it in its tokens, such as https://login.acme.example/realm.",
    )
    client_id = forms.CharField(label="Client id", max_length=200)
    client_secret = forms.CharField(
        max_length=500,
        required=False,
        # A secret may begin or end with a blank.
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Stored encrypted and never shown. Leave it empty to keep the stored one, "
        "but a new issuer needs a new one.",
    )
    domains = forms.CharField(
        label="Email domains",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line, such as acme.example. The operator confirms new ones.",
    )
    default_role = forms.ChoiceField(
        required=False,
        label="Role of everybody",
        choices=[
            ("", "None: only people of the groups below"),
            *((r, r.label) for r in PROVIDER_ROLES),
        ],
        help_text="Who is in none of the groups below gets it.",
    )
    groups_claim = forms.CharField(
        max_length=100, initial="groups", help_text="The claim that names a person's groups."
    )
    group_roles = forms.CharField(
        label="Roles of groups",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line, such as leads: admin. The role that allows most counts.",
    )

    @classmethod
    def of(cls, row: IdentityProvider | None, given: Any = None) -> "ProviderForm":
        """Return the form with the values of ``row``, or with what a person sent."""
        if row is None:
            return cls(given)
        names = [domain.name for domain in row.domains.order_by("name")]
        roles = [f"{group}: {role}" for group, role in sorted(row.group_roles.items())]
        initial = {
            "issuer": row.issuer,
            "client_id": row.client_id,
            "domains": "\n".join(names),
            "default_role": row.default_role,
            "groups_claim": row.groups_claim,
            "group_roles": "\n".join(roles),
        }
        return cls(given, initial=initial)

    def clean_group_roles(self) -> dict[str, str]:
        """Return {group: role}.

        Raises:
            ValidationError: a line has no colon.
        """
        found: dict[str, str] = {}
        for line in filter(str.strip, self.cleaned_data["group_roles"].splitlines()):
            # The last colon, because names of groups may have some.
            group, colon, role = line.rpartition(":")
            if not colon:
                raise forms.ValidationError(f"{line[:80]} names no role: write group: role.")
            found[group.strip()] = role.strip()
        return found

    def wish(self) -> Wish:
        """Return what the valid form asks for."""
        values = {**self.cleaned_data, "domains": self.cleaned_data["domains"].split()}
        return Wish(**values)
