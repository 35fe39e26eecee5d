"""Write events about what no request changes: troubles, certificates, tokens, maintenance.

The periodic task ``workers.watch`` calls ``watch``. Each part compares rows with the present time
and is idempotent, so a lost or repeated run does no harm.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count

from controlplane.core import instants, phases
from controlplane.core.phases import Phase
from controlplane.core.reasons import ENGINE_DOWN, Reason
from tenants import rollouts
from tenants.models import AddressSpace, ApiToken, MaintenanceWindow, Rollout, Tenant
from tenants.models.address_space import CERTIFICATE_BAD, NOT_READY
from tenants.notifications import alarms, outbox
from tenants.notifications.models import Event, SpaceTrouble
from tenants.rollouts import Window

# Shorter interruptions, such as one restart, are no trouble.
_PATIENCE = timedelta(minutes=2)
# An instance that restarts for a change is not in trouble. Neither is a space that a rollout moves.
_TROUBLES = frozenset(ENGINE_DOWN) - {Reason.ROLLING_OUT}
_CERTIFICATES = frozenset({Reason.CERTIFICATE_EXPIRING, Reason.CERTIFICATE_EXPIRED})
_TOKEN_DAYS = (1, 7)  # so many days before a token expires, an event is written
_NOTICE = timedelta(hours=24)  # so long before a maintenance window, an event is written


@dataclass(frozen=True, eq=False)
class _Finding:
    """One event to write, unless its key is known."""

    kind: str
    tenant: Tenant
    key: str
    fields: dict[str, Any]


def watch(now: datetime) -> None:
    """Open and end troubles of spaces, end alarms of deleted addresses, and write what is due."""
    with transaction.atomic():
        _open_troubles(now)
        _end_troubles(now)
        alarms.end_deleted(now)
        found = [*_certificates(), *_tokens(now), *_maintenance(now)]
        # The outbox ignores known keys too, but each write would enqueue a task.
        names = {finding: f"{finding.kind}:{finding.key}" for finding in found}
        known = set(
            Event.objects.filter(dedup_key__in=names.values()).values_list("dedup_key", flat=True)
        )
        for finding, name in names.items():
            if name not in known:
                outbox.write(
                    finding.kind,
                    tenant=finding.tenant,
                    key=finding.key,
                    fields=finding.fields,
                    now=now,
                )


def _open_troubles(now: datetime) -> None:
    down = AddressSpace.objects.select_related("tenant").filter(
        NOT_READY, active_since__isnull=False
    )
    for space in down.exclude(troubles__in=SpaceTrouble.objects.filter(ended_at__isnull=True)):
        ready = phases.find_condition(space.conditions, phases.READY)
        if ready is None:
            continue
        began_at = datetime.fromisoformat(ready["since"])
        is_down = space.phase == Phase.FAILED or ready["reason"] in _TROUBLES
        if not is_down or began_at > now - _PATIENCE:
            continue
        # Another worker may open it at this moment: a constraint allows one open trouble.
        trouble, is_new = SpaceTrouble.objects.get_or_create(
            space=space, ended_at=None, defaults={"began_at": began_at}
        )
        if is_new:
            fields = {
                "space": space.name,
                "space_id": space.pk,
                "since": instants.text(began_at),
                "reason": ready["reason"],
                "message": ready["message"],
            }
            outbox.write(
                "space.trouble", tenant=space.tenant, key=str(trouble.pk), fields=fields, now=now
            )


def _end_troubles(now: datetime) -> None:
    """End the troubles of spaces that are ready again or deleted, with an event for each.

    Pagers wait for the event that ends an incident, so a deleted space writes one too.
    """
    open_ones = SpaceTrouble.objects.select_for_update(of=("self",), skip_locked=True)
    for trouble in open_ones.select_related("space__tenant").filter(ended_at__isnull=True):
        space = trouble.space
        ready = phases.find_condition(space.conditions, phases.READY)
        fields = {
            "space": space.name,
            "space_id": space.pk,
            "since": instants.text(trouble.began_at),
        }
        if space.deletion_requested_at is not None:
            kind = "space.trouble_ended"
        elif ready is not None and ready["status"] == "True":
            kind = "space.recovered"
            fields["until"] = instants.text(datetime.fromisoformat(ready["since"]))
        else:
            continue
        trouble.ended_at = now
        trouble.save(update_fields=["ended_at"])
        outbox.write(kind, tenant=space.tenant, key=str(trouble.pk), fields=fields, now=now)


def _certificates() -> Iterable[_Finding]:
    rows = AddressSpace.objects.select_related("tenant").filter(CERTIFICATE_BAD)
    for space in rows:
        found = phases.find_condition(space.conditions, "Certificate")
        if found is not None and found["reason"] in _CERTIFICATES:
            fields = {
                "space": space.name,
                "space_id": space.pk,
                "reason": found["reason"],
                "message": found["message"],
            }
            key = f"{space.pk}:{found['reason']}:{found['since']}"
            yield _Finding("certificate.expiring", space.tenant, key, fields)


def _tokens(now: datetime) -> Iterable[_Finding]:
    last = now + timedelta(days=max(_TOKEN_DAYS))
    rows = ApiToken.objects.select_related("tenant").filter(
        revoked_at__isnull=True, expires_at__gt=now, expires_at__lte=last
    )
    for token in rows:
        assert token.expires_at is not None
        left = token.expires_at - now
        # The smallest number of days that fits, because they are in ascending order.
        days = next(days for days in _TOKEN_DAYS if left <= timedelta(days=days))
        # Whoever issues a token for a day needs no mail about it a minute later.
        if token.expires_at - token.created_at <= timedelta(days=days):
            continue
        fields = {
            "name": token.name,
            "prefix": token.prefix,
            "expires_on": instants.text(token.expires_at),
        }
        key = f"{token.pk}:{token.expires_at.isoformat()}:{days}"
        yield _Finding("token.expiring", token.tenant, key, fields)


def _maintenance(now: datetime) -> Iterable[_Finding]:
    """Yield one finding for each tenant whose next window begins soon and has work to do."""
    rollout = Rollout.objects.filter(ended_at__isnull=True, state=Rollout.State.RUNNING).first()
    if rollout is None:
        return
    behind = rollouts.fleet().exclude(release=rollout.release_id)
    counts = dict(behind.values("tenant").annotate(n=Count("id")).values_list("tenant", "n"))
    windows: dict[Tenant, list[Window]] = defaultdict(list)
    for row in MaintenanceWindow.objects.select_related("tenant").filter(tenant__in=counts):
        windows[row.tenant].append(Window(row.weekday, row.starts_at, row.minutes))
    for tenant, own in windows.items():
        window = min(own, key=lambda window: window.next_start(now))
        starts_at = window.next_start(now)
        if starts_at - now <= _NOTICE:
            fields = {
                "spaces": counts[tenant.pk],
                "starts_at": instants.text(starts_at),
                "ends_at": instants.text(starts_at + timedelta(minutes=window.minutes)),
            }
            key = f"{rollout.pk}:{tenant.pk}:{starts_at.isoformat()}"
            yield _Finding("maintenance.upcoming", tenant, key, fields)
