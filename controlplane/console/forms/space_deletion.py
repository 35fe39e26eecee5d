"""The form of a space's deletion."""

from typing import Any

from django import forms

from controlplane.console.forms.spaces import ConfirmForm


class DeleteSpaceForm(ConfirmForm):
    """The confirmation of deleting a space, and whether to keep its volumes, if it has some."""

    keep_volumes = forms.BooleanField(
        label="Keep the volumes with stored messages",
        required=False,
        help_text="They stay until the operator releases them.",
    )

    def __init__(self, *args: Any, has_volumes: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_volumes:
            del self.fields["keep_volumes"]

    @property
    def keeps_volumes(self) -> bool:
        """Whether the form now says to keep the volumes."""
        # Not ``cleaned_data``: the command on the page also follows a form that is not valid.
        return "keep_volumes" in self.fields and bool(self["keep_volumes"].value())
