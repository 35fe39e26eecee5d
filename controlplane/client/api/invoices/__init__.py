"""Requests of one part of the API, a module each. Naming a module imports it."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        drill_down_invoice_line,
        explain_invoice_change,
        get_invoice,
        get_invoice_cii,
        get_invoice_document_json,
        get_invoice_factur_x,
        get_invoice_lines_csv,
        get_invoice_pdf,
        get_invoice_ubl,
        get_reading_samples,
        list_invoices,
        list_read_counters,
        list_read_samples,
        pay_invoice,
        preview_running_period,
        read_samples_invoice,
        verify_invoice,
    )

__all__ = (
    "list_invoices",
    "get_invoice",
    "get_invoice_cii",
    "get_invoice_lines_csv",
    "get_invoice_factur_x",
    "get_invoice_document_json",
    "get_invoice_pdf",
    "get_invoice_ubl",
    "explain_invoice_change",
    "pay_invoice",
    "drill_down_invoice_line",
    "read_samples_invoice",
    "get_reading_samples",
    "list_read_counters",
    "list_read_samples",
    "verify_invoice",
    "preview_running_period",
)

if not TYPE_CHECKING:  # so that a name that does not exist is an error of types

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(name)
        return import_module(f".{name}", __package__)
