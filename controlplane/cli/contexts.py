"""`waypost contexts`: stored logins by name, such as one for trials and one for production."""

from typing import Annotated

import typer

from controlplane.cli import login_store, output
from controlplane.cli.login_store import Login
from controlplane.cli.output import Format, Output

app = typer.Typer(
    no_args_is_help=True, help="Stored logins by name (contexts): list, use, add, remove."
)
Name = Annotated[str, typer.Argument(help="The name of the context.")]


@app.command("list")
def list_contexts(form: Output = Format.TABLE) -> None:
    """List the stored logins without their tokens, and say which one is current."""
    kept = login_store.contexts()
    rows = [
        {"name": name, "current": name == kept.current, "url": login.url, "tenant": login.tenant}
        for name, login in sorted(kept.logins.items())
    ]
    output.show_rows(rows, ["name", "current", "url", "tenant"], form)


@app.command()
def use(name: Name) -> None:
    """Make a stored login the current one, which later commands use."""
    login_store.use(name)
    login = login_store.require(name)
    output.say(f"now at {login.url}, tenant {login.tenant or '(none)'}")


@app.command()
def add(
    name: Name,
    url: Annotated[str, typer.Option(help="The address of the installation.")],
    token: Annotated[
        str,
        typer.Option(
            envvar="WAYPOST_TOKEN", prompt=True, hide_input=True, help="An API token (wp_…)."
        ),
    ],
    tenant: Annotated[str, typer.Option("--tenant", "-t", help="The tenant of the token.")] = "",
) -> None:
    """Store an API token as a context, and make it current. `waypost login` stores a person's."""
    login_store.save(Login(url, token, tenant), name)
    output.say(f"added {name}: {url}, tenant {tenant or '(none)'}")


@app.command()
def remove(name: Name) -> None:
    """Remove a stored login. It does not end the session: `waypost logout` does."""
    login_store.require(name)
    # ``remove`` is silent about a name that does not exist, so it was required first.
    login_store.remove(name)
    output.say(f"removed {name}")
