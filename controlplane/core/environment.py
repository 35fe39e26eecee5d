"""Readers of ``WAYPOST_*`` environment variables. ``controlplane.settings`` calls them.

All raise ``ImproperlyConfigured`` for a value that is not valid; its message names the variable.
"""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default)


def secret(name: str) -> str:
    """Return a secret: the content of the file that the variable ``<name>_FILE`` names.

    Without this variable, returns the value of the variable ``name``; empty if that is not set
    either. White space around the content of the file is cut off.

    Raises:
        ImproperlyConfigured: the file cannot be read.
    """
    path = text(f"{name}_FILE")
    try:
        return Path(path).read_text(encoding="utf-8").strip() if path else text(name)
    except OSError as error:
        reason = f"{name}_FILE: {path} cannot be read: {error.strerror}"
        raise ImproperlyConfigured(reason) from error


def flag(name: str, default: bool) -> bool:
    value = text(name, "true" if default else "false").lower()
    if value not in {"true", "false"}:
        raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")
    return value == "true"


def number(name: str, default: int) -> int:
    value = text(name, str(default))
    # ``isdigit`` alone accepts digits such as ², which ``int`` refuses.
    if not (value.isascii() and value.isdigit()):
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}")
    return int(value)


def positive(name: str, default: int, otherwise: str) -> int:
    """Return the whole number in the variable ``name``, which must be 1 or more.

    ``otherwise`` is the end of the error message about 0.

    Raises:
        ImproperlyConfigured: the value is 0 or no whole number.
    """
    value = number(name, default)
    if not value:
        raise ImproperlyConfigured(f"{name} must be 1 or more: {otherwise}")
    return value


def rate(name: str, default: str) -> str:
    value = text(name, default)
    if not re.fullmatch(r"\d+/(sec|min|hour|day)", value):
        raise ImproperlyConfigured(
            f"{name} must be like 20/min (sec, min, hour, day), not {value!r}"
        )
    return value


def level(name: str, default: str) -> str:
    value = text(name, default)
    known = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
    if value not in known:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value


def comma_separated(name: str, default: str) -> list[str]:
    return [item for item in text(name, default).split(",") if item]


def group_roles(name: str) -> tuple[tuple[str, str, str], ...]:
    """Return the variable ``name``, such as ``devs=acme:developer``, as (group, tenant, role).

    Raises:
        ImproperlyConfigured: a part has another form, or there is no such role.
    """
    found = []
    for item in comma_separated(name, ""):
        match = re.fullmatch(
            r"\s*([^=]+)=([a-z0-9_-]+):(owner|admin|developer|billing|viewer)\s*", item
        )
        if match is None:
            raise ImproperlyConfigured(
                f"{name} must be like group=tenant:role, separated by commas, not {item!r}"
            )
        found.append((match[1], match[2], match[3]))
    return tuple(found)


def lakehouse(root: str) -> str:
    in_store = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.-]+)*/?"
    if "://" in root and not re.fullmatch(in_store, root):
        raise ImproperlyConfigured(
            f"WAYPOST_LAKEHOUSE_ROOT must be a folder or s3://bucket/prefix, not {root!r}"
        )
    # Absolute, because jobs run in another working directory.
    return root if "://" in root else str(Path(root).absolute())


def database(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    if parts.scheme != "postgresql":
        raise ImproperlyConfigured("WAYPOST_DATABASE_URL must begin with postgresql://")
    if parts.query or parts.fragment:
        raise ImproperlyConfigured(
            "WAYPOST_DATABASE_URL must end with the database's name: parameters are not supported. "
            "Choose TLS with PGSSLMODE and PGSSLROOTCERT, in the chart with database.sslMode and "
            "database.sslAuthority. Write a character like ? in the password as %3F."
        )
    return {
        "ENGINE": "controlplane.core.postgresql",
        # ``urlsplit`` leaves escapes such as %3F as they are.
        "HOST": unquote(parts.hostname or ""),
        "PORT": parts.port or 5432,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "NAME": parts.path.lstrip("/"),
        "CONN_MAX_AGE": 60,
        # A kept connection that a restart of the server broke is replaced at the next request.
        "CONN_HEALTH_CHECKS": True,
    }
