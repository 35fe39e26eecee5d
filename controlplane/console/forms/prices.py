"""Forms of the operator's pages about prices."""

from typing import Any

from django import forms

from controlplane.console.forms.base import ConsoleForm
from controlplane.core.errors import WaypostError
from plans.invoicing.back_testing import MOST_MONTHS
from plans.models import BackTest
from tenants.actions.catalog_drafts import Timing

_MOST = 500_000  # characters of the text, bytes of the file


class CatalogForm(ConsoleForm):
    """Asks for a catalog as YAML, as text or as a file; mistakes are shown with their lines."""

    yaml = forms.CharField(
        label="Catalog, as YAML",
        max_length=_MOST,
        strip=False,  # leading lines count in messages
        required=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "mono"}),
    )
    file = forms.FileField(
        label="Or a file", required=False, help_text="It takes the place of the text above."
    )
    note = forms.CharField(label="Note for other staff", max_length=500, required=False)

    def clean(self) -> dict[str, Any]:
        """Return the values; ``yaml`` is the content of the file if there is one."""
        values = super().clean() or {}
        uploaded = values.pop("file", None)
        if uploaded is not None and uploaded.size > _MOST:
            raise forms.ValidationError(
                f"The file has more than {_MOST:,} bytes: choose a smaller one."
            )
        if uploaded is not None:
            try:
                values["yaml"] = uploaded.read().decode()
            except UnicodeDecodeError:
                raise forms.ValidationError("The file is not UTF-8 text.") from None
        if not values.get("yaml"):
            raise forms.ValidationError("Enter a catalog, or choose a file.")
        return values

    def refuse(self, error: WaypostError) -> None:
        """Show all mistakes of a catalog at its text, each with its line and its field."""
        self.refusal_code, self.refusal_status = error.error_code, error.status
        mistakes = [f"{reason} ({path})" for path, reasons in error.fields.items()
                    if isinstance(reasons, list) for reason in reasons]  # fmt: skip
        self.add_error("yaml", mistakes or [error.message])


class PublishForm(ConsoleForm):
    """Asks when a draft takes effect, and when subscriptions that follow their plan move."""

    effective_at = forms.DateTimeField(
        label="In force from (UTC)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        # A browser sends no time zone. Django takes the time zone of the settings, which is UTC.
        input_formats=["%Y-%m-%dT%H:%M"],
        help_text=(
            "Leave it empty to publish now. Subscriptions that follow move with the first billing "
            "month that begins at or after this instant and after the notice. Months begin at "
            "midnight in the tenant's time zone, up to 14 hours before midnight UTC. To move all "
            "with one month, enter 00:00 of the day before it begins."
        ),
    )
    moves = forms.ChoiceField(
        label="Subscriptions that follow their plan move",
        choices=[
            ("period", "at the beginning of a billing month, after the notice"),
            ("instant", "as soon as the notice permits"),
        ],
    )

    sure = forms.BooleanField(
        label="I have read what changes, and who gets notice. What is published stays published."
    )

    def timing(self) -> Timing:
        """Return the validated values."""
        values = self.cleaned_data
        return Timing(values["effective_at"], values["moves"] == "period")


class CancelForm(ConsoleForm):
    """Asks whether a draft is really to be canceled."""

    sure = forms.BooleanField(label="Cancel it. It cannot be published any more.")


class BackTestForm(ConsoleForm):
    """Asks how many months a back-test rates, and from which usage."""

    months = forms.IntegerField(label="Months", min_value=1, max_value=MOST_MONTHS, initial=1)
    source = forms.ChoiceField(
        label="Usage",
        choices=[
            (BackTest.Source.COPY.value, "from the database, quick for few months"),
            (BackTest.Source.LAKEHOUSE.value, "from the lakehouse, summed by Spark"),
        ],
    )
