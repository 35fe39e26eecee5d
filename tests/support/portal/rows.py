"""Rows for the portal's tests: the cast of three, an operator, and a tenant that is in use.

Made through the product's own actions; only what workers would observe is set by hand.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from django.utils import timezone

from controlplane.core import operations
from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM, Actor
from controlplane.core.models import Operation
from controlplane.core.reasons import Reason
from plans.catalog import publishing
from plans.invoicing import invoice_closing, issuing
from plans.invoicing.evidence import Evidence, TablePin, UsageKey
from plans.models import Invoice, PlanSubscription
from plans.rating import periods
from plans.usage import reading, recording
from plans.usage.meters import MESSAGES_IN
from plans.usage.reading import UsageCell
from tenants import account_rules
from tenants.actions import address_spaces, addresses, memberships, messaging_users, tenants
from tenants.models import Address, AddressSpace, Endpoint, MessagingUser, Role, Tenant, User
from workers.reconcile.outcome import Done, Wait
from workers.reconcile.report import PassReport

PASSWORD = "correct horse battery"
STAFF = Actor("user:staff@operator.example")
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIBexample\n-----END CERTIFICATE-----\n"
_versions = count(1)


@dataclass(frozen=True)
class World:
    """One tenant with its people; ``outsider`` owns another tenant, ``staff`` owns none."""

    tenant: Tenant
    other: Tenant
    owner: User
    member: User
    billing: User
    outsider: User
    staff: User


def world(plan: str = "team") -> World:
    """Return the cast on the default catalog."""
    publishing.ensure_default(by=SYSTEM)
    first = _signed_up("olga@acme.example", "Acme Shipping", plan)
    second = _signed_up("oscar@other.example", "Other People", plan)
    return World(
        tenant=first.tenant,
        other=second.tenant,
        owner=first.user,
        member=_member(first.tenant, "dev@acme.example", Role.DEVELOPER),
        billing=_member(first.tenant, "bills@acme.example", Role.BILLING),
        outsider=second.user,
        staff=person("staff@operator.example", is_staff=True),
    )


def person(email: str, **fields: object) -> User:
    """Return a local account without a tenant."""
    user = User(username=email, email=email, **fields)
    user.set_password(PASSWORD)
    user.save()
    return user


def space(tenant: Tenant, name: str = "orders", plan: str = "standard-small") -> AddressSpace:
    """Return a space as just asked for: Pending, with its operation."""
    kind = publishing.space_plan(plan).space_type
    made, _ = address_spaces.create(tenant=tenant, name=name, type=kind, space_plan=plan, by=SYSTEM)
    return made


def active_space(
    tenant: Tenant, name: str = "orders", plan: str = "standard-small"
) -> AddressSpace:
    """Return a space that a worker has made real, with its endpoint."""
    made = space(tenant, name, plan)
    real(made)
    Endpoint.objects.create(
        space=made,
        name="amqps",
        protocol="amqps",
        host="127.0.0.1",
        port=5671,
        certificate_pem=CERTIFICATE,
    )
    return made


def address(
    of: AddressSpace, name: str = "invoices", kind: str = "queue", **settings: Any
) -> Address:
    """Return an Active address with ``settings`` of its own."""
    made, _ = addresses.create(
        space=of,
        address=name,
        type=kind,
        address_plan=f"{of.type}-small-{kind}",
        settings=AddressSettings(**settings),
        by=SYSTEM,
    )
    real(made)
    return made


def messaging_user(of: AddressSpace, name: str = "checkout") -> MessagingUser:
    """Return an Active messaging user who may do everything."""
    permissions = [{"addresses": ["#"], "operations": ["send", "recv"]}]
    made, _ = messaging_users.create(
        space=of, name=name, password=PASSWORD, permissions=permissions, by=SYSTEM
    )
    real(made)
    return made


def real(row: AddressSpace | Address | MessagingUser) -> None:
    """Observe the row as the workers do when they got there."""
    row.refresh_from_db()
    row.phase, row.observed_generation = "Active", row.generation
    row.active_since = timezone.now() - timedelta(days=3)
    row.save()
    Operation.objects.filter(subject_id=row.pk, state="Running").update(
        state="Succeeded", finished_at=timezone.now()
    )


def in_progress(row: AddressSpace) -> None:
    """Show the steps of the space's running operation as a pass reports them."""
    AddressSpace.objects.filter(pk=row.pk).update(phase="Configuring")
    steps = PassReport().with_step("namespace", Done()).with_step("certificates", Done())
    waits = Wait(1, Reason.BROKER_STARTING, "broker-0 is starting")
    operations.progress("address_space", row.pk, [*steps.with_step("brokers", waits).steps])


def used(*cells: UsageCell) -> None:
    """Copy cells in as the next version of gold."""
    days = {cell.bucket_at.date() for cell in cells}
    recording.copy_in(
        table_id="gold", table_version=next(_versions), as_of=timezone.now(), days=days, cells=cells
    )


def cell(of: AddressSpace, meter: str, quantity: int, at: datetime, name: str = "") -> UsageCell:
    return UsageCell(of.tenant_id, of.pk, name, meter, at, quantity)


def this_month() -> datetime:
    """Return the beginning of the running month, UTC."""
    return periods.month_of(timezone.now(), "UTC").starts_at


def last_month() -> periods.Period:
    """Return the month before the running one, UTC."""
    return periods.month_of(this_month() - timedelta(days=1), "UTC")


def subscribed_since(tenant: Tenant, moment: datetime) -> None:
    """Move the beginning of the tenant's subscription back to ``moment``."""
    PlanSubscription.objects.filter(tenant=tenant, starts_at__gt=moment).update(starts_at=moment)


def bill_to(tenant: Tenant) -> None:
    """Complete the tenant's billing details."""
    details = account_rules.BillingDetails(
        billing_name="Acme Shipping Ltd",
        billing_email="bills@acme.example",
        billing_address="High Street 5\nLeeds",
        billing_country="GB",
    )
    tenants.update_billing(tenant=tenant, details=details, by=SYSTEM)
    tenant.refresh_from_db()


def closing(tenant: Tenant, month: periods.Period | None = None) -> Invoice:
    """Return the invoice of ``month``, by default of last month, in the state closing."""
    month = month or last_month()
    subscribed_since(tenant, month.starts_at)
    invoice, _ = invoice_closing.request_close(
        tenant=tenant,
        starts_at=month.starts_at,
        ends_at=month.ends_at,
        by=STAFF,
        now_forced=True,
    )
    return invoice


def held(tenant: Tenant) -> Invoice:
    """Return last month's invoice as held: gold and recomputation differ."""
    found = evidence(())
    bad = replace(found, gold={UsageKey("spc_x", "", MESSAGES_IN): 5})
    return invoice_closing.close(invoice=closing(tenant), evidence=bad, by=STAFF)


def drafted(
    tenant: Tenant, cells: Iterable[UsageCell] = (), month: periods.Period | None = None
) -> Invoice:
    """Return last month's invoice, or that of ``month``, as a draft.

    ``cells`` must be copied in already.
    """
    bill_to(tenant)
    return invoice_closing.close(invoice=closing(tenant, month), evidence=evidence(cells), by=STAFF)


def issued(
    tenant: Tenant, cells: Iterable[UsageCell] = (), month: periods.Period | None = None
) -> Invoice:
    """Return last month's invoice, or that of ``month``, as issued."""
    invoice = issuing.approve(invoice=drafted(tenant, cells, month), by=STAFF)
    return issuing.issue(invoice=invoice, by=STAFF)


def evidence(cells: Iterable[UsageCell]) -> Evidence:
    """Return flawless evidence for the given cells."""
    cells = list(cells)
    totals: dict[UsageKey, int] = {}
    for cell in cells:
        key = UsageKey(cell.space_id, cell.address, cell.meter)
        totals[key] = reading.merged(cell.meter, totals.get(key, 0), cell.quantity)
    return Evidence(
        as_of=datetime.now(UTC),
        tables={"bronze.samples": TablePin("b" * 8, 7)},
        sample_hash="ab" * 32,
        n_samples=1234,
        gold=totals,
        recomputed=totals,
        pipeline_version="1",
        sampled_spaces=frozenset(cell.space_id for cell in cells),
    )


def _signed_up(email: str, organization: str, plan: str) -> tenants.SignedUp:
    """Return somebody who signed up a minute ago, so that there is something to close."""
    made = tenants.sign_up(
        email=email, password=PASSWORD, organization=organization, plan_key=plan, by=None
    )
    a_minute_ago = timezone.now() - timedelta(minutes=1)
    made.tenant.plan_subscriptions.update(starts_at=a_minute_ago)
    return made


def _member(tenant: Tenant, email: str, role: Role) -> User:
    user = person(email)
    memberships.add(tenant=tenant, email=email, role=role, by=SYSTEM)
    return user
