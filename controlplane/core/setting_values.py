"""The kinds of values that a setting of an address can have: numbers, references and texts.

``controlplane.core.address_types`` has the settings, each with one of these kinds. API, command,
portal and catalog read from it how a value is entered and what is valid.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


class Width(IntEnum):
    """The largest number that the API reads for a setting; it also decides the type of the column.

    ``INT_32`` means an integer column, ``INT_53`` a bigint column. The API refuses a larger number,
    or a negative one, with ``request.invalid``. It refuses any other number outside the setting's
    own range with ``address.invalid``.
    """

    INT_32 = 2**31 - 1
    INT_53 = 2**53 - 1  # many JSON clients use doubles and lose digits of larger integers


@dataclass(frozen=True)
class Unit:
    """The unit in which a number is stored, and the larger unit that the portal's form uses.

    ``size`` stored units make one unit of the form. The setting's name ends with ``suffix``; the
    name of its form field ends with ``form_suffix`` instead. Without arguments: a plain number.
    """

    title: str = ""
    suffix: str = ""
    form_title: str = ""
    form_suffix: str = ""
    size: int = 1


TIMES = Unit()
MILLISECONDS = Unit("milliseconds", "_ms", "seconds", "_seconds", 1000)
BYTES = Unit("bytes", "_bytes", "MiB", "_mebibytes", 2**20)


@dataclass(frozen=True)
class Whole:
    """Describes a setting whose value is a whole number in a range (both ends included).

    * ``plan_default``: the value of a plan that does not name the setting; None means no limit.
    * ``is_cap``: the plan's value is an upper limit, which an address can only lower.
    * ``if_unset``: what the broker's file says if neither address nor plan has a value; None leaves
      the setting out of the file.
    """

    smallest: int
    largest: int
    unit: Unit = TIMES
    width: Width = Width.INT_53
    plan_default: int | None = None
    is_cap: bool = False
    if_unset: int | None = None

    def range_words(self) -> str:
        """Return the range as a sentence for help texts: ``From 1 to 1000 milliseconds.``"""
        words = f"From {self.smallest} to {min(self.largest, self.width)} {self.unit.title}"
        return f"{words.rstrip()}."


@dataclass(frozen=True)
class Reference:
    """Describes a setting whose value is the name of another address of the space, or empty.

    ``refers_to``: space type -> the types of that address, the usual one first. ``is_fixed``: the
    setting can never change, and a foreign key stores it; else a column stores the name, and the
    named address gets messages that its broker moves (dead letters). ``default``: the address that
    is meant where a request leaves the setting out, if its space has an address of that name and of
    the usual type.
    """

    refers_to: Mapping[str, tuple[str, ...]]
    is_fixed: bool = False
    default: str = ""


@dataclass(frozen=True)
class Text:
    """Describes a setting whose value is a text; empty means the default that ``help_text`` states.

    ``choices``: all valid values; without any, every text of up to ``longest`` printable ASCII
    characters is valid. ``is_fixed``: the setting can never change.
    """

    choices: tuple[str, ...] = ()
    longest: int = 64
    is_fixed: bool = False

    def wrong_with(self, value: str) -> str:
        """Return what people should know about valid values; empty if ``value`` is valid.

        Do not pass an empty value, which means that the setting is not set.
        """
        if self.choices and value not in self.choices:
            return f"One of: {', '.join(self.choices)}."
        is_plain = value.isascii() and value.isprintable() and "${" not in value
        if len(value) > self.longest or not is_plain:
            return f"At most {self.longest} printable ASCII characters, without '${{'."
        return ""


Value = Whole | Reference | Text
