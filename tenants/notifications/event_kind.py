"""What a kind of event is, how urgent events are, and groups of roles that get them by mail."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from tenants.models import Role
from tenants.permissions import Permission


class Severity(StrEnum):
    """How urgent an event is: ``info`` needs no action, ``critical`` needs one at once."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


MONEY = frozenset({Role.OWNER, Role.BILLING})  # roles that see invoices
ADMINS = frozenset({Role.OWNER, Role.ADMIN})  # roles that manage members
ENGINEERS = frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER})  # roles that manage messaging


@dataclass(frozen=True)
class EventKind:
    """One kind of event.

    * ``key``: the stable name, which webhooks send as ``type``.
    * ``title``, ``meaning``: what lists of kinds show.
    * ``subject``, ``text``: the message. ``{name}`` stands for a field of the event.
    * ``path``: the page of the portal about the event, with ``{name}`` as in the texts. Empty: no
      page.
    * ``needs``: the permission without which a member never gets it, and nobody may have it sent
      to a channel (``subscriptions``).
    * ``roles``: the members who get it by mail unless they, or the tenant, chose otherwise.
    * ``staff_path``: the page of staff about the event. The operator's staff get the event by mail
      too, with this link. Empty: they do not get it.
    * ``to_invoice_email``: the address of the tenant's billing details gets it too.
    * ``is_required``: nobody can turn it off.
    * ``is_addressed``: it goes only to the email address or the channel that the event names.
    * ``incident``: names of the fields that say which incident the event begins or ends. Kinds
      whose key has the same first part share incidents. Empty: each event is one of its own.
    * ``ends_incident``: the event ends its incident, so that a pager closes it.
    * ``secrets``: names of fields that give access to their reader, such as links. They are stored
      encrypted, and webhooks do not get them.
    * ``sample``: example values of all fields.
    """

    key: str
    title: str
    meaning: str
    severity: Severity
    subject: str
    text: str
    path: str = ""
    needs: Permission = Permission.VIEW
    roles: frozenset[str] = frozenset()
    staff_path: str = ""
    to_invoice_email: bool = False
    is_required: bool = False
    is_addressed: bool = False
    incident: tuple[str, ...] = ()
    ends_incident: bool = False
    secrets: frozenset[str] = frozenset()
    sample: Mapping[str, Any] = field(default_factory=dict)

    @property
    def to_staff(self) -> bool:
        """Whether the operator's staff get it by mail too."""
        return bool(self.staff_path)

    def for_staff(self) -> "EventKind":
        """Return the kind as staff get it: it names the organization and links to their page."""
        return replace(
            self,
            subject=f"{{organization}}: {self.subject}",
            text=f"{self.text} The organization is {{organization}} ({{tenant}}).",
            path=self.staff_path,
        )
