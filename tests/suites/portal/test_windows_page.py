"""Maintenance windows are read by every member and changed by those who manage messaging."""

import re

import pytest

from tests.suites.portal.conftest import As
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
URL = "/t/acme-shipping/maintenance/"
SUNDAY = {"weekday": "6", "starts_at": "22:00", "minutes": "240"}


def buttons(page: str) -> list[str]:
    """Return what the buttons that remove a window send, in the order of the list."""
    return re.findall(r'name="remove" value="([^"]+)"', page)


def test_a_window_is_added_shown_and_removed(world: World, as_: As) -> None:
    client = as_(world.member)

    empty = client.get(URL).content.decode()
    client.post(URL, SUNDAY)
    shown = client.get(URL).content.decode()
    client.post(URL, {"remove": buttons(shown)[0]})

    assert "No window: restarts at any time" in empty
    assert "Sunday from 22:00 to Monday 02:00" in shown
    assert not world.tenant.maintenance_windows.exists()


def test_the_window_of_the_button_is_removed_although_others_came_and_went(
    world: World, as_: As
) -> None:
    client = as_(world.member)
    monday, sunday = {**SUNDAY, "weekday": "0"}, SUNDAY
    client.post(URL, sunday)
    shown = buttons(client.get(URL).content.decode())
    client.post(URL, monday)

    removed = client.post(URL, {"remove": shown[0]})
    again = client.post(URL, {"remove": shown[0]})

    assert (removed.status_code, again.status_code) == (302, 400)
    assert [row.weekday for row in world.tenant.maintenance_windows.all()] == [0]


def test_two_windows_that_begin_together_are_refused_once(world: World, as_: As) -> None:
    client = as_(world.member)
    client.post(URL, SUNDAY)

    answer = client.post(URL, SUNDAY)

    assert answer.status_code == 422
    assert world.tenant.maintenance_windows.count() == 1


def test_a_window_that_is_gone_cannot_be_removed(world: World, as_: As) -> None:
    for gone in ("6 02:00 240 min", "0"):
        answer = as_(world.member).post(URL, {"remove": gone})

        assert answer.status_code == 400
        assert "There is no such window" in answer.content.decode()


def test_others_read_only(world: World, as_: As) -> None:
    page = as_(world.billing).get(URL).content.decode()

    assert "Add the window" not in page
    assert as_(world.billing).post(URL, SUNDAY).status_code == 403
    assert as_(world.outsider).get(URL).status_code == 404
