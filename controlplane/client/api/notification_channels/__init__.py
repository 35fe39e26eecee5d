"""Requests of one part of the API, a module each. Naming a module imports it."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        change_notification_channel,
        create_notification_channel,
        delete_notification_channel,
        get_notification_channel,
        list_notification_channels,
        rotate_secret_notification_channel,
        test_notification_channel,
    )

__all__ = (
    "list_notification_channels",
    "create_notification_channel",
    "get_notification_channel",
    "delete_notification_channel",
    "change_notification_channel",
    "rotate_secret_notification_channel",
    "test_notification_channel",
)

if not TYPE_CHECKING:  # so that a name that does not exist is an error of types

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(name)
        return import_module(f".{name}", __package__)
