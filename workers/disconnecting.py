"""Carry out requests to close connections of clients (rows of ``Disconnection``).

``workers.tasks`` calls ``run`` for one request, and ``list_due`` periodically. Each call of ``run``
goes on with the instances that are not in the row's ``done_on``. If a worker is killed, the next
call may repeat a step. That does no harm: a connection that has ended stays ended.
"""

import uuid
from collections.abc import Sequence
from datetime import timedelta

import structlog
from django.db import transaction

from controlplane.core import leases, operations
from controlplane.core.errors import WaypostError
from controlplane.core.instance_names import InstanceId
from tenants.models import Disconnection
from workers.infra.base import InfraError
from workers.infra.kinds import REGISTRY
from workers.instances import LocatedInstance, Locator
from workers.messaging.management import Refused, Unreachable
from workers.reconcile.ports import Ports

logger = structlog.get_logger(__name__)

SUBJECT = "connections"  # type of the operations that ``tenants.actions.connections`` begins
_LEASE_SECONDS = 60  # extended while connections are being closed
# An instance that has not answered for so long has most likely lost its clients anyway.
PATIENCE = timedelta(seconds=60)


def list_due() -> Sequence[str]:
    """Return the ids of the ``Disconnection`` rows that have not ended, oldest first."""
    rows = Disconnection.objects.filter(finished_at__isnull=True).order_by("created_at")
    return list(rows.values_list("id", flat=True))


def run(disconnection_id: str, ports: Ports) -> None:
    """Close the connections that one ``Disconnection`` names, then end its operation. Idempotent.

    * Only instances that exist on the platform count. The operation succeeds once all of them that
      are concerned are done.
    * An instance that does not answer, or where an error occurs, is left to the next call. If one
      is still left ``PATIENCE`` after the request was created, the operation fails and the request
      ends.
    * The call does nothing while another worker runs the same request, or after the request ended.
    """
    name = f"disconnect:{disconnection_id}"
    # Extended while it runs: instances that answer slowly take longer than the lease.
    with leases.kept(name, uuid.uuid4().hex, _LEASE_SECONDS) as is_ours:
        rows = Disconnection.objects.select_related("space")
        row = rows.filter(pk=disconnection_id, finished_at__isnull=True).first()
        if is_ours and row is not None:
            _close(row, ports)


def _close(row: Disconnection, ports: Ports) -> None:
    troubles: dict[str, str] = {}
    try:
        existing = Locator(ports.infra, ports.identities_dir).list_existing(row.space)
    except (InfraError, WaypostError) as error:
        existing, troubles = [], {"the space": str(error)}
    wanted = {target["instance"] for target in row.targets}
    for one in existing:
        if one.id.name in row.done_on or (not row.messaging_user and one.id.name not in wanted):
            continue
        if row.messaging_user and not _serves_clients(one.id, row):
            continue
        try:
            row.closed += _close_at(one, row)
        except (Unreachable, Refused) as error:
            logger.warning("connections not closed", instance=one.id.name, reason=str(error))
            troubles[one.id.name] = "it does not answer"
            continue
        except Exception:  # so that the request ends in time, and the requests after it run
            logger.exception("connections not closed", instance=one.id.name)
            troubles[one.id.name] = "Waypost failed there"
            continue
        row.done_on = [*row.done_on, one.id.name]
        # After each instance: if this worker is killed, the next one skips the done instances.
        row.save(update_fields=["closed", "done_on", "updated_at"])
        _show(row, troubles)
    _finish(row, troubles, ports)


def _serves_clients(instance: InstanceId, row: Disconnection) -> bool:
    """Return whether clients of the request's space connect to instances of this kind.

    Clients connect to brokers in a brokered space, and to routers in a standard space.
    """
    serving = "broker" if row.space.type == "brokered" else "router"
    return str(instance.kind) == serving


def _close_at(one: LocatedInstance, row: Disconnection) -> int:
    targets = [target for target in row.targets if target["instance"] == one.id.name]
    return REGISTRY[one.id.kind].close_connections(
        one.target,
        boot_id=targets[0]["boot_id"] if targets else None,
        ids={target["id"] for target in targets},
        user=row.messaging_user or None,
    )


def _show(row: Disconnection, troubles: dict[str, str]) -> None:
    steps = [{"name": name, "state": "done", "message": ""} for name in row.done_on]
    steps += [
        {"name": name, "state": "waiting", "message": text} for name, text in troubles.items()
    ]
    operations.progress(SUBJECT, row.pk, steps)


def _finish(row: Disconnection, troubles: dict[str, str], ports: Ports) -> None:
    now = ports.clock()
    _show(row, troubles)
    if troubles and now - row.created_at < PATIENCE:
        return
    with transaction.atomic():
        row.finished_at = now
        row.save(update_fields=["finished_at", "updated_at"])
        if troubles:
            silent = " and ".join(sorted(troubles))
            message = f"{silent} did not answer for a minute. Closed elsewhere: {row.closed}."
            operations.fail(SUBJECT, row.pk, code="connections.not_closed", message=message)
        else:
            operations.succeed(SUBJECT, row.pk, up_to_generation=1)
