"""What every form of the portal shares: its looks, and how a refusal of an action becomes words."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.renderers import DjangoTemplates

from controlplane.core.errors import WaypostError

Result = TypeVar("Result")


class ConsoleRenderer(DjangoTemplates):
    """Renders fields and whole forms with the portal's own templates."""

    form_template_name = "console/parts/form.html"
    field_template_name = "console/parts/field.html"


class ConsoleForm(forms.Form):
    """A form that can run an action and show why it was refused.

    ``refusal_code`` is the stable code of the error tree; the page prints it beside the message.
    ``refusal_status`` is the HTTP status the page is answered with.
    """

    default_renderer = ConsoleRenderer
    use_required_attribute = True
    refusal_code = ""
    refusal_status = 400

    def attempt(self, action: Callable[..., Result], **arguments: Any) -> Result | None:
        """Run ``action`` and return its result, or None after putting its refusal on this form.

        Refused fields that the form has carry their own reasons; the rest is said at its top.
        """
        try:
            return action(**arguments)
        except WaypostError as error:
            self.refuse(error)
            return None

    def attempted(self, action: Callable[..., object], **arguments: Any) -> bool:
        """Run ``action``; whether it was done. A refusal is on this form."""
        return self.attempt(action, **arguments) is not None

    def refuse(self, error: WaypostError) -> None:
        """Show ``error`` on this form."""
        self.refusal_code, self.refusal_status = error.error_code, error.status
        self.add_error(NON_FIELD_ERRORS, error.message)
        for name, reasons in error.fields.items():
            if name in self.fields and isinstance(reasons, (list, tuple)):
                self.add_error(name, [str(reason) for reason in reasons])


def form_status(*forms_shown: forms.BaseForm | None) -> int:
    """Return the HTTP status of a page that shows these forms: 200, or the refusal's."""
    for form in forms_shown:
        if form is not None and form.is_bound and form.errors:
            return int(getattr(form, "refusal_status", 400))
    return 200
