"""Chooses from which legal entity, and in which currency, a tenant buys."""

from django.db import transaction
from django.db.models import F, Q

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from plans.catalog import definitions, publishing, selling
from plans.catalog.definitions import AddressPlanDefinition, NotPriced, SpacePlanDefinition
from plans.catalog.selling import Offer
from plans.models import (
    AddressPlan,
    Commitment,
    Discount,
    Invoice,
    LedgerEntry,
    PlanSubscription,
    SpacePlan,
)
from tenants import admission
from tenants.actions import notification_preferences, spend_caps
from tenants.models import FormerSpacePlan, Tenant
from tenants.notifications.models import SpendBudget


class SellerFixed(Conflict):
    """The tenant has a priced invoice, ledger entries, a commitment or a discount of an amount."""

    code = "seller.fixed"


def change(*, tenant: Tenant, wanted: Offer, reason: str, by: Actor) -> Offer:
    """Let a tenant buy from another seller or in another currency. Staff only; idempotent.

    Possible until the first invoice of the tenant is priced, so no tenant has two currencies.
    Another currency deletes the tenant's spend cap and budget, which are amounts of the former one.

    Raises:
        SellerFixed: the tenant has an invoice with a document, entries in the ledger, a commitment,
            or a discount of an amount.
        NotPriced: a plan version that the tenant has, or that a space was Active on, is not priced
            in the currency.
        Missing: no catalog is published.
    """
    with transaction.atomic():
        locked = admission.locked_tenant(tenant)
        present = selling.of_tenant(locked.pk)
        if present == wanted:
            return present
        _require_free(locked)
        _require_priced(locked, present.currency, wanted.currency)
        selling.assign(locked.pk, wanted, by.name)
        subject = audit.Subject("tenant", locked.pk, locked.name, locked.pk)
        audit.record(
            by,
            "tenant.change_seller",
            subject,
            before={"seller": present.value},
            after={"seller": wanted.value},
            reason=reason,
        )
        if present.currency != wanted.currency:
            # Cap and budget are amounts of the former currency.
            spend_caps.clear_cap(tenant=locked, by=by)
            if SpendBudget.objects.filter(tenant=locked).exists():
                notification_preferences.set_budget(tenant=locked, amount_minor=None, by=by)
    return wanted


def _require_free(tenant: Tenant) -> None:
    reasons = {
        "an invoice is priced": Invoice.objects.filter(tenant=tenant).exclude(document=""),
        "it has entries in the ledger": LedgerEntry.objects.filter(tenant=tenant),
        "it has a commitment": Commitment.objects.filter(tenant=tenant),
        "it has a discount of an amount": Discount.objects.filter(
            tenant=tenant, amount_minor__isnull=False
        ),
    }
    found = [text for text, rows in reasons.items() if rows.exists()]
    if found:
        raise SellerFixed(f"The seller of this tenant is fixed: {', '.join(found)}.")


def _require_priced(tenant: Tenant, present: str, wanted: str) -> None:
    subscriptions = PlanSubscription.objects.filter(tenant=tenant).select_related("plan")
    # Ended ones too: the first invoice may still bill a part of them.
    for subscription in subscriptions:
        publishing.plan_in(subscription.plan, wanted)
    if present == wanted:
        return
    used = {"spaces__tenant": tenant}, {"addresses__space__tenant": tenant}
    sizes: list[SpacePlanDefinition | AddressPlanDefinition] = [
        *map(publishing.space_plan_definition, SpacePlan.objects.filter(**used[0]).distinct()),
        *map(publishing.address_plan_definition, AddressPlan.objects.filter(**used[1]).distinct()),
    ]
    for size in sizes:
        # Without ``hour_prices`` its price is in the only currency that its catalog had.
        if size.hour_price and wanted not in size.hour_prices:
            raise definitions.not_priced(size.title, wanted)
    # No invoice is priced yet, so the first one bills the hours on former plans too. A space that
    # became Active only after such a plan has no hours on it.
    billed = Q(space__tenant=tenant, space__active_since__lt=F("ended_at"))
    former = FormerSpacePlan.objects.filter(billed).values("space_plan")
    for row in SpacePlan.objects.filter(pk__in=former).order_by("key", "version"):
        size = publishing.space_plan_definition(row)
        if size.hour_price and wanted not in size.hour_prices:
            raise NotPriced(
                f"An earlier plan of a space, {size.title}, has no price in {wanted}, and hours on "
                "it are still to be billed: choose a seller that sells in the present currency, "
                f"{present}."
            )
