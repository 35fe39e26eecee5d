"""The form of the labels of a space or an address."""

from django import forms

from controlplane.console.forms.base import ConsoleForm
from controlplane.core.errors import Invalid
from tenants import label_rules


class LabelsForm(ConsoleForm):
    """Asks for all labels of a space or an address, as text."""

    labels = forms.CharField(
        label="Labels",
        required=False,
        max_length=3000,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
        help_text="Separated by spaces, such as team=checkout env=prod. Lists filter by them, and "
        "the usage page divides the cost by them.",
    )

    def clean_labels(self) -> dict[str, str]:
        try:
            return label_rules.parse(self.cleaned_data["labels"])
        except Invalid as error:
            raise forms.ValidationError(error.message) from None
