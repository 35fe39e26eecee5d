"""Requests of one part of the API, a module each. Naming a module imports it."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        change_member_role,
        get_member,
        leave_tenant,
        list_members,
        remove_member,
        transfer_ownership,
    )

__all__ = (
    "leave_tenant",
    "list_members",
    "get_member",
    "change_member_role",
    "remove_member",
    "transfer_ownership",
)

if not TYPE_CHECKING:  # so that a name that does not exist is an error of types

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(name)
        return import_module(f".{name}", __package__)
