"""Restrict what clients may do in a space, and lift that again.

A used-up quota, unpaid invoices, a suspension and a closure restrict spaces.

No restriction drops a message: what is accepted stays stored, and messaging users keep their
permissions as they are stored.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from tenants.actions import address_spaces
from tenants.models import AddressSpace


@dataclass(frozen=True)
class Restrictions:
    """What clients of a space may not do now; the fields are columns of ``AddressSpace``.

    * ``send_withdrawn``: no messaging user may send.
    * ``throttle_percent``: clients have this percentage of the plan's limits of connections and of
      message rates; None: the whole limits.
    * ``connections_refused``: no messaging user may connect, and open connections are closed.
    """

    send_withdrawn: bool = False
    throttle_percent: int | None = None
    connections_refused: bool = False

    @classmethod
    def of(cls, space: AddressSpace) -> "Restrictions":
        """Return the restrictions that are requested for ``space``."""
        return cls(space.send_withdrawn, space.throttle_percent, space.connections_refused)

    @property
    def columns(self) -> dict[str, Any]:
        """The values by column, with ``__isnull`` for a null, to find the spaces that have them."""
        return {
            name if value is not None else f"{name}__isnull": True if value is None else value
            for name, value in asdict(self).items()
        }


# Column -> the actions of the audit trail that set it, and that clear it.
_ACTIONS = {
    "send_withdrawn": ("withdraw_send", "restore_send"),
    "throttle_percent": ("throttle", "end_throttle"),
    "connections_refused": ("refuse_connections", "admit_connections"),
}
# Columns that decide who may log in, or what for. Routers close connections that began before.
_OF_LOGINS = {"send_withdrawn", "connections_refused"}


def restrict(*, space: AddressSpace, wanted: Restrictions, by: Actor, reason: str) -> bool:
    """Make the restrictions of the space ``wanted``; ``reason`` goes to the audit. Idempotent.

    Returns False if the space has them already, or if it is being deleted; then nothing changes.
    """
    with transaction.atomic():
        locked = address_spaces.lock(space)
        values = asdict(wanted)
        changed = [name for name, value in values.items() if getattr(locked, name) != value]
        # Nothing to do for a space that is being deleted: its users are deleted with it.
        if not changed or locked.deletion_requested_at is not None:
            return False
        locked.generation += 1
        for name in changed:
            setattr(locked, name, values[name])
            begun, ended = _ACTIONS[name]
            action = f"{address_spaces.SUBJECT}.{begun if values[name] else ended}"
            audit.record(by, action, address_spaces.subject(locked), reason=reason)
        if _OF_LOGINS & set(changed):
            locked.logins_generation = locked.generation
        if "throttle_percent" in changed:
            # Limits of the plan: routers restart to apply them.
            locked.plan_generation = locked.generation
        generations = ["generation", "logins_generation", "plan_generation", "updated_at"]
        locked.save(update_fields=[*changed, *generations])
        address_spaces.enqueue_reconcile(locked)
    return True


@transaction.atomic
def withdraw_send(*, space: AddressSpace, by: Actor, reason: str) -> bool:
    """Withdraw the right to send from all messaging users of the space; other restrictions stay.

    Enforcement restores it (``restrict``). Returns as ``restrict`` does.
    """
    return _change(space, by, reason, send_withdrawn=True)


def refuse_connections(*, space: AddressSpace, by: Actor, reason: str) -> bool:
    """Let no messaging user connect to the space; other restrictions stay.

    Returns as ``restrict`` does.
    """
    return _change(space, by, reason, connections_refused=True)


@transaction.atomic
def _change(space: AddressSpace, by: Actor, reason: str, **values: Any) -> bool:
    wanted = replace(Restrictions.of(address_spaces.lock(space)), **values)
    return restrict(space=space, wanted=wanted, by=by, reason=reason)
