"""The logins of the command: URL, token and tenant, stored by name between commands (mode 0600).

A stored login is a context. One context is current: commands use it unless ``--context`` or
``WAYPOST_CONTEXT`` chooses another one. ``WAYPOST_URL``, ``WAYPOST_TOKEN`` and ``WAYPOST_TENANT``
take precedence over the stored values, so that scripts need no file.
"""

import json
import os
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from controlplane.core.errors import Denied, Missing
from controlplane.core.files import write_atomically
from controlplane.rest_client import Api, segment

_DEFAULT = "default"
_PATIENCE_SECONDS = 5.0  # less than the client's default: a person waits for the answer
# The name that the running command was given; empty: the current context.
_chosen: ContextVar[str] = ContextVar("_chosen", default="")


@dataclass(frozen=True)
class Login:
    """The URL of Waypost, the token of the caller, and the default tenant."""

    url: str = ""
    token: str = ""
    tenant: str = ""


@dataclass(frozen=True)
class Contexts:
    """All stored logins by name. ``current`` names the current one; empty if there is none."""

    current: str = ""
    logins: dict[str, Login] = field(default_factory=dict)


def path() -> Path:
    """Return the path of the file of logins: ``~/.config/waypost/login.json``.

    ``XDG_CONFIG_HOME`` replaces ``~/.config``.
    """
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "waypost" / "login.json"


def choose(name: str) -> None:
    """Make the running command use the context ``name``; empty: the current one."""
    _chosen.set(name)


def contexts() -> Contexts:
    """Return all stored logins; none without a valid file."""
    try:
        found = json.loads(path().read_text())
        if "contexts" not in found:  # the file of an older version: a single login
            return Contexts(_DEFAULT, {_DEFAULT: Login(**found)})
        logins = {name: Login(**login) for name, login in found["contexts"].items()}
        return Contexts(str(found["current"]), logins)
    # There is no file, or not one of ours.
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Contexts()


def require(name: str) -> Login:
    """Return the login of the context ``name``.

    Raises:
        Missing: ``context.missing``: there is no such context; the message lists all.
    """
    logins = contexts().logins
    if name not in logins:
        raise Missing(
            f"There is no context {name}; there are: {', '.join(sorted(logins)) or 'none'}. "
            f"`waypost login --context {name}` makes it.",
            code="context.missing",
        )
    return logins[name]


def stored() -> Login:
    """Return the login of the chosen or current context, without the variables.

    It is empty if there is no current context.

    Raises:
        Missing: ``context.missing``: the chosen context does not exist.
    """
    if _chosen.get():
        return require(_chosen.get())
    kept = contexts()
    return kept.logins.get(kept.current, Login())


def load() -> Login:
    """Return the stored login, each value overridden by its ``WAYPOST_*`` variable.

    Values that neither the file nor the environment has are empty.
    """
    kept = stored()
    return Login(
        # ``or``: a variable that is set and empty counts as absent.
        os.environ.get("WAYPOST_URL") or kept.url,
        os.environ.get("WAYPOST_TOKEN") or kept.token,
        os.environ.get("WAYPOST_TENANT") or kept.tenant,
    )


def name_to_save() -> str:
    """Return the name under which a login is stored: the chosen context, else the current one."""
    return _chosen.get() or contexts().current or _DEFAULT


def save(login: Login, name: str = "") -> None:
    """Store the login as the context ``name``, in place of an earlier one, and make it current.

    Without ``name``, it is stored as ``name_to_save`` says.
    """
    name = name or name_to_save()
    # The others stay: a login replaces the one of its name alone.
    _write(Contexts(name, {**contexts().logins, name: login}))


def use(name: str) -> None:
    """Make the context ``name`` current.

    Raises:
        Missing: ``context.missing``: there is no such context.
    """
    require(name)
    _write(replace(contexts(), current=name))


def remove(name: str) -> None:
    """Remove the context ``name``; without it nothing changes.

    If it was current, no context is current afterwards: later commands must not go to another
    installation by surprise.
    """
    kept = contexts()
    logins = {other: login for other, login in kept.logins.items() if other != name}
    _write(Contexts("" if kept.current == name else kept.current, logins))


def move(old_url: str, new_url: str) -> bool:
    """Change the URL of each stored login at ``old_url``; return whether there was one.

    For an installation that moved to another port. Otherwise later commands would send the token to
    the program that uses the old port now.
    """
    kept = contexts()
    if old_url == new_url or not any(_is_at(login, old_url) for login in kept.logins.values()):
        return False
    logins = {
        name: replace(login, url=new_url) if _is_at(login, old_url) else login
        for name, login in kept.logins.items()
    }
    _write(replace(kept, logins=logins))
    return True


def forget(url: str) -> bool:
    """Remove each stored login at ``url``; return whether there was one."""
    found = [name for name, login in contexts().logins.items() if _is_at(login, url)]
    for name in found:
        remove(name)
    return bool(found)


def connect(
    tenant: str | None = None, *, patience_seconds: float = _PATIENCE_SECONDS
) -> tuple[Api, str]:
    """Return an API client with the login's token, and the tenant's slug.

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
    segment(chosen)  # refuses what is no slug before anything is requested
    return Api(login.url, login.token, patience_seconds=patience_seconds), chosen


def connect_staff() -> Api:
    """Return an API client with the login's token, for commands that need no tenant.

    Raises:
        Denied: ``login.missing``: there is no login.
    """
    login = _logged_in()
    return Api(login.url, login.token, patience_seconds=_PATIENCE_SECONDS)


def _write(kept: Contexts) -> None:
    # Without a login no file stays behind, as before the first login.
    if not kept.logins:
        path().unlink(missing_ok=True)
        return
    # Tokens are in the file, so nobody else may look into the folder.
    path().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    logins = {name: asdict(login) for name, login in kept.logins.items()}
    text = json.dumps({"current": kept.current, "contexts": logins})
    write_atomically(path(), text, mode=0o600)


def _is_at(login: Login, url: str) -> bool:
    # The stored URL is as the user typed it; ``url`` is an installation's own, without final slash.
    return login.url.rstrip("/") == url


def _logged_in() -> Login:
    login = load()
    if not login.url or not login.token:
        raise Denied("You are not logged in: run `waypost login` first.", code="login.missing")
    return login
