"""The base class of the portal's forms: rendering, and errors of actions as errors of the form."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.renderers import DjangoTemplates

from controlplane.core.errors import WaypostError

Result = TypeVar("Result")


class ConsoleRenderer(DjangoTemplates):
    """Renders forms and fields with the portal's own templates."""

    form_template_name = "console/parts/form.html"
    field_template_name = "console/parts/field.html"
    _own: ClassVar[dict[str, str]] = {
        "django/forms/widgets/select.html": "console/parts/select.html"
    }

    def get_template(self, template_name: str) -> Any:
        """Return the portal's template in place of the one of Django with this name, if any."""
        return super().get_template(self._own.get(template_name, template_name))


class ConsoleForm(forms.Form):
    """A form whose view runs an action; the action's error becomes an error of the form.

    ``refusal_code`` is the code of the action's error, which the page keeps out of sight; ''
    if no action was refused. ``refusal_status`` is the HTTP status of the page if the form has
    errors: that of the action's error, or 400 for errors that the form found itself.
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
        """Add the reasons of ``error`` to the fields that it names, or its message to the form.

        The message repeats the reasons, so it is added only if the form lacks a field that has
        reasons, or if no field has any. Also sets ``refusal_code`` and ``refusal_status``.
        """
        self.refusal_code, self.refusal_status = error.error_code, error.status
        reasons = {
            self.field_named(name): [str(reason) for reason in found]
            for name, found in error.fields.items()
            if isinstance(found, (list, tuple))
        }
        # add_error raises ValueError for fields that the form does not have.
        shown = {name: found for name, found in reasons.items() if name in self.fields}
        if len(shown) < len(reasons) or not shown:
            self.add_error(NON_FIELD_ERRORS, error.message)
        for name, found in shown.items():
            self.add_error(name, found)

    def field_named(self, name: str) -> str:
        """Return the name of the form field that an error calls ``name``: here ``name`` itself.

        Forms override this method if their field names differ from those of the API.
        """
        return name


def form_status(*forms_shown: forms.BaseForm | None) -> int:
    """Return the HTTP status of a page with these forms; a None form is ignored.

    The status is the ``refusal_status`` of the first submitted form with errors (400 for a form
    without that attribute), or 200 if no submitted form has errors.
    """
    for form in forms_shown:
        if form is not None and form.is_bound and form.errors:
            return int(getattr(form, "refusal_status", 400))
    return 200
