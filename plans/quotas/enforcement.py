"""Enforces monthly quotas: alerts at 80, 90 and 100 %, withdrawal of ``send`` at 100 %.

Level-triggered: each pass compares usage with the limit in force. It then makes alerts and spaces
agree with the result, both when a level is reached and when it no longer is. So the next pass
repairs a lost or interrupted one. The Celery task ``workers.enforce_quotas`` runs a pass every two
sampling intervals, and after a change of a tenant's plan or limits. The task passes the counts that
are sampled but not yet in the copy of gold, so that quotas act without waiting for Spark.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, transaction

from controlplane.core import audit
from controlplane.core.audit import SYSTEM
from controlplane.core.errors import WaypostError
from plans.catalog import publishing
from plans.models import PlanSubscription, QuotaAlert, QuotaOverride
from plans.quotas import checks
from plans.quotas.resources import METERED, WORDS, Resource
from plans.rating.periods import Period, month_of
from plans.usage import reading
from tenants.actions import address_spaces
from tenants.models import AddressSpace, Tenant
from tenants.notifications import outbox

logger = structlog.get_logger(__name__)

LEVELS = (80, 90, 100)  # percent of a quota, each with an alert
NOTIFY = "notify"
WITHDRAW_SEND = "withdraw_send"


class PassIncomplete(WaypostError):
    """The quotas of the named tenants could not be evaluated; those of all others were."""

    code = "quota.pass_incomplete"
    title = "Quotas were not evaluated"


@dataclass(frozen=True)
class Standing:
    """A tenant's usage and limit of one monthly quota in ``period``, a billing month.

    ``limit`` None: unlimited. ``at_quota`` is what the plan does at 100 %: ``notify`` or
    ``withdraw_send``.
    """

    resource: Resource
    period: Period
    used: int
    limit: int | None
    at_quota: str

    def has_reached(self, level_percent: int) -> bool:
        return self.limit is not None and self.used * 100 >= self.limit * level_percent

    @property
    def withdraws_send(self) -> bool:
        return self.at_quota == WITHDRAW_SEND and self.has_reached(100)


def standing(
    tenant: Tenant, resource: Resource, *, not_yet_copied: Mapping[str, int], now: datetime
) -> Standing:
    """Return usage and limit of ``resource`` in the tenant's billing month at ``now``. Reads only.

    ``not_yet_copied`` is {meter: quantity} of this month that the copy of gold lacks; these
    quantities are added to the copied ones. Without an open subscription there is no limit.
    """
    month = month_of(now, tenant.billing_time_zone)
    figures = reading.by_space(tenant.id, month.starts_at, month.ends_at)
    # Adding what the copy lacks makes quotas act sooner. These figures need no space id, because
    # only the sum over all spaces matters here.
    figures += [reading.Figure("", "", meter, n) for meter, n in not_yet_copied.items()]
    used = reading.quantity_of(METERED[resource], figures)
    subscription = (
        PlanSubscription.objects.filter(tenant=tenant, ends_at__isnull=True)
        .select_related("plan")
        .first()
    )
    if subscription is None:
        return Standing(resource, month, used, None, NOTIFY)
    definition = publishing.plan_definition(subscription.plan)
    overrides = QuotaOverride.objects.filter(tenant=tenant)
    limits = checks.effective(definition, overrides, now)
    return Standing(resource, month, used, limits.get(resource), definition.at_quota)


def evaluate(*, tenant_id: str, not_yet_copied: Mapping[str, int], now: datetime) -> list[Standing]:
    """Make the tenant's alerts and spaces agree with its monthly quotas; return the standings.

    Raises and lifts alerts; withdraws or restores the permission to send in the tenant's spaces.
    ``not_yet_copied`` is that of ``standing``. Alerts are committed before spaces change. After a
    crash between the two, the next pass finds the spaces in the wrong state and changes them.
    """
    tenant = Tenant.objects.get(pk=tenant_id)
    found = [
        standing(tenant, resource, not_yet_copied=not_yet_copied, now=now) for resource in METERED
    ]
    with transaction.atomic():
        # One pass per tenant at a time. Read again: it may have been suspended meanwhile.
        tenant = Tenant.objects.select_for_update().get(pk=tenant_id)
        for quota in found:
            _lift(tenant, quota, now)
            _raise(tenant, quota, now)
    _enforce(tenant, found)
    return found


def evaluate_all(*, not_yet_copied: Mapping[str, Mapping[str, int]], now: datetime) -> None:
    """Call ``evaluate`` for every tenant; ``not_yet_copied`` is {tenant id: {meter: quantity}}.

    A tenant that cannot be evaluated is logged; the others are still evaluated.

    Raises:
        PassIncomplete: after all tenants, if one could not be evaluated; names them.
        OperationalError, InterfaceError: at once, because the database is not available; the next
            pass repeats everything.
    """
    failed = []
    for tenant_id in Tenant.objects.order_by("id").values_list("id", flat=True):
        counts = not_yet_copied.get(tenant_id, {})
        try:
            evaluate(tenant_id=tenant_id, not_yet_copied=counts, now=now)
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


def _lift(tenant: Tenant, now_at: Standing, now: datetime) -> None:
    """End the quota's open alerts of earlier months, and those for levels not reached any more."""
    for alert in QuotaAlert.objects.filter(
        tenant=tenant, resource=now_at.resource, lifted_at__isnull=True
    ):
        is_current = alert.period_starts_at == now_at.period.starts_at
        if is_current and now_at.has_reached(alert.level_percent):
            continue
        alert.lifted_at = now
        alert.save(update_fields=["lifted_at"])
        _audit(tenant, "quota.lift", alert)


def _raise(tenant: Tenant, now_at: Standing, now: datetime) -> None:
    """Raise an alert of each level that is reached; notify about the highest of the new ones."""
    newest = None
    for level in LEVELS:
        if not now_at.has_reached(level):
            continue
        key: dict[str, Any] = {
            "tenant": tenant,
            "resource": now_at.resource,
            "period_starts_at": now_at.period.starts_at,
            "level_percent": level,
        }
        known = QuotaAlert.objects.filter(**key).first()
        if known is not None and known.lifted_at is None:
            continue
        # An alert of this period that was lifted is raised again in the same row.
        newest, _ = QuotaAlert.objects.update_or_create(
            **key,
            defaults={
                "used": now_at.used,
                "limit": now_at.limit or 0,  # never None here: without a limit no level is reached
                "action": now_at.at_quota if level == 100 else NOTIFY,
                "raised_at": now,
                "lifted_at": None,
            },
        )
        _audit(tenant, "quota.alert", newest)
    if newest is not None:
        _notify(tenant, newest, now)


def _enforce(tenant: Tenant, found: list[Standing]) -> None:
    """Withdraw ``send`` in all of the tenant's spaces, or restore it, as the quotas demand.

    ``send`` is withdrawn if any quota in ``found`` demands it, if invoices are unpaid for long, or
    if the tenant is suspended or being closed. Skips spaces that are in the right state already,
    and spaces whose deletion was requested.
    """
    breached = next((quota for quota in found if quota.withdraws_send), None)
    reason = _reason(breached) if breached else ""
    if tenant.is_frozen:
        reason = "the tenant is suspended" if tenant.suspended_at else "the tenant is being closed"
    if tenant.unpaid_stage:
        reason = "invoices are unpaid"
    spaces = AddressSpace.objects.filter(tenant=tenant, deletion_requested_at__isnull=True)
    for space in spaces.exclude(send_withdrawn=bool(reason)).order_by("id"):
        if reason:
            address_spaces.withdraw_send(space=space, by=SYSTEM, reason=reason)
        else:
            address_spaces.restore_send(
                space=space, by=SYSTEM, reason="usage is below the limit in force"
            )


def _reason(breached: Standing) -> str:
    noun = WORDS[breached.resource]
    return (
        f"{breached.used} of {breached.limit} {noun} are used; sending is possible again from "
        f"{breached.period.ends_at.isoformat()} on, or when the limit is raised"
    )


def _notify(tenant: Tenant, alert: QuotaAlert, now: datetime) -> None:
    is_full = alert.level_percent >= 100
    if alert.action == WITHDRAW_SEND:
        consequence = "Clients can no longer send until the month ends or the limit is raised."
    elif is_full:
        consequence = "Nothing stops: usage above the quota is billed as your plan says."
    else:
        consequence = "You can raise the limit with a bigger plan."
    outbox.write(
        "quota.threshold",
        tenant=tenant,
        # An alert that was lifted and is raised again is new.
        key=f"{alert.pk}:{now.isoformat()}",
        fields={
            "resource": alert.resource,
            "resource_words": WORDS[Resource(alert.resource)],
            "level_percent": alert.level_percent,
            "used": alert.used,
            "limit": alert.limit,
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
