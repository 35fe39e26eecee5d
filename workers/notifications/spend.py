"""Warn tenants whose running month has cost a part of their budget. The budget stops nothing."""

from datetime import datetime

import structlog
from django.db import InterfaceError, OperationalError, transaction

from plans.invoicing import previewing
from plans.invoicing.facts import NoSubscription
from plans.rating import money
from tenants.notifications import outbox
from tenants.notifications.models import SpendBudget

logger = structlog.get_logger(__name__)

LEVELS = (50, 80, 100)  # percent of the budget, each with an event


def watch(now: datetime) -> None:
    """Write an event for the highest level that each tenant's running period has reached.

    A level is reported once for each period and amount of the budget. A tenant whose period cannot
    be priced is logged; the others are still priced. Idempotent.
    """
    for budget in SpendBudget.objects.select_related("tenant").order_by("tenant"):
        try:
            _watch(budget, now)
        except NoSubscription:
            continue  # the tenant is being closed: its plan has ended, and nothing is spent
        except (OperationalError, InterfaceError):
            raise  # an outage would fail all other tenants too
        except Exception as error:
            logger.error("spend was not compared", tenant=budget.tenant_id, exc_info=error)


@transaction.atomic
def _watch(budget: SpendBudget, now: datetime) -> None:
    preview = previewing.preview(budget.tenant, now)
    currency = preview.document["currency"]
    reached = [n for n in LEVELS if preview.total_minor * 100 >= budget.amount_minor * n]
    if not reached:
        return
    outbox.write(
        "spend.threshold",
        tenant=budget.tenant,
        # A new budget begins to count again.
        key=f"{budget.tenant_id}:{preview.period.starts_at.isoformat()}:{budget.amount_minor}"
        f":{max(reached)}",
        fields={
            "level_percent": max(reached),
            "spent": money.display(preview.total_minor, currency),
            "budget": money.display(budget.amount_minor, currency),
        },
        now=now,
    )
