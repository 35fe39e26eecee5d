"""As whom the command speaks: url, token and tenant, kept between commands (mode 0600).

``WAYPOST_URL``, ``WAYPOST_TOKEN`` and ``WAYPOST_TENANT`` go before what is kept, so that scripts
need no file.
"""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from controlplane.core.errors import Denied
from controlplane.embedded.supervisor_client import write_atomically
from controlplane.rest_client import Api, segment


@dataclass(frozen=True)
class Login:
    """Where, as whom, and in which tenant by default."""

    url: str = ""
    token: str = ""
    tenant: str = ""


def path() -> Path:
    """Return the file (``$XDG_CONFIG_HOME/waypost/login.json``)."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "waypost" / "login.json"


def load() -> Login:
    """Return what is kept, with the environment's values put over it."""
    kept = _kept()
    return Login(
        os.environ.get("WAYPOST_URL") or kept.url,
        os.environ.get("WAYPOST_TOKEN") or kept.token,
        os.environ.get("WAYPOST_TENANT") or kept.tenant,
    )


def save(login: Login) -> None:
    """Keep the login for the next commands."""
    path().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(path(), json.dumps(asdict(login)), mode=0o600)


def move(old_url: str, new_url: str) -> bool:
    """Let a login at ``old_url`` speak to ``new_url`` from now on; whether there was one.

    For an installation that moved: at its old port another program would be given the token.
    """
    if not _is_at(old_url) or old_url == new_url:
        return False
    save(replace(_kept(), url=new_url))
    return True


def forget(url: str) -> bool:
    """Forget a login at ``url``; whether there was one."""
    if not _is_at(url):
        return False
    path().unlink(missing_ok=True)
    return True


def connect(tenant: str | None = None) -> tuple[Api, str]:
    """Return the API as the kept caller, and the tenant to work in.

    Raises:
        Denied: ``login.missing``: nobody is logged in, or ``login.no_tenant``: no tenant is chosen.
    """
    login = _logged_in()
    chosen = tenant or login.tenant
    if not chosen:
        raise Denied(
            "No tenant is chosen: name yours with --tenant NAME (or WAYPOST_TENANT). An operator's "
            "account is in no tenant: ask the owner of one to invite it, or use the staff pages of "
            "the portal.",
            code="login.no_tenant",
        )
    return Api(login.url, login.token, patience_seconds=5), segment(chosen)


def connect_staff() -> Api:
    """Return the API as the kept caller, for what operators do, in no tenant.

    Raises:
        Denied: ``login.missing``: nobody is logged in.
    """
    login = _logged_in()
    return Api(login.url, login.token, patience_seconds=5)


def _is_at(url: str) -> bool:
    return _kept().url.rstrip("/") == url


def _kept() -> Login:
    try:
        return Login(**json.loads(path().read_text()))
    except (OSError, ValueError, TypeError):
        return Login()


def _logged_in() -> Login:
    login = load()
    if not login.url or not login.token:
        raise Denied("Nobody is logged in: run `waypost login` first.", code="login.missing")
    return login
