"""Shows what buttons do as commands and API calls, as ``as_command`` does for forms. Pure.

Most functions return one ``Button`` for each button of a page, or of each row of a table.
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
    """A button: ``title`` is its text with the name of its row, ``same`` is its equivalent."""

    title: str
    same: Equivalent


def of_tokens(tenant: str, rows: Iterable[ApiToken]) -> list[Button]:
    """Return the buttons that rotate and revoke each token."""
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
    """Return the buttons that change the role of each member and remove each member.

    With ``hands_over``, also the buttons that make a member the owner. The caller, whose email is
    ``own``, gets no such button.
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
    """Return the buttons that send each invitation again and revoke it."""
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
    """Return the button by which the caller leaves the organization."""
    same = Equivalent(_command(tenant, "members", "leave"), "POST", f"/tenants/{tenant}/leave")
    return [Button("Leave", same)]


def of_windows(tenant: str, windows: Sequence[Window]) -> list[Button]:
    """Return the buttons that remove each maintenance window."""
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
    """Return the buttons that delete each alarm of the address."""
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
    """Return the buttons of a channel: a test event, and for a webhook a new secret."""
    path = f"/tenants/{tenant}/notification-channels/{_encoded(row.pk)}"
    test = _command(tenant, "notifications", "test-channel", row.pk)
    found = [Button("Send a test event", Equivalent(test, "POST", f"{path}/test"))]
    if row.kind == Channel.Kind.WEBHOOK:
        rotate = _command(tenant, "notifications", "rotate-secret", row.pk)
        found.append(Button("New secret", Equivalent(rotate, "POST", f"{path}/secret")))
    return found


def replay(tenant: str, delivery: str) -> list[Button]:
    """Return the button that sends an event to its channel again."""
    path = f"/tenants/{tenant}/notification-deliveries/{_encoded(delivery)}/replay"
    command = _command(tenant, "notifications", "replay", delivery)
    return [Button("Send again", Equivalent(command, "POST", path))]


def verify_invoice(tenant: str, invoice: str) -> list[Button]:
    """Return the button that recomputes an invoice."""
    path = f"/tenants/{tenant}/invoices/{_encoded(invoice)}/verify"
    command = _command(tenant, "invoices", "verify", invoice)
    return [Button("Recompute and compare", Equivalent(command, "POST", path))]


def verify_invoice_staff(invoice: str) -> list[Button]:
    """Return the button by which staff recompute an invoice of any tenant."""
    path = f"/staff/invoices/{_encoded(invoice)}/verify"
    command = ["staff", "invoices", "verify", invoice]
    return [Button("Recompute and compare", Equivalent(command, "POST", path))]


def close_tenant(tenant: str) -> Equivalent:
    """Return the equivalent of requesting that the organization is closed."""
    # As on the page, the caller must repeat the short name: ``confirm``.
    command = _command(tenant, "tenant", "close")
    return Equivalent(command, "POST", f"/tenants/{tenant}/closure", {"confirm": tenant})


def keep_tenant(tenant: str) -> Equivalent:
    """Return the equivalent of undoing the request to close the organization."""
    command = _command(tenant, "tenant", "keep")
    return Equivalent(command, "DELETE", f"/tenants/{tenant}/closure")


def bulk(tenant: str, space: str, verb: str, names: Sequence[str]) -> Equivalent:
    """Return the equivalent of changing many rows of a space by ``verb``: ``delete-addresses``.

    No command does this: a command changes one row each time.
    """
    path = f"/tenants/{tenant}/address-spaces/{_encoded(space)}/bulk/{verb}"
    return Equivalent([], "POST", path, {"names": list(names)})


def own_preferences(tenant: str, choices: Mapping[str, bool | None]) -> Equivalent:
    """Return the equivalent of choosing which kinds of events the caller gets by mail.

    There is a command only if ``choices`` has one kind.
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
    """Return the equivalent of setting the organization's defaults and budget (None: no budget).

    There is a command only if no default changes.
    """
    path = f"/tenants/{tenant}/notification-preferences"
    amount = "--none" if budget_minor is None else str(budget_minor)
    command = [] if choices else _command(tenant, "notifications", "budget", amount)
    body = {"choices": dict(choices), "budget_minor": budget_minor}
    return Equivalent(command, "PATCH", path, body)


def _command(tenant: str, *words: str) -> list[str]:
    return [*words, "--tenant", tenant]


def _encoded(name: str) -> str:
    return quote(name, safe="")
