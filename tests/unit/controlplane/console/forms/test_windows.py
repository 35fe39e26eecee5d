"""A maintenance window reads as words."""

from datetime import time

from controlplane.console.forms.windows import described
from tenants.rollouts import Window


def test_window_names_the_day_on_which_it_ends() -> None:
    assert described(Window(6, time(2), 240)) == "Sunday from 02:00 to 06:00"
    assert described(Window(6, time(22), 240)) == "Sunday from 22:00 to Monday 02:00"
