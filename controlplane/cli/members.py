"""`waypost members` and `waypost invitations`: the people of a tenant."""

from typing import Annotated

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import invitations, members
from controlplane.client.models.role import check_role

app = typer.Typer(no_args_is_help=True, help="Members of a tenant: list, change, remove, leave.")
invitations_app = typer.Typer(
    no_args_is_help=True, help="Invitations by mail: list, send, send again, revoke."
)
Role = Annotated[str, typer.Option(help="owner, admin, developer, billing, viewer")]
NewRole = Annotated[str, typer.Argument(help="owner, admin, developer, billing, viewer")]


@app.command("list")
@slow.change
def list_members(*, how: listing.TenantRows) -> None:
    """List the members with their roles."""
    columns = ["email", "role", "created_at"]
    listing.show(how, calls.tenant_list(members.list_members.sync_detailed), columns)


@app.command("role")
def change_role(
    email: str, role: NewRole, tenant: Tenant = None, form: Output = Format.TABLE
) -> None:
    """Change the role of a member."""
    api, tenant = login_store.connect(tenant)
    # Read for its ETag: a role that somebody else changes in between is not overwritten (412).
    found = members.get_member.sync_detailed(tenant, calls.named(email), client=api.client)
    answer = members.change_member_role.sync_detailed(
        tenant,
        email,
        client=api.client,
        body=models.MemberRoleRequest(role=check_role(role)),
        if_match=calls.tag(found),
    )
    output.show_one(calls.body(api, answer), form)


@app.command()
def remove(email: str, yes: Yes = False, tenant: Tenant = None) -> None:
    """Remove a member; the person's account stays."""
    api, tenant = login_store.connect(tenant)
    # Before the question: a wrong name needs no answer.
    calls.named(email)
    if not yes:
        output.confirm(f"Remove {email} from the tenant?")
    members.remove_member.sync_detailed(tenant, email, client=api.client)
    output.say(f"removed {email}")


@app.command()
def transfer(email: str, tenant: Tenant = None) -> None:
    """Make another member the owner, and yourself an admin."""
    api, tenant = login_store.connect(tenant)
    members.transfer_ownership.sync_detailed(
        tenant,
        client=api.client,
        body=models.TransferRequest(email=email),
        idempotency_key=calls.new_key(),
    )
    output.say(f"{email} is now the owner, and you are an admin")


@app.command()
def leave(tenant: Tenant = None) -> None:
    """Leave the tenant; your account stays."""
    api, tenant = login_store.connect(tenant)
    members.leave_tenant.sync_detailed(tenant, client=api.client, idempotency_key=calls.new_key())
    output.say(f"you have left {tenant}")


@invitations_app.command("list")
@slow.change
def list_invitations(*, how: listing.TenantRows) -> None:
    """List the invitations that are neither accepted nor revoked."""
    columns = ["id", "email", "role", "expires_at"]
    listing.show(how, calls.tenant_list(invitations.list_invitations.sync_detailed), columns)


@invitations_app.command()
def send(
    email: str, role: Role = "viewer", tenant: Tenant = None, form: Output = Format.TABLE
) -> None:
    """Invite a person by mail; they need no account yet."""
    api, tenant = login_store.connect(tenant)
    answer = invitations.invite_person.sync_detailed(
        tenant,
        client=api.client,
        body=models.InvitationCreateRequest(email=email, role=check_role(role)),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@invitations_app.command("send-again")
def send_again(invitation: int, tenant: Tenant = None) -> None:
    """Send an invitation again by its id, with a new link."""
    api, tenant = login_store.connect(tenant)
    answer = invitations.send_invitation_again.sync_detailed(
        tenant, invitation, client=api.client, idempotency_key=calls.new_key()
    )
    output.say(f"sent to {calls.body(api, answer)['email']}")


@invitations_app.command()
def revoke(invitation: int, tenant: Tenant = None) -> None:
    """Revoke an invitation by its id."""
    api, tenant = login_store.connect(tenant)
    invitations.revoke_invitation.sync_detailed(tenant, invitation, client=api.client)
    output.say(f"revoked {invitation}")
