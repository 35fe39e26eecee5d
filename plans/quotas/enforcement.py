"""Enforces monthly quotas and spend caps: alerts at 80, 90 and 100 %, and restrictions at 100 %.

Level-triggered: each pass compares usage with the limit in force. It then makes alerts and spaces
agree with the result, both when a level is reached and when it no longer is. So the next pass
repairs a lost or interrupted one. The Celery task ``workers.enforce_quotas`` runs a pass every two
sampling intervals, and for one tenant after a change of its plan, limits or state. Before the pass,
the task stores what is sampled but not yet in the copy of gold (``UsageTail``), so that quotas act
without waiting for Spark. ``standings`` computes the numbers; ``watched`` selects the tenants.
"""

from collections.abc import Container, Iterable
from datetime import datetime
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, transaction

from controlplane.core import audit
from controlplane.core.audit import SYSTEM
from controlplane.core.errors import WaypostError
from controlplane.core.models import AuditEvent
from plans.models import QuotaAlert, UsageTail
from plans.quotas import standings
from plans.quotas.resources import SPEND, AtQuota, quantity_words, words
from plans.quotas.standings import Standing
from plans.rating.money import display
from tenants import admission
from tenants.actions import restrictions
from tenants.actions.restrictions import Restrictions
from tenants.models import AddressSpace, Tenant, UnpaidStage
from tenants.notifications import outbox

logger = structlog.get_logger(__name__)

LEVELS = (80, 90, 100)  # percent of a quota, each with an alert
# What a notice of an alert at 100 % says, by what the quota does.
CONSEQUENCES = {
    AtQuota.NOTIFY: "Nothing stops: usage above the quota is billed as your plan says.",
    AtQuota.THROTTLE: "Clients get fewer connections and send more slowly until the month ends or "
    "the limit is raised.",
    AtQuota.WITHDRAW_SEND: "Clients can no longer send until the month ends or the limit is "
    "raised.",
    AtQuota.REFUSE_CONNECTIONS: "Clients can no longer connect until the month ends or the limit "
    "is raised. Stored messages stay.",
}
# Actions of the audit that end a restriction, and why spaces are free after them.
_ENDS = {
    "tenant.restore": "the suspension has ended",
    "tenant.keep": "the organization is not being closed any more",
    "tenant.unpaid": "no invoice is overdue for long any more",
    "quota.lift": "usage is below the limit in force",
}
_RESTRICTIONS = [
    f"address_space.{verb}" for verb in ("withdraw_send", "throttle", "refuse_connections")
]


class PassIncomplete(WaypostError):
    """The quotas of the named tenants could not be evaluated; those of all others were."""

    code = "quota.pass_incomplete"
    title = "Quotas were not evaluated"


def evaluate(*, tenant_id: str, now: datetime) -> list[Standing]:
    """Make the tenant's alerts and spaces agree with its monthly quotas; return the standings.

    Raises and lifts alerts; restricts the tenant's spaces, or lifts restrictions. Alerts are
    committed before spaces change. After a crash between the two, the next pass finds the spaces in
    the wrong state and changes them.
    """
    tenant = Tenant.objects.get(pk=tenant_id)
    found = standings.of_tenant(tenant, now)
    with transaction.atomic():
        # One pass per tenant at a time. Read again: the tenant may have been suspended meanwhile.
        tenant = Tenant.objects.select_for_update().get(pk=tenant_id)
        open_alerts = list(QuotaAlert.objects.filter(tenant=tenant, lifted_at__isnull=True))
        _lift(tenant, open_alerts, found, now)
        for quota in found:
            _raise(tenant, quota, now)
    _enforce(tenant, found)
    UsageTail.objects.filter(tenant=tenant).update(evaluated_at=now)
    return found


def evaluate_all(tenant_ids: Iterable[str], *, now: datetime) -> None:
    """Call ``evaluate`` for every tenant of ``tenant_ids``.

    A tenant that cannot be evaluated is logged; the others are still evaluated.

    Raises:
        PassIncomplete: after all tenants, if one could not be evaluated; names them.
        OperationalError, InterfaceError: at once, because the database is not available; the next
            pass repeats everything.
    """
    failed = []
    for tenant_id in tenant_ids:
        try:
            evaluate(tenant_id=tenant_id, now=now)
        except (OperationalError, InterfaceError):
            raise  # an outage would fail all other tenants too
        except Exception as error:
            logger.error("quotas were not evaluated", tenant=tenant_id, exc_info=error)
            failed.append(tenant_id)
    if failed:
        raise PassIncomplete(
            f"The quotas of {', '.join(failed)} were not evaluated; the log has the reasons. The "
            "quotas of all other tenants were evaluated, and the next pass tries again."
        )


def _lift(
    tenant: Tenant, alerts: Iterable[QuotaAlert], found: Iterable[Standing], now: datetime
) -> None:
    """End alerts of earlier months, for levels not reached any more, and of removed caps."""
    by_resource = {str(quota.resource): quota for quota in found}
    for alert in alerts:
        quota = by_resource.get(alert.resource)
        is_current = quota is not None and alert.period_starts_at == quota.period.starts_at
        if is_current and quota is not None and quota.has_reached(alert.level_percent):
            continue
        alert.lifted_at = now
        alert.save(update_fields=["lifted_at"])
        _audit(tenant, "quota.lift", alert)


def _raise(tenant: Tenant, now_at: Standing, now: datetime) -> None:
    """Raise an alert of each level that is reached; notify about the highest of the new ones."""
    newest = None
    for level in LEVELS:
        if not now_at.has_reached(level):
            break
        key: dict[str, Any] = {
            "tenant": tenant,
            "resource": now_at.resource,
            "period_starts_at": now_at.period.starts_at,
            "level_percent": level,
        }
        action = str(now_at.at_quota) if level == 100 else AtQuota.NOTIFY.value
        known = QuotaAlert.objects.filter(**key).first()
        if known is not None and known.lifted_at is None and known.action == action:
            continue
        # An alert of this period that was lifted is raised again in the same row, and so is one
        # whose plan or cap does something else now.
        newest, _ = QuotaAlert.objects.update_or_create(
            **key,
            defaults={
                "used": now_at.used,
                "tail": now_at.use.tail,
                "limit": now_at.limit or 0,  # never None here: without a limit no level is reached
                "currency": now_at.currency,
                "action": action,
                "raised_at": now,
                "lifted_at": None,
            },
        )
        _audit(tenant, "quota.alert", newest)
    if newest is not None:
        _notify(tenant, newest, now)


def _enforce(tenant: Tenant, found: Iterable[Standing]) -> None:
    """Restrict all of the tenant's spaces, or lift restrictions, as the quotas demand.

    Skips spaces that are in the right state already, and spaces whose deletion was requested.
    """
    demands = {quota.restriction: quota for quota in reversed(list(found))}
    throttle = standings.throttle_percent(tenant) if AtQuota.THROTTLE in demands else None
    spaces = AddressSpace.objects.filter(tenant=tenant, deletion_requested_at__isnull=True)
    for space in spaces.exclude(**_wanted(tenant, demands, throttle).columns).order_by("id"):
        with transaction.atomic():
            # Read again: if the tenant was suspended meanwhile, ``send`` of the space is withdrawn.
            locked = admission.locked_tenant(tenant)
            restrictions.restrict(
                space=space,
                wanted=_wanted(locked, demands, throttle),
                by=SYSTEM,
                reason=_reason(locked, demands),
            )


def _wanted(
    tenant: Tenant, demands: Container[AtQuota], throttle_percent: int | None
) -> Restrictions:
    """Return what the quotas and the state of the tenant demand for each of its spaces.

    ``send`` is also withdrawn in each stage of unpaid invoices (``UnpaidStage``), and while the
    tenant is suspended or being closed. Connections are also refused in the last stage.
    """
    return Restrictions(
        send_withdrawn=AtQuota.WITHDRAW_SEND in demands
        or tenant.is_frozen
        or bool(tenant.unpaid_stage),
        throttle_percent=throttle_percent,
        connections_refused=AtQuota.REFUSE_CONNECTIONS in demands
        or tenant.unpaid_stage == UnpaidStage.SUSPENDED,
    )


def _reason(tenant: Tenant, demands: dict[AtQuota, Standing]) -> str:
    if tenant.unpaid_stage:
        return "invoices are unpaid"
    if tenant.is_frozen:
        return "the tenant is suspended" if tenant.suspended_at else "the tenant is being closed"
    breached = [quota for action, quota in demands.items() if action is not AtQuota.NOTIFY]
    if not breached:
        return _why_lifted(tenant)
    quota = breached[0]
    used, limit = (
        amount_words(quota.resource, n, quota.currency) for n in (quota.used, quota.limit or 0)
    )
    return (
        f"{used} of {limit} {words(quota.resource)} are used; this ends by itself at "
        f"{quota.period.ends_at.isoformat()}, or when the limit is raised"
    )


def _why_lifted(tenant: Tenant) -> str:
    """Return which end of a restriction came after the last restriction of the tenant's spaces."""
    of_tenant = AuditEvent.objects.filter(tenant_id=tenant.pk)
    newest = of_tenant.filter(action__in=[*_ENDS, *_RESTRICTIONS]).order_by("-at", "-id").first()
    return _ENDS.get(newest.action if newest else "", "usage is below the limit in force")


def amount_words(resource: str, amount: int, currency: str = "") -> str:
    """Return an amount of a quota as people read it; of a spend cap with its currency."""
    return display(amount, currency) if resource == SPEND else quantity_words(resource, amount)


def _notify(tenant: Tenant, alert: QuotaAlert, now: datetime) -> None:
    is_full = alert.level_percent >= 100
    consequence = CONSEQUENCES[AtQuota(alert.action)]
    if not is_full:
        consequence = "You can raise the limit with a bigger plan."
    if not is_full and alert.resource == SPEND:
        consequence = "You can raise the cap on the page Usage."
    outbox.write(
        "quota.threshold",
        tenant=tenant,
        # An alert that was lifted and is raised again is new.
        key=f"{alert.pk}:{now.isoformat()}",
        fields={
            "resource": alert.resource,
            "resource_words": words(alert.resource),
            "level_percent": alert.level_percent,
            "used": alert.used,
            "limit": alert.limit,
            "used_words": amount_words(alert.resource, alert.used, alert.currency),
            "limit_words": amount_words(alert.resource, alert.limit, alert.currency),
            "consequence": consequence,
        },
        now=now,
    )


def _audit(tenant: Tenant, action: str, alert: QuotaAlert) -> None:
    audit.record(
        SYSTEM,
        action,
        audit.Subject("tenant", tenant.id, tenant.name, tenant.id),
        after={
            "resource": alert.resource,
            "level_percent": alert.level_percent,
            "used": alert.used,
            "limit": alert.limit,
            "action": alert.action,
        },
    )
