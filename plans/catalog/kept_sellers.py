"""Keeps tenants with the legal entity from which they buy when another catalog is published.

``check`` refuses a catalog without a seller that tenants need, and ``keep`` gives tenants of a
former main seller an assignment. ``publishing.publish`` calls both under an exclusive lock
(``alone``). ``selling.assign`` takes the same lock shared (``together``), so no tenant gets a
seller that is being removed.
"""

from django.db import connection
from django.db.models import Q, QuerySet

from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict
from plans.catalog.definitions import Catalog, Seller
from plans.models import Invoice, LedgerEntry, PlanSubscription, SellerAssignment

_PUBLISH_LOCK = 0x77617970  # "wayp"; key of the advisory lock that serializes publications


class SellerInUse(Conflict):
    """Tenants buy from a seller, or in a currency, that the catalog to publish lacks."""

    code = "catalog.seller_in_use"


def alone() -> None:
    """Take the publish lock exclusively until the transaction ends.

    Waits for the transactions that publish a catalog or assign a seller, and makes others wait.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_PUBLISH_LOCK])


def together() -> None:
    """Take the publish lock shared until the transaction ends: no catalog is published meanwhile.

    Waits for a transaction that publishes.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [_PUBLISH_LOCK])


def check(before: Seller, catalog: Catalog) -> None:
    """Refuse a catalog that lacks a seller or a currency of a tenant. Writes nothing.

    Tenants without an assignment buy from the main seller, which was ``before``. If there are such
    tenants, a catalog that no longer has ``before`` needs a main seller of the same currency, and
    these tenants must not have invoices or ledger entries with ``before``.

    Raises:
        SellerInUse: tenants could not be invoiced any more, or their seller would change.
    """
    sold = _sold(catalog)
    used = SellerAssignment.objects.order_by("legal_entity", "currency")
    for key, currency in used.values_list("legal_entity", "currency").distinct():
        if (key, currency) not in sold:
            raise SellerInUse(f"Tenants buy from {key} in {currency}: keep it in the catalog.")
    # ``before`` still sells: ``keep`` assigns the tenants without an assignment to it.
    if (before.key, before.currency) in sold:
        return
    tenant_ids = _unassigned()
    if before.currency != catalog.seller.currency and tenant_ids.exists():
        raise SellerInUse(
            f"Tenants are invoiced in {before.currency}: keep a seller in this currency, as "
            f"{before.key} in the section `sellers`."
        )
    # Entries that an earlier version of Waypost booked name no legal entity.
    theirs = Q(tenant_id__in=tenant_ids, legal_entity__in=(before.key, ""))
    invoices = Invoice.objects.filter(theirs, number__isnull=False)
    if invoices.exists() or LedgerEntry.objects.filter(theirs).exists():
        raise SellerInUse(
            f"Tenants have invoices or ledger entries with {before.key}: keep it in the section "
            f"`sellers`, in {before.currency}."
        )


def keep(before: Seller, catalog: Catalog, by: Actor) -> None:
    """Assign the tenants without an assignment to ``before``, the former main seller.

    Does nothing if ``before`` is still the main seller in the same currency, or does not sell in
    its currency any more.
    """
    main = catalog.seller
    wanted = (before.key, before.currency)
    if wanted == (main.key, main.currency) or wanted not in _sold(catalog):
        return
    SellerAssignment.objects.bulk_create(
        SellerAssignment(
            tenant_id=id, legal_entity=before.key, currency=before.currency, assigned_by=by.name
        )
        for id in _unassigned()
    )


def _sold(catalog: Catalog) -> set[tuple[str, str]]:
    return {(row.key, currency) for row in catalog.sellers for currency in row.currencies}


def _unassigned() -> "QuerySet[PlanSubscription, str]":
    """Return the ids of tenants that buy from the main seller, each once.

    A tenant with only ended subscriptions is among them: while a tenant is being erased, it has no
    open subscription, and its last invoice is still to come.
    """
    free = PlanSubscription.objects.filter(
        tenant__erased_at__isnull=True, tenant__seller_assignment__isnull=True
    )
    return free.values_list("tenant_id", flat=True).distinct()
