"""Forms of maintenance windows, and a window in words."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms

from controlplane.console.forms.base import ConsoleForm
from tenants.rollouts import Window

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Minutes, words.
_LENGTHS = [(60, "1 hour"), (120, "2 hours"), (240, "4 hours"), (480, "8 hours"), (1440, "a day")]
_ANY_DAY = date(2000, 1, 3)  # a Monday; only the time of day counts


def described(window: Window) -> str:
    """Return a window in words: ``Sunday from 02:00 to 06:00``."""
    begin = datetime.combine(_ANY_DAY, window.starts_at, UTC)
    end = begin + timedelta(minutes=window.minutes)
    days = (end.date() - begin.date()).days
    last = f"{_DAYS[(window.weekday + days) % 7]} " if days else ""
    return f"{_DAYS[window.weekday]} from {begin:%H:%M} to {last}{end:%H:%M}"


class WindowForm(ConsoleForm):
    """Asks for the day, the time (UTC) and the length of a weekly maintenance window."""

    weekday = forms.TypedChoiceField(
        label="Day", coerce=int, choices=list(enumerate(_DAYS)), initial=6
    )
    starts_at = forms.TimeField(
        label="Begins at, UTC",
        initial="02:00",
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    minutes = forms.TypedChoiceField(label="Lasts", coerce=int, choices=_LENGTHS, initial=240)

    def window(self) -> Window:
        """Return the window that the valid form describes."""
        return Window(**self.cleaned_data)

    def initial_window(self) -> Window:
        """Return the window that an empty form suggests."""
        values = {name: field.initial for name, field in self.fields.items()}
        return Window(**{**values, "starts_at": time.fromisoformat(values["starts_at"])})


class RemoveWindowForm(ConsoleForm):
    """Names the window to remove by its text; no two of ``windows`` have the same text."""

    remove = forms.CharField()

    def __init__(self, *args: Any, windows: Sequence[Window], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.windows = {str(window): window for window in windows}

    def clean_remove(self) -> Window:
        found = self.windows.get(self.cleaned_data["remove"])
        if found is None:
            raise forms.ValidationError("There is no such window; it may be removed already.")
        return found
