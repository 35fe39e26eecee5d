"""Requests of one part of the API, a module each. Naming a module imports it."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        get_credit_note,
        get_credit_note_cii,
        get_credit_note_document_json,
        get_credit_note_factur_x,
        get_credit_note_pdf,
        get_credit_note_ubl,
        list_credit_notes,
        verify_credit_note,
    )

__all__ = (
    "list_credit_notes",
    "get_credit_note",
    "get_credit_note_cii",
    "get_credit_note_factur_x",
    "get_credit_note_document_json",
    "get_credit_note_pdf",
    "get_credit_note_ubl",
    "verify_credit_note",
)

if not TYPE_CHECKING:  # so that a name that does not exist is an error of types

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(name)
        return import_module(f".{name}", __package__)
