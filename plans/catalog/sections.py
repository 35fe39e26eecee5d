"""The base of the schemas of a catalog's sections, and the texts that refuse unknown names. Pure.

``parsing`` has the schemas.
"""

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from plans.catalog.fields import wrong


def known_name(names: Iterable[str]) -> BeforeValidator:
    """Return the validator of a mapping's key that must be one of ``names``, such as a meter."""
    known = list(names)

    def validate(name: str) -> str:
        if name not in known:
            raise wrong(unknown(name, known))
        return name

    return BeforeValidator(validate)


def unknown(name: str, known: Iterable[str]) -> str:
    """Return the text that refuses an unknown name, lists the known ones, and may suggest one."""
    names = list(known)
    alike = difflib.get_close_matches(name, names, 1)
    hint = f": write {alike[0]}, if that is meant" if alike else ""
    return f"is unknown{hint}; known names are {', '.join(names)}"


class Section(BaseModel):
    """The base of all schemas of mappings. A known field that is null counts as absent.

    An unknown field is refused, even if it is null.
    """

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def null_is_absent(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        # An unknown field that is null stays, so that ``extra="forbid"`` refuses it.
        return {
            name: entry
            for name, entry in value.items()
            if entry is not None or name not in cls.model_fields
        }
