"""The settings that a person chooses for an embedded installation with `waypost up --set`."""

import importlib.util
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from controlplane.core.errors import Invalid

# What each installation decides for itself, from its folder, ports and keys.
_DECIDED = frozenset(
    {
        "WAYPOST_ARTEMIS_HOME",
        "WAYPOST_AUTH_SERVICE_PORT",
        "WAYPOST_CACHE",
        "WAYPOST_DATABASE_URL",
        "WAYPOST_PUBLIC_URL",
        "WAYPOST_REDIS_URL",
        "WAYPOST_ROUTER_BINARY",
        "WAYPOST_SECRET_KEY",
        "WAYPOST_SECRET_KEYS",
        "WAYPOST_STATE_DIR",
        "WAYPOST_SUPERVISOR_SOCKET",
    }
)


def parse(texts: Iterable[str]) -> dict[str, str]:
    """Return {name: value} of texts such as ``WAYPOST_SMTP_PORT=25``. A value may be empty.

    Values are not checked: the servers check them when they start.

    Raises:
        Invalid: a text has another form, Waypost has no such setting, or each installation decides
            it for itself.
    """
    return dict(_parsed(text) for text in texts)


def _parsed(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Invalid(f"Write {text} as NAME=VALUE.", code="stack.setting")
    if name in _DECIDED:
        reason = f"An embedded installation decides {name} for itself."
        raise Invalid(reason, code="stack.setting")
    if name.removesuffix("_FILE") not in known():
        raise Invalid(
            f"There is no setting {name}. docs/operate/install.md lists them.", code="stack.setting"
        )
    return name, value


@cache
def known() -> frozenset[str]:
    """Return the names of all settings, with those that each installation decides for itself."""
    # Not imported: an import reads the variables of the caller's shell, which do not count here.
    spec = importlib.util.find_spec("controlplane.settings")
    assert spec is not None
    assert spec.origin is not None
    return frozenset(re.findall(r"WAYPOST_[A-Z0-9_]+", Path(spec.origin).read_text("utf-8")))
