"""`waypost login` and `logout`: the login that the other commands use."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from controlplane.cli import calls, device_login, extras, login_store, output, slow
from controlplane.cli.login_store import Login
from controlplane.cli.options import State
from controlplane.client import models
from controlplane.client.api import session
from controlplane.client.types import UNSET, Unset
from controlplane.core.errors import Missing, WaypostError
from controlplane.rest_client import Api, Json, Refused


@dataclass(frozen=True)
class Proof:
    """How a person proves who they are: email and password, or through the identity provider."""

    email: Annotated[str, typer.Option(help="Asked for, if it is missing.")] = ""
    password: Annotated[
        str, typer.Option(envvar="WAYPOST_PASSWORD", help="Asked for, if it is missing.")
    ] = ""
    device: Annotated[
        bool,
        typer.Option(
            "--device", help="Log in through the identity provider, in a browser on any device."
        ),
    ] = False


@slow.change
def login(
    url: Annotated[str | None, typer.Option(help="Default: the embedded installation's.")] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", "-t")] = None,
    state: State = None,
    context: Annotated[
        str, typer.Option(help="Store it under this name; default: in place of the current one.")
    ] = "",
    *,
    proof: Annotated[Any, Proof],
) -> None:
    """Log in and remember it for the next commands.

    Without --tenant, the next commands use the first tenant of the account. If the account has a
    second factor, the command asks for its code. With --device you log in through the identity
    provider of the installation: the command shows a code to enter in a browser.
    """
    address, email = url or _embedded_url(state), proof.email
    if proof.device:
        begun = device_login.log_in(address)
    else:
        email = email or typer.prompt("Email")
        password = proof.password or typer.prompt("Password", hide_input=True)
        begun = _begin_session(address, email, password)
    slugs = [membership["slug"] for membership in begun["tenants"]]
    if tenant and tenant not in slugs:
        with suppress(WaypostError):  # otherwise the session expires by itself
            _end_session(Login(address, begun["token"]))
        raise Missing(
            f"You are not in tenant {tenant}; yours: {', '.join(slugs) or 'none'}.",
            code="login.tenant",
        )
    chosen = tenant or (slugs[0] if slugs else "")
    login_store.save(Login(address, begun["token"], chosen), context)
    who = begun.get("name") or email
    output.say(f"logged in at {address} as {who}, tenant {chosen or '(none)'}")


def _begin_session(url: str, email: str, password: str) -> Json:
    """Log in, and ask for a second factor if needed."""
    try:
        return _log_in(url, email, password)
    except Refused as refused:
        if refused.error_code != "login.second_factor_needed":
            raise
        try:
            # The API keeps nothing of the first attempt, so the second one has the password again.
            code = typer.prompt("Code of the authenticator app, or a recovery code", err=True)
        except typer.Abort:  # Ctrl-C, or no terminal
            # Without a code, the refusal of the server says what is missing.
            raise refused from None
    return _log_in(url, email, password, code)


def _log_in(url: str, email: str, password: str, code: str | Unset = UNSET) -> Json:
    api = Api(url)
    body = models.CredentialsRequest(email=email, password=password, code=code)
    return calls.body(api, session.log_in.sync_detailed(client=api.client, body=body))


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
        login_store.remove(login_store.name_to_save())


def _end_session(login: Login) -> None:
    api = Api(login.url, login.token, patience_seconds=5)
    session.log_out.sync_detailed(client=api.client)


def _embedded_url(state: Path | None) -> str:
    if not extras.has_embedded():
        raise Missing("This machine cannot hold an installation: give --url.", code="login.url")
    # Not at the top: ``waypost[cli]`` lacks the libraries of this package.
    from controlplane.embedded import installation as installations

    root = installations.root_from(state)
    found = installations.load(root)
    if found is None:
        raise installations.NothingHere(
            f"There is no installation in {root}: give --url, or --state."
        )
    return found.url
