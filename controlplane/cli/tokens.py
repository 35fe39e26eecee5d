"""`waypost tokens`: bearer tokens for programs."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, get_args

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import address_spaces, tokens
from controlplane.client.models.permissions_enum import PermissionsEnum
from controlplane.core.errors import Invalid, Missing
from controlplane.rest_client import Api

app = typer.Typer(no_args_is_help=True, help="API tokens of a tenant: list, issue, rotate, revoke.")
# As in the portal.
DEFAULT_EXPIRY = "90d"
_SPACE = "space:"
# A limited token never gets the others: ``tenants.permissions.NOT_FOR_LIMITED_TOKENS``.
_GRANTABLE = sorted(
    {*get_args(PermissionsEnum)} - {"manage_team", "manage_tenant", "manage_tokens"}
)
Token = Annotated[str, typer.Argument(help="The id or the name of a token.")]


@app.command("list")
@slow.change
def list_tokens(*, how: listing.TenantRows) -> None:
    """List the tokens without their secrets, which are shown only when issued."""
    columns = ["id", "name", "role", "spaces", "permissions"]
    columns += ["prefix", "last_used_at", "expires_at"]
    listing.show(how, calls.tenant_list(tokens.list_tokens.sync_detailed), columns)


@app.command()
def issue(
    name: str,
    role: Annotated[str, typer.Option(help="owner, admin, developer, billing, viewer")] = "viewer",
    expires: Annotated[
        str, typer.Option(help="When it ends: after some days (30d), at a date or time; never.")
    ] = DEFAULT_EXPIRY,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="A limit: space:<name>, or a permission of the role; repeat it. Permissions: "
            f"{', '.join(_GRANTABLE)}."
        ),
    ] = None,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Issue a token and print it; it is shown only once."""
    limits = only or []
    body = {
        "name": name,
        "role": role,
        "expires_at": expiry(expires),
        "spaces": [limit.removeprefix(_SPACE) for limit in limits if limit.startswith(_SPACE)],
        "permissions": [limit for limit in limits if not limit.startswith(_SPACE)],
    }
    api, tenant = login_store.connect(tenant)
    # Once: the answer to a repeated request would lack the token.
    answer = tokens.create_token.sync_detailed(
        tenant, client=api.client, body=models.TokenCreateRequest.from_dict(body)
    )
    output.show_one(calls.body(api, answer), form)
    if body["spaces"]:
        page = calls.tenant_list(address_spaces.list_spaces.sync_detailed)
        unknown = set(body["spaces"]) - {row["name"] for row in page(api, tenant)}
        for name in sorted(unknown):
            output.say(f"warning: there is no space {name} yet: see `waypost spaces list`")


@app.command()
def rotate(token: Token, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Replace a token by one with a new secret; the former one stops working at once."""
    api, tenant = login_store.connect(tenant)
    # Once, as in ``issue``.
    answer = tokens.rotate_token.sync_detailed(
        tenant, _id_of(api, tenant, token), client=api.client
    )
    output.show_one(calls.body(api, answer), form)


@app.command()
def revoke(token: Token, tenant: Tenant = None) -> None:
    """Revoke a token: it stops working at once."""
    api, tenant = login_store.connect(tenant)
    tokens.revoke_token.sync_detailed(tenant, _id_of(api, tenant, token), client=api.client)
    output.say(f"revoked {token}")


def _id_of(api: Api, tenant: str, token: str) -> int:
    """Return the id of a token, which is a number, from its id or its name.

    Raises:
        Missing: ``api_token.missing``: no token has this id or name.
    """
    calls.named(token)
    found = calls.id_of(calls.tenant_list(tokens.list_tokens.sync_detailed)(api, tenant), token)
    if not found.isdecimal():
        raise Missing(
            f"There is no token {token}: see `waypost tokens list`.", code="api_token.missing"
        )
    return int(found)


def expiry(text: str, now: datetime | None = None) -> str | None:
    """Return the instant that an option means, in ISO 8601 with an offset; None for ``never``.

    ``text`` is days from ``now`` on (``90d``), a date (its midnight in UTC), or a time.

    Raises:
        Invalid: ``expires.invalid``: it is none of these, or in the past.
    """
    if text == "never":
        return None
    now = now or datetime.now(UTC)
    try:
        days = re.fullmatch(r"(\d+)d", text)
        found = now + timedelta(days=int(days[1])) if days else datetime.fromisoformat(text)
    # OverflowError: more days than the calendar has.
    except (ValueError, OverflowError):
        raise Invalid(
            f"{text!r} is no end: write days, such as 90d, a date, such as 2027-01-31, or never.",
            code="expires.invalid",
        ) from None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    if found <= now:
        raise Invalid(f"{text} is not in the future.", code="expires.invalid")
    return found.isoformat()
