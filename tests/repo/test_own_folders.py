"""Tests read and write nothing of an installation in the folder that they run in."""

from pathlib import Path

from django.conf import settings

from tests.support.source_tree import ROOT


def test_no_folder_of_the_settings_is_that_of_an_installation_here() -> None:
    for path in (
        settings.STATE_DIR,
        settings.LAKEHOUSE_ROOT,
        settings.SUPERVISOR_SOCKET,
        settings.CONTROL_CA_DIR,
    ):
        assert not Path(path).is_relative_to(ROOT)
