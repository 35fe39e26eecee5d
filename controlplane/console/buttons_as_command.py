"""Shows what buttons of rows and pages do, as ``as_command`` does for forms. Pure.

Each function returns titled equivalents: a title that names the row, and its ``Equivalent``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from django.utils.dates import WEEKDAYS

from controlplane.console import as_command
from controlplane.console.as_command import Equivalent
from tenants.models import Address, ApiToken, Invitation, Membership
from tenants.notifications.models import AddressAlarm, Channel
from tenants.rollouts import Window


class Button(NamedTuple):
    """What a button does; ``title`` is its text with the name of its row."""

    title: str
    same: Equivalent


def of_tokens(tenant: str, rows: Iterable[ApiToken]) -> list[Button]:
    """Return what rotates and revokes each token."""
    found = []
    for row in rows:
        path, number = f"/tenants/{tenant}/tokens/{row.pk}", str(row.pk)
        rotate = _command(tenant, "tokens", "rotate", number)
        revoke = _command(tenant, "tokens", "revoke", number)
        found += [
            Button(f"Rotate {row.name}", Equivalent(rotate, "POST", f"{path}/rotate")),
            Button(f"Revoke {row.name}", Equivalent(revoke, "DELETE", path)),
        ]
    return found


def of_members(
    tenant: str, rows: Iterable[Membership], *, hands_over: bool, own: str
) -> list[Button]:
    """Return what changes the role of each member and removes them.

    With ``hands_over``, also what makes each the owner, but not the caller, whose email is ``own``.
    """
    found = []
    for row in rows:
        email, path = row.user.email, f"/tenants/{tenant}/members/{_encoded(row.user.email)}"
        role = _command(tenant, "members", "role", email, row.role)
        remove = _command(tenant, "members", "remove", email)
        found += [
            Button(f"Set the role of {email}", Equivalent(role, "PUT", path, {"role": row.role})),
            Button(f"Remove {email}", Equivalent(remove, "DELETE", path)),
        ]
        if hands_over and email != own:
            over = _command(tenant, "members", "transfer", email)
            call = f"/tenants/{tenant}/transfer-ownership"
            same = Equivalent(over, "POST", call, {"email": email})
            found.append(Button(f"Hand over to {email}", same))
    return found


def of_invitations(tenant: str, rows: Iterable[Invitation]) -> list[Button]:
    """Return what sends each invitation again and revokes it."""
    found = []
    for row in rows:
        path, number = f"/tenants/{tenant}/invitations/{row.pk}", str(row.pk)
        send = _command(tenant, "invitations", "send-again", number)
        revoke = _command(tenant, "invitations", "revoke", number)
        found += [
            Button(f"Invite {row.email} again", Equivalent(send, "POST", f"{path}/send")),
            Button(f"Revoke the invitation of {row.email}", Equivalent(revoke, "DELETE", path)),
        ]
    return found


def leave(tenant: str) -> list[Button]:
    """Return what removes the caller from the organization."""
    same = Equivalent(_command(tenant, "members", "leave"), "POST", f"/tenants/{tenant}/leave")
    return [Button("Leave", same)]


def of_windows(tenant: str, windows: Sequence[Window]) -> list[Button]:
    """Return what removes each maintenance window."""
    found = []
    for window in windows:
        # The API replaces all windows at once, so it gets those that stay.
        rest = as_command.set_windows(tenant, [one for one in windows if one != window])
        # ``str``, because Django translates the names of days lazily.
        day, start = str(WEEKDAYS[window.weekday]).lower(), f"{window.starts_at:%H:%M}"
        remove = _command(tenant, "windows", "remove", day, start)
        same = Equivalent(remove, rest.method, rest.path, rest.body)
        found.append(Button(f"Remove {day} {start}", same))
    return found


def of_alarms(tenant: str, row: Address, alarms: Iterable[AddressAlarm]) -> list[Button]:
    """Return what deletes each alarm of the address."""
    space = row.space.name
    # The API lists the alarms of a whole space together.
    path = f"/tenants/{tenant}/address-spaces/{_encoded(space)}/alarms"
    return [
        Button(
            f"Delete the alarm at {alarm.threshold}",
            Equivalent(
                _command(tenant, "alarms", "delete", space, alarm.pk),
                "DELETE",
                f"{path}/{_encoded(alarm.pk)}",
            ),
        )
        for alarm in alarms
    ]


def of_channel(tenant: str, row: Channel) -> list[Button]:
    """Return what sends a test event to the channel, and what renews the secret of a webhook."""
    path = f"/tenants/{tenant}/notification-channels/{_encoded(row.pk)}"
    test = _command(tenant, "notifications", "test-channel", row.pk)
    found = [Button("Send a test event", Equivalent(test, "POST", f"{path}/test"))]
    if row.kind == Channel.Kind.WEBHOOK:
        rotate = _command(tenant, "notifications", "rotate-secret", row.pk)
        found.append(Button("New secret", Equivalent(rotate, "POST", f"{path}/secret")))
    return found


def replay(tenant: str, delivery: str) -> list[Button]:
    """Return what sends an event to its channel again."""
    path = f"/tenants/{tenant}/notification-deliveries/{_encoded(delivery)}/replay"
    command = _command(tenant, "notifications", "replay", delivery)
    return [Button("Send again", Equivalent(command, "POST", path))]


def verify_invoice(tenant: str, invoice: str) -> list[Button]:
    """Return what recomputes an invoice."""
    path = f"/tenants/{tenant}/invoices/{_encoded(invoice)}/verify"
    command = _command(tenant, "invoices", "verify", invoice)
    return [Button("Recompute and compare", Equivalent(command, "POST", path))]


def close_tenant(tenant: str) -> Equivalent:
    """Return what requests that the organization is closed."""
    # As on the page, the caller must repeat the short name: ``confirm``.
    command = _command(tenant, "tenant", "close")
    return Equivalent(command, "POST", f"/tenants/{tenant}/closure", {"confirm": tenant})


def keep_tenant(tenant: str) -> Equivalent:
    """Return what undoes the request to close the organization."""
    command = _command(tenant, "tenant", "keep")
    return Equivalent(command, "DELETE", f"/tenants/{tenant}/closure")


def bulk(tenant: str, space: str, verb: str, names: Sequence[str]) -> Equivalent:
    """Return what changes many rows of a space; ``verb`` such as ``delete-addresses``.

    There is no command: it changes one row each time.
    """
    path = f"/tenants/{tenant}/address-spaces/{_encoded(space)}/bulk/{verb}"
    return Equivalent([], "POST", path, {"names": list(names)})


def own_preferences(tenant: str, choices: Mapping[str, bool | None]) -> Equivalent:
    """Return what changes which kinds of events the caller gets by mail.

    The command changes one kind each time.
    """
    path = f"/tenants/{tenant}/notification-preferences/me"
    command: list[str] = []
    if len(choices) == 1:
        ((kind, is_on),) = choices.items()
        command = _command(tenant, "notifications", "mail", kind, "--on" if is_on else "--off")
    return Equivalent(command, "PATCH", path, {"choices": dict(choices)})


def default_preferences(
    tenant: str, choices: Mapping[str, bool | None], budget_minor: int | None
) -> Equivalent:
    """Return what changes the defaults of the organization, and sets its budget (None: none)."""
    path = f"/tenants/{tenant}/notification-preferences"
    return Equivalent([], "PATCH", path, {"choices": dict(choices), "budget_minor": budget_minor})


def _command(tenant: str, *words: str) -> list[str]:
    return [*words, "--tenant", tenant]


def _encoded(name: str) -> str:
    return quote(name, safe="")
