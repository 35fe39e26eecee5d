"""Requests of one part of the API, a module each. Naming a module imports it."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        browse_messages,
        change_address_labels,
        change_messaging_user,
        change_space_plan,
        close_connections,
        create_address,
        create_alarm,
        create_many_addresses,
        create_messaging_user,
        create_or_change_address,
        create_space,
        delete_address,
        delete_alarm,
        delete_many_addresses,
        delete_messages,
        delete_space,
        get_address,
        get_alarm,
        get_history_address,
        get_messaging_user,
        get_page_messages,
        get_space,
        list_addresses,
        list_alarms,
        list_connections,
        list_messaging_users,
        list_spaces,
        move_messages,
        purge_messages,
        replace_limits_alarm,
        resend_messages,
        revoke_many_messaging_users,
        revoke_messaging_user,
        send_message,
    )

__all__ = (
    "list_spaces",
    "create_space",
    "get_space",
    "delete_space",
    "change_space_plan",
    "list_addresses",
    "create_address",
    "get_address",
    "create_or_change_address",
    "delete_address",
    "change_address_labels",
    "get_history_address",
    "list_alarms",
    "create_alarm",
    "get_alarm",
    "replace_limits_alarm",
    "delete_alarm",
    "create_many_addresses",
    "delete_many_addresses",
    "revoke_many_messaging_users",
    "list_connections",
    "close_connections",
    "browse_messages",
    "delete_messages",
    "move_messages",
    "get_page_messages",
    "purge_messages",
    "resend_messages",
    "send_message",
    "list_messaging_users",
    "create_messaging_user",
    "get_messaging_user",
    "change_messaging_user",
    "revoke_messaging_user",
)

if not TYPE_CHECKING:  # so that a name that does not exist is an error of types

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(name)
        return import_module(f".{name}", __package__)
