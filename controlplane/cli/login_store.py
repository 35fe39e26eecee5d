"""The login of the command: URL, token and tenant, stored between commands (mode 0600).

``WAYPOST_URL``, ``WAYPOST_TOKEN`` and ``WAYPOST_TENANT`` take precedence over the stored values, so
that scripts need no file.
"""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from controlplane.core.errors import Denied
from controlplane.core.files import write_atomically
from controlplane.rest_client import Api, segment


@dataclass(frozen=True)
class Login:
    """The URL of Waypost, the token of the caller, and the default tenant."""

    url: str = ""
    token: str = ""
    tenant: str = ""


def path() -> Path:
    """Return the path of the login's file: ``~/.config/waypost/login.json``.

    ``XDG_CONFIG_HOME`` replaces ``~/.config``.
    """
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "waypost" / "login.json"


def stored() -> Login:
    """Return the login in the file and ignore ``WAYPOST_*``; empty without a valid file."""
    try:
        return Login(**json.loads(path().read_text()))
    except (OSError, ValueError, TypeError):  # there is no file, or not one of ours
        return Login()


def load() -> Login:
    """Return the stored login, each value overridden by its ``WAYPOST_*`` variable.

    Values that neither the file nor the environment has are empty.
    """
    kept = stored()
    return Login(
        os.environ.get("WAYPOST_URL") or kept.url,
        os.environ.get("WAYPOST_TOKEN") or kept.token,
        os.environ.get("WAYPOST_TENANT") or kept.tenant,
    )


def save(login: Login) -> None:
    """Store the login for later commands, in place of an earlier one."""
    path().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(path(), json.dumps(asdict(login)), mode=0o600)


def move(old_url: str, new_url: str) -> bool:
    """Change the URL of the stored login if it is at ``old_url``; return whether it changed.

    For an installation that moved to another port. Otherwise later commands would send the token to
    the program that uses the old port now.
    """
    if not _is_at(old_url) or old_url == new_url:
        return False
    save(replace(stored(), url=new_url))
    return True


def forget(url: str) -> bool:
    """Remove the stored login if it is at ``url``; return whether it was."""
    if not _is_at(url):
        return False
    path().unlink(missing_ok=True)
    return True


def connect(tenant: str | None = None) -> tuple[Api, str]:
    """Return an API client with the login's token, and the tenant's slug encoded for a path.

    The slug is ``tenant``, or the login's if ``tenant`` is None. Nothing is requested yet.

    Raises:
        Denied: ``login.missing``: there is no login, or ``login.no_tenant``: no tenant is chosen.
        Invalid: ``name.invalid``: the tenant's name has a slash or is a dot segment.
    """
    login = _logged_in()
    chosen = tenant or login.tenant
    if not chosen:
        raise Denied(
            "No tenant is chosen: name yours with --tenant NAME (or WAYPOST_TENANT). An operator's "
            "account belongs to no tenant: ask the owner of one to invite it, or use the operator "
            "area of the portal.",
            code="login.no_tenant",
        )
    # Less patience than the client's default: a person waits for the answer.
    return Api(login.url, login.token, patience_seconds=5), segment(chosen)


def connect_staff() -> Api:
    """Return an API client with the login's token, for commands of operators, who need no tenant.

    Raises:
        Denied: ``login.missing``: there is no login.
    """
    login = _logged_in()
    return Api(login.url, login.token, patience_seconds=5)


def _is_at(url: str) -> bool:
    # The stored URL is as the user typed it; ``url`` is an installation's own, without final slash.
    return stored().url.rstrip("/") == url


def _logged_in() -> Login:
    login = load()
    if not login.url or not login.token:
        raise Denied("You are not logged in: run `waypost login` first.", code="login.missing")
    return login
