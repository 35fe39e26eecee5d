"""`waypost login` and `logout`: the login that the other commands use."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from controlplane.cli import extras, login_store, output
from controlplane.cli.login_store import Login
from controlplane.cli.options import State
from controlplane.core.errors import Missing, WaypostError
from controlplane.rest_client import Api


def login(
    email: Annotated[str, typer.Option(prompt=True)],
    password: Annotated[str, typer.Option(prompt=True, hide_input=True, envvar="WAYPOST_PASSWORD")],
    url: Annotated[str | None, typer.Option(help="Default: the embedded installation's.")] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", "-t")] = None,
    state: State = None,
) -> None:
    """Log in and remember it for the next commands.

    Without --tenant, the next commands use the first tenant of the account.
    """
    address = url or _embedded_url(state)
    session = Api(address).post_once("/session", {"email": email, "password": password})
    slugs = [membership["slug"] for membership in session["tenants"]]
    if tenant and tenant not in slugs:
        with suppress(WaypostError):  # otherwise the session expires by itself
            _end_session(Login(address, session["token"]))
        raise Missing(
            f"You are not in tenant {tenant}; yours: {', '.join(slugs) or 'none'}.",
            code="login.tenant",
        )
    chosen = tenant or (slugs[0] if slugs else "")
    login_store.save(Login(address, session["token"], chosen))
    output.say(f"logged in at {address} as {email}, tenant {chosen or '(none)'}")


def logout() -> None:
    """End the session and remove the stored login, even if the server cannot be reached."""
    kept = login_store.stored()
    try:
        if kept.token:
            _end_session(kept)
    except WaypostError as error:
        output.say(f"removed only here, because the session could not be ended: {error.message}")
    finally:
        # Also after a failure, so that the token does not stay on disk.
        login_store.path().unlink(missing_ok=True)


def _end_session(login: Login) -> None:
    Api(login.url, login.token, patience_seconds=5).delete("/session")


def _embedded_url(state: Path | None) -> str:
    if not extras.has_embedded():
        raise Missing("This machine cannot hold an installation: give --url.", code="login.url")
    from controlplane.embedded import installation as installations

    root = installations.root_from(state)
    found = installations.load(root)
    if found is None:
        raise installations.NothingHere(
            f"There is no installation in {root}: give --url, or --state."
        )
    return found.url
