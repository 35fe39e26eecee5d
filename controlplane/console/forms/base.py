"""The base class of the portal's forms: rendering, and errors of actions as errors of the form."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.renderers import DjangoTemplates

from controlplane.core.errors import WaypostError

Result = TypeVar("Result")


class ConsoleRenderer(DjangoTemplates):
    """Renders forms and fields with the portal's own templates."""

    form_template_name = "console/parts/form.html"
    field_template_name = "console/parts/field.html"


class ConsoleForm(forms.Form):
    """A form whose view runs an action; the action's error becomes an error of the form.

    ``refusal_code`` is the code of that error, which the page prints after the message.
    ``refusal_status`` is the HTTP status of the page with the error.
    """

    default_renderer = ConsoleRenderer
    use_required_attribute = True
    refusal_code = ""
    refusal_status = 400

    def attempt(self, action: Callable[..., Result], **arguments: Any) -> Result | None:
        """Run ``action`` and return its result.

        If it raises a ``WaypostError``, add the error to this form and return None.
        """
        try:
            return action(**arguments)
        except WaypostError as error:
            self.refuse(error)
            return None

    def attempted(self, action: Callable[..., object], **arguments: Any) -> bool:
        """Run ``action`` as ``attempt`` does; return whether it returned anything but None."""
        return self.attempt(action, **arguments) is not None

    def refuse(self, error: WaypostError) -> None:
        """Add the message of ``error`` to the form, and its reasons to the fields that it names.

        Also sets ``refusal_code`` and ``refusal_status``. A field that the form lacks is skipped.
        """
        self.refusal_code, self.refusal_status = error.error_code, error.status
        self.add_error(NON_FIELD_ERRORS, error.message)
        for name, reasons in error.fields.items():
            field = self.field_named(name)
            # add_error raises ValueError for fields that the form does not have.
            if field in self.fields and isinstance(reasons, (list, tuple)):
                self.add_error(field, [str(reason) for reason in reasons])

    def field_named(self, name: str) -> str:
        """Return the form's name of a field; ``name`` is how an error names it.

        Forms override it if their field names differ from those of the API.
        """
        return name


def form_status(*forms_shown: forms.BaseForm | None) -> int:
    """Return the HTTP status of a page with these forms.

    It is that of the first submitted form with errors, else 200.
    """
    for form in forms_shown:
        if form is not None and form.is_bound and form.errors:
            return int(getattr(form, "refusal_status", 400))
    return 200
