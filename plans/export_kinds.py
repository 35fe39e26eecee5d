"""Lists the tables that can be exported over a window of time, and the formats of their files.

A new export is a value of ``ExportKind``, a row of ``INFO`` and a row in
``plans.exports.registry``. API, portal and command iterate the kinds. This module needs neither the
database nor Django.
"""

from dataclasses import dataclass
from enum import StrEnum


class FileFormat(StrEnum):
    """A format of exported tables; its value is also the suffix of their names."""

    CSV = "csv"
    PARQUET = "parquet"


MEDIA_TYPES = {FileFormat.CSV: "text/csv", FileFormat.PARQUET: "application/vnd.apache.parquet"}


class ExportKind(StrEnum):
    """A table to export; its value is part of paths and of names of files."""

    FOCUS = "focus"
    USAGE = "usage"


@dataclass(frozen=True)
class ExportInfo:
    """Describes one export to people and to the API.

    ``words`` ends the sentence "Return …". ``shows_money``: only members who may see invoices get
    the export. ``for_operator``: staff can also export the rows of all tenants at once;
    ``words_of_all`` is a sentence about the bounds of the window then.
    """

    title: str
    words: str
    shows_money: bool
    for_operator: bool
    words_of_all: str = ""


INFO = {
    ExportKind.FOCUS: ExportInfo(
        "Charges by FOCUS",
        "the charges of invoices whose period begins in the window, and of credit notes that were "
        "issued in it, by FOCUS 1.0",
        shows_money=True,
        for_operator=True,
        words_of_all="The bounds are read on the clock of each invoice's billing time zone: "
        "2026-11-01T00:00:00Z is the beginning of November in each. For credit notes they are in "
        "UTC.",
    ),
    ExportKind.USAGE: ExportInfo(
        "Usage",
        "the usage of each bucket of the window, in base units, by space, address and meter",
        shows_money=False,
        for_operator=False,
    ),
}
if missing := set(ExportKind) - INFO.keys():
    raise RuntimeError(f"exports without a row: {sorted(missing)}")
