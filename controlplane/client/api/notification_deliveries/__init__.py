"""Requests of one part of the API, a module each. Naming a module imports it."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        get_notification_delivery,
        list_notification_deliveries,
        replay_notification_delivery,
    )

__all__ = (
    "list_notification_deliveries",
    "get_notification_delivery",
    "replay_notification_delivery",
)

if not TYPE_CHECKING:  # so that a name that does not exist is an error of types

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(name)
        return import_module(f".{name}", __package__)
