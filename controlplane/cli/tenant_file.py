"""Files that describe a tenant (``waypost apply`` and ``export``): their parts, read and written.

A part that is absent is not touched. In a part that is present, an absent field has its default.
"""

import sys
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from controlplane.cli import output, windows
from controlplane.core.address_types import SETTINGS
from controlplane.core.errors import Invalid
from controlplane.core.setting_values import Whole

_STRICT = ConfigDict(extra="forbid", frozen=True)
_MOST_MISTAKES = 20  # of a file that are shown


def _written(value: Any) -> Any:
    """Return the text of a date or time, because YAML reads some texts so; else ``value``."""
    return value.isoformat() if isinstance(value, date) else value


def _texts(value: Any) -> Any:
    """Return labels with texts as values, also those that YAML reads as numbers or dates."""
    if not isinstance(value, dict):
        return value
    return {
        key: str(_written(one))
        if isinstance(one, int | float | date) and not isinstance(one, bool)
        else one
        for key, one in value.items()
    }


# {} takes all labels away; absent labels stay as they are.
Labels = Annotated[dict[str, str], BeforeValidator(_texts)]


class _Part(BaseModel):
    model_config = _STRICT


class Grant(_Part):
    """What a messaging user may do (``operations``) at ``addresses``: names or patterns."""

    addresses: list[str]
    operations: list[Literal["send", "recv"]]


class User(_Part):
    """A messaging user. A new one gets the password in the variable ``password_env``.

    Without ``password_env`` the password is generated, and printed once.
    """

    name: str
    permissions: list[Grant]
    password_env: str = ""


class _Address(_Part):
    address: str
    type: str = "queue"
    plan: str = ""
    labels: Labels | None = None


# With a field for each setting of the registry. None: absent.
Address: Any = create_model(
    "Address",
    __base__=_Address,
    **{
        setting.name: (int | None if isinstance(setting.value, Whole) else str | None, None)
        for setting in SETTINGS
    },  # type: ignore[call-overload]  # one keyword for each setting
)


class Alarm(_Part):
    """An alarm of an address: ``metric`` is ``depth`` or ``age``."""

    address: str
    metric: str
    threshold: int
    for_seconds: int | None = None
    clear_below: int | None = None


class Space(_Part):
    """A space. Absent ``labels``, ``addresses``, ``users`` or ``alarms`` are not touched."""

    name: str
    type: str = "brokered"
    plan: str = ""
    labels: Labels | None = None
    addresses: list[Address] | None = None
    users: list[User] | None = None
    alarms: list[Alarm] | None = None


class Window(_Part):
    """A weekly maintenance window in UTC."""

    weekday: str
    starts_at: str
    minutes: Annotated[int, Field(ge=30)]


class Token(_Part):
    """An API token, by its name. Empty ``spaces`` and ``permissions`` do not limit it.

    ``expires`` has the format of the option ``--expires`` of ``waypost tokens issue``. It counts
    only when the token is created.
    """

    name: str
    role: str = "viewer"
    spaces: list[str] = []
    permissions: list[str] = []
    expires: Annotated[str, BeforeValidator(_written)] = "90d"


class TenantFile(_Part):
    """What a file says about a tenant. ``tenant`` guards against applying it to another one."""

    tenant: str = ""
    spaces: list[Space] | None = None
    maintenance_windows: list[Window] | None = None
    tokens: list[Token] | None = None


class FileInvalid(output.WrongUse):
    """The file is no description of a tenant; ``fields`` maps each wrong part to its reasons."""

    code = "tenant_file.invalid"


def read(path: Path) -> TenantFile:
    """Return the content of the file ``path``; ``-`` is stdin.

    Raises:
        FileInvalid: it is not such a file; or it names something twice.
        OSError: it cannot be read.
    """
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
        found = yaml.safe_load(text)
    except UnicodeDecodeError as error:
        raise FileInvalid(f"{path} is not UTF-8 text (byte {error.start}).") from None
    except yaml.YAMLError as error:
        raise FileInvalid(f"{path} is no YAML: {error}") from None
    try:
        # An empty file is null in YAML, and describes nothing.
        parsed = TenantFile.model_validate({} if found is None else found)
    except ValidationError as error:
        mistakes = error.errors()[:_MOST_MISTAKES]
        fields = {".".join(map(str, one["loc"])) or "file": [one["msg"]] for one in mistakes}
        problem = FileInvalid(f"{path} does not describe a tenant.")
        # No keyword arguments: the file chose the names.
        problem.fields = fields
        raise problem from None
    try:
        _require_unique(path, parsed)
    # ``FileInvalid`` is an ``Invalid`` too, and its message is complete already.
    except FileInvalid:
        raise
    except Invalid as error:  # no day, or no time
        raise FileInvalid(f"{path}: {error.message}") from None
    return parsed


def _require_unique(path: Path, parsed: TenantFile) -> None:
    spaces = parsed.spaces or []
    named = [
        *(("space", space.name) for space in spaces),
        *(
            (f"address of {space.name}", row.address)
            for space in spaces
            for row in space.addresses or []
        ),
        *((f"user of {space.name}", row.name) for space in spaces for row in space.users or []),
        *(
            (
                f"alarm of {space.name}",
                f"{row.address} {row.metric} {row.threshold} for {row.for_seconds or 0} s",
            )
            for space in spaces
            for row in space.alarms or []
        ),
        *(("token", row.name) for row in parsed.tokens or []),
        *(
            # Here a wrong day or time is refused, before anything is requested.
            ("window", f"{windows.weekday(row.weekday)} {windows.time_of_day(row.starts_at)}")
            for row in parsed.maintenance_windows or []
        ),
    ]
    for kind, name in named:
        if named.count((kind, name)) > 1:
            raise FileInvalid(f"{path} names the {kind} {name} twice.")
