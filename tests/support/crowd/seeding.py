"""A furnished tenant among many others, with many rows of every kind, written in bulk.

Each row is a copy of one that the product's own actions made (``tests.support.access.furnished``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent, Operation
from plans.models import (
    Invoice,
    InvoiceEvent,
    InvoiceLine,
    Payment,
    PlanSubscription,
    QuotaAlert,
    QuotaOverride,
    UsageRecord,
)
from plans.usage.meters import CONNECTION_MS, MESSAGES_IN, MESSAGES_OUT, PEAK_CONNECTIONS
from tenants.models import (
    Address,
    AddressReading,
    AddressSpace,
    ApiToken,
    Broker,
    ClientConnection,
    Endpoint,
    InstanceConnections,
    Invitation,
    KeptVolumes,
    MaintenanceWindow,
    Membership,
    MessageRequest,
    MessagingUser,
    Placement,
    Role,
    SpaceReading,
    SupportConsent,
    Tenant,
    TenantNote,
    User,
)
from tenants.notifications.models import (
    AddressAlarm,
    Attempt,
    Channel,
    Delivery,
    Event,
    MailboxMessage,
    SpaceTrouble,
)
from tests.support.crowd.copies import each_numbered, insert, numbered, without_triggers
from tests.support.portal import rows

_ID = "substr(md5(s.id || '/' || s.n), 1, 24)"


@dataclass(frozen=True)
class Crowd:
    """How many rows there are.

    * ``customers``: tenants beside the furnished one, with ``customer_spaces`` each, of which each
      has ``customer_addresses``.
    * ``spaces``: of the furnished tenant, each with ``addresses``.
    * ``few``: members, tokens, channels and other rows of the furnished tenant that people make.
    * ``many``: operations, deliveries, mails and other rows of it that programs make; ``audited``:
      its audit events; ``connections``: those of the space ``orders``.
    * ``months``: invoices of each tenant.
    * ``active``: one address in so many has usage; ``usage_hours``: once in so many hours.
    """

    customers: int
    customer_spaces: int
    customer_addresses: int
    spaces: int
    addresses: int
    few: int
    many: int
    audited: int
    connections: int
    months: int
    active: int = 20
    usage_hours: int = 1


# What the bench promises: 1,000 tenants, 5,000 spaces, 100,000 addresses.
PROMISED = Crowd(
    customers=998,
    customer_spaces=5,
    customer_addresses=18,
    spaces=20,
    addresses=500,
    few=100,
    many=20_000,
    audited=200_000,
    connections=2_000,
    months=24,
)


def flat(count: int) -> Crowd:
    """Return a crowd with ``count`` rows of every kind."""
    return Crowd(
        customers=count,
        customer_spaces=1,
        customer_addresses=1,
        spaces=count,
        addresses=count,
        few=count,
        many=count,
        audited=count,
        connections=count,
        months=count,
        active=1,
        usage_hours=200,
    )


def grow(crowd: Crowd) -> None:
    """Add the rows of ``crowd`` to those of ``furnished.furnish()``."""
    tenant = Tenant.objects.get(slug="acme-shipping")
    space = tenant.spaces.get(name="orders")
    with without_triggers():
        _customers(crowd, tenant)
        _spaces(crowd, tenant, space)
        _addresses(crowd, tenant, space)
        _clients(crowd, tenant, space)
        _people(crowd, tenant)
        _records(crowd, tenant)
        _notifications(crowd, tenant, space)
        _operators(crowd, tenant, space)
        _invoices(crowd, tenant)
    _usage(crowd, tenant, space)  # its triggers keep the sums that pages read
    _analyze()


def _analyze() -> None:
    """Give the planner the numbers that autovacuum gives it in a real installation."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.in_atomic_block else "VACUUM ANALYZE")


def _customers(crowd: Crowd, tenant: Tenant) -> None:
    other = Tenant.objects.exclude(pk=tenant.pk).order_by("created_at").first()
    assert other
    names = {
        "id": "'ten_c' || s.n",
        "name": "'Customer ' || s.n",
        "slug": "'customer-' || s.n",
        "created_at": "now() - s.n * interval '1 hour'",
    }
    insert(other, numbered(crowd.customers), names)
    for_each = _for_each_customer()
    plan = PlanSubscription.objects.get(tenant=other)
    insert(plan, for_each, {"tenant_id": "s.id", "starts_at": "s.created_at"})
    outsider = Membership.objects.get(tenant=other).user
    mail = "s.slug || '@customers.example'"
    insert(outsider, for_each, {"username": mail, "email": mail, "oidc_subject": "NULL"})
    membership = Membership.objects.get(tenant=other)
    whose = {"tenant_id": "s.id", "user_id": f"(SELECT u.id FROM tenants_user u WHERE {_IS_OWN})"}
    insert(membership, for_each, whose)
    # The owner of the furnished tenant is a member of some others, which the menu lists.
    owner = Membership.objects.get(tenant=tenant, role=Role.OWNER)
    some = _for_each_customer(f"r.created_at > now() - {crowd.few} * interval '1 hour'")
    insert(owner, some, {"tenant_id": "s.id"})


_IS_OWN = "u.email = s.slug || '@customers.example'"


def _for_each_customer(where: str = "true", times: int = 1) -> str:
    return each_numbered("tenants_tenant", times, f"r.slug LIKE 'customer-%%' AND {where}")


def _spaces(crowd: Crowd, tenant: Tenant, space: AddressSpace) -> None:
    names = {
        "id": f"'spc_' || {_ID}",
        "tenant_id": "s.id",
        "name": "'space-' || lpad(s.n::text, 3, '0')",
        "labels": """jsonb_build_object('team', 'team-' || s.n %% 5)""",
    }
    mine = each_numbered("tenants_tenant", crowd.spaces, f"r.id = '{tenant.pk}'")
    insert(space, mine, names)
    insert(space, _for_each_customer(times=crowd.customer_spaces), names)
    SpaceReading.objects.get_or_create(
        space=space, defaults={"answered": {"broker-0": timezone.now().isoformat()}}
    )
    each = _for_each_space()
    of_space: Mapping[str, str] = {"space_id": "s.id"}
    insert(SpaceReading.objects.get(pk=space.pk), each, of_space)
    insert(Endpoint.objects.get(space=space), each, of_space)
    broker = Broker.objects.get(space=space)
    insert(broker, each, {"id": "'brk_' || substr(s.id, 5)", **of_space})


def _for_each_space(times: int = 1, where: str = "true") -> str:
    return each_numbered("tenants_addressspace", times, f"r.name LIKE 'space-%%' AND {where}")


def _addresses(crowd: Crowd, tenant: Tenant, space: AddressSpace) -> None:
    queue = Address.objects.get(space=space, address="orders/new")
    AddressReading.objects.get_or_create(address=queue, defaults=_READ)
    names = {
        "id": f"'adr_' || {_ID}",
        "space_id": "s.id",
        "address": "'queue-' || lpad(s.n::text, 4, '0')",
        "labels": """jsonb_build_object('kind', 'kind-' || s.n %% 3)""",
    }
    is_mine = f"r.tenant_id = '{tenant.pk}'"
    insert(queue, _for_each_space(crowd.addresses, is_mine), names)
    own = each_numbered("tenants_addressspace", crowd.addresses, f"r.id = '{space.pk}'")
    insert(queue, own, names)
    insert(queue, _for_each_space(crowd.customer_addresses, f"NOT {is_mine}"), names)
    each = _for_each_address()
    insert(AddressReading.objects.get(pk=queue.pk), each, {"address_id": "s.id"})
    broker = "(SELECT b.id FROM tenants_broker b WHERE b.space_id = s.space_id LIMIT 1)"
    placed = {"address_id": "s.id", "broker_id": broker}
    insert(Placement.objects.get(address=queue), each, placed)


_READ = {
    "parts": {
        "broker-0": {
            "boot_id": "b",
            "arrived": 90,
            "left": 20,
            "depth": 70,
            "stored_bytes": 7000,
            "delivering": 3,
            "consumers": 2,
            "producers": 1,
            "expired": 0,
            "dead_lettered": 0,
        }
    },
    "messages_in": 90,
    "messages_out": 20,
    "in_per_second": 1.5,
    "out_per_second": 0.5,
}


def _for_each_address(where: str = "true") -> str:
    return each_numbered("tenants_address", 1, f"r.address LIKE 'queue-%%' AND {where}")


def _clients(crowd: Crowd, tenant: Tenant, space: AddressSpace) -> None:
    user = MessagingUser.objects.filter(space=space).first()
    assert user
    names = {
        "id": f"'usr_' || {_ID}",
        "space_id": "s.id",
        "name": "'user-' || lpad(s.n::text, 3, '0')",
    }
    mine = f"r.tenant_id = '{tenant.pk}'"
    insert(user, each_numbered("tenants_addressspace", crowd.few, mine), names)
    insert(user, _for_each_space(2, f"NOT {mine}"), names)
    now = timezone.now()
    InstanceConnections.objects.create(
        space=space,
        instance="broker-0",
        boot_id="b",
        as_of=now,
        total=crowd.connections,
        listed=crowd.connections,
    )
    client = ClientConnection.objects.create(
        space=space,
        name="broker-0.0",
        instance="broker-0",
        connection_id="0",
        messaging_user=user.name,
        remote_host="10.0.0.9:41234",
        protocol="AMQP",
        tls="TLSv1.3",
        opened_at=now,
        sessions=1,
        links=2,
        addresses=["orders/new"],
        sent=10,
        received=10,
    )
    named = {"name": "'broker-0.' || s.n", "connection_id": "s.n::text"}
    users = "CASE s.n %% 3 WHEN 0 THEN p.messaging_user ELSE 'user-00' || s.n %% 9 + 1 END"
    insert(client, numbered(crowd.connections), {**named, "messaging_user": users})


def _people(crowd: Crowd, tenant: Tenant) -> None:
    viewer = User.objects.get(email="viewer@acme.example")
    mail = "'person-' || s.n || '@acme.example'"
    some = numbered(crowd.few)
    insert(viewer, some, {"username": mail, "email": mail, "oidc_subject": "NULL"})
    membership = Membership.objects.get(user=viewer, tenant=tenant)
    whose = f"(SELECT u.id FROM tenants_user u WHERE u.email = {mail})"
    insert(membership, some, {"user_id": whose})
    token = ApiToken.objects.filter(tenant=tenant).order_by("pk").last()
    assert token
    insert(token, some, {"name": "'token-' || s.n", "token_hash": "md5('token' || s.n)"})
    invitation = Invitation.objects.filter(tenant=tenant).first()
    assert invitation
    invited = {"email": "'invited-' || s.n || '@acme.example'", "token_hash": "md5('inv' || s.n)"}
    insert(invitation, some, invited)
    note = TenantNote.objects.filter(tenant=tenant).first()
    assert note
    insert(note, some, {"text": "'Note ' || s.n"})
    window = MaintenanceWindow.objects.create(
        tenant=tenant, weekday=0, starts_at="00:00", minutes=60
    )
    at = "time '00:00' + s.n * interval '10 minutes'"
    insert(window, numbered(min(crowd.few, 30)), {"starts_at": at, "weekday": "s.n %% 7"})
    consent = SupportConsent.objects.create(
        tenant=tenant,
        role=Role.VIEWER,
        given_by=SYSTEM.name,
        expires_at=timezone.now() + timedelta(hours=9),
        revoked_at=timezone.now(),
    )
    insert(consent, _for_each_customer(), {"tenant_id": "s.id", "revoked_at": "NULL"})


def _records(crowd: Crowd, tenant: Tenant) -> None:
    """Add operations, audit events and requests to read messages."""
    operation = Operation.objects.filter(tenant_id=tenant.pk, kind="address.create").first()
    event = AuditEvent.objects.filter(tenant_id=tenant.pk, action="address.create").first()
    request = MessageRequest.objects.filter(address__space__tenant=tenant).first()
    assert operation
    assert event
    assert request
    past = "now() - s.n * interval '1 minute'"
    named = {"id": "'op_c' || s.n", "created_at": past, "subject_id": "'adr_gone' || s.n"}
    insert(operation, numbered(crowd.many), named)
    theirs = {"id": f"'op_' || {_ID}", "tenant_id": "s.id", "created_at": past}
    insert(operation, _for_each_customer(times=min(crowd.few, 10)), theirs)
    insert(event, numbered(crowd.audited), {"at": past})
    their_events = {"tenant_id": "s.id", "at": past}
    insert(event, _for_each_customer(times=crowd.few), their_events)
    asked = {"id": "'req_c' || s.n", "created_at": past, "finished_at": "now()"}
    insert(request, numbered(crowd.few), asked)


def _notifications(crowd: Crowd, tenant: Tenant, space: AddressSpace) -> None:
    channel = Channel.objects.get(tenant=tenant)
    insert(channel, numbered(crowd.few), {"id": "'chn_c' || s.n", "name": "'channel-' || s.n"})
    event = Event.objects.filter(tenant=tenant).first()
    delivery = Delivery.objects.get(channel=channel)
    assert event
    past = "now() - s.n * interval '1 minute'"
    told = {"id": "'evt_c' || s.n", "dedup_key": "'crowd:' || s.n", "occurred_at": past}
    insert(event, numbered(crowd.many), told)
    sent = {
        "id": "'dlv_c' || s.n",
        "event_id": "'evt_c' || s.n",
        "created_at": past,
        "state": "'delivered'",
        "ended_at": past,
    }
    insert(delivery, numbered(crowd.many), sent)
    attempt = Attempt.objects.create(
        delivery=delivery, at=timezone.now(), status=500, duration_ms=30, error="It answered 500."
    )
    insert(attempt, numbered(min(crowd.few, 30)), {"at": past})
    mail = MailboxMessage.objects.order_by("pk").last()
    assert mail
    insert(mail, numbered(crowd.many), {"at": past})
    alarm = AddressAlarm.objects.filter(space=space).first()
    assert alarm
    is_mine = f"r.space_id IN (SELECT id FROM tenants_addressspace WHERE tenant_id='{tenant.pk}')"
    watched = {
        "id": "'alm_' || substr(s.id, 5)",
        "address_id": "s.id",
        "space_id": "s.space_id",
        "raised_at": "CASE WHEN s.address LIKE '%%7' THEN now() END",
    }
    insert(alarm, _for_each_address(is_mine), watched)
    trouble = SpaceTrouble.objects.create(
        space=space, began_at=timezone.now(), ended_at=timezone.now()
    )
    insert(trouble, numbered(crowd.few), {"began_at": past, "ended_at": past})


def _operators(crowd: Crowd, tenant: Tenant, space: AddressSpace) -> None:
    """Add kept volumes, limits of their own and alerts of customers."""
    kept = KeptVolumes.objects.get(space__tenant=tenant)
    gone = {"id": "'spc_gone' || s.n", "tenant_id": "'ten_c' || s.n", "name": "'gone-' || s.n"}
    insert(kept.space, numbered(crowd.customers), gone)
    insert(kept, numbered(crowd.customers), {"space_id": "'spc_gone' || s.n"})
    override = QuotaOverride.objects.get(tenant=tenant)
    tenth = "right(r.slug, 1) = '1'"
    insert(override, _for_each_customer(tenth), {"tenant_id": "s.id"})
    alert = QuotaAlert.objects.create(
        tenant=tenant,
        resource="messages_per_month",
        period_starts_at=rows.this_month(),
        level_percent=80,
        used=8,
        limit=10,
        action="notify",
    )
    insert(alert, _for_each_customer(tenth), {"tenant_id": "s.id"})


def _usage(crowd: Crowd, tenant: Tenant, space: AddressSpace) -> None:
    """Add usage since the beginning of last month: of queues by hour, of spaces by quarter."""
    begin = rows.last_month().starts_at
    rows.used(rows.cell(space, MESSAGES_IN, 1, begin, "orders/new"))
    pattern = UsageRecord.objects.get(tenant_id=tenant.pk)
    is_mine = f"x.tenant_id = '{tenant.pk}'"
    steps = f"generate_series(timestamptz '{begin.isoformat()}', now(), {{}})"
    hours = steps.format(f"interval '{crowd.usage_hours} hours'")
    quarters = steps.format(f"interval '{crowd.usage_hours} hours' / 4")
    used = (
        "(SELECT x.tenant_id, x.id AS space_id, a.address, m.meter, h.at, "
        "abs(hashtext(a.id)) %% 1000 AS quantity "
        "FROM tenants_address a JOIN tenants_addressspace x ON x.id = a.space_id, "
        f"{hours} h(at), (VALUES ('{MESSAGES_IN}'), ('{MESSAGES_OUT}')) m(meter) "
        f"WHERE a.address LIKE 'queue-%%' AND abs(hashtext(a.id)) %% {crowd.active} = 0 AND "
        f"({is_mine} OR extract(hour FROM h.at) = 0 AND extract(day FROM h.at) IN (1, 2))) s"
    )
    columns = {
        "tenant_id": "s.tenant_id",
        "space_id": "s.space_id",
        "address": "s.address",
        "meter": "s.meter",
        "bucket_at": "s.at + interval '15 minutes'",
        "quantity": "s.quantity",
    }
    insert(pattern, used, columns)
    of_space = (
        "(SELECT x.tenant_id, x.id AS space_id, '' AS address, m.meter, h.at, 900000 AS quantity "
        f"FROM tenants_addressspace x, {quarters} h(at), "
        f"(VALUES ('{CONNECTION_MS}'), ('{PEAK_CONNECTIONS}')) m(meter) "
        f"WHERE x.name LIKE 'space-%%' AND {is_mine}) s"
    )
    insert(pattern, of_space, columns)


def _invoices(crowd: Crowd, tenant: Tenant) -> None:
    """Add invoices of the months before last month to every tenant, the older ones paid."""
    pattern = Invoice.objects.get(tenant=tenant)
    months = "make_interval(months => s.n)"
    columns = {
        "id": f"'inv_' || {_ID}",
        "tenant_id": "s.id",
        "starts_at": f"p.starts_at - {months}",
        "ends_at": f"p.ends_at - {months}",
        "number": f"'CR-' || {_ID}",
        "state": "CASE WHEN s.n < 3 THEN 'issued' ELSE 'paid' END",
        "issued_at": f"p.issued_at - {months}",
        "due_at": f"p.due_at - {months}",
    }
    insert(pattern, each_numbered("tenants_tenant", crowd.months), columns)
    copied = each_numbered("plans_invoice", 1, "r.number LIKE 'CR-%%'")
    of_invoice: Mapping[str, str] = {"invoice_id": "s.id"}
    for line in InvoiceLine.objects.filter(invoice=pattern):
        insert(line, copied, of_invoice)
    for event in InvoiceEvent.objects.filter(invoice=pattern):
        insert(event, copied, of_invoice)
    payment = Payment.objects.create(
        invoice=pattern,
        source="manual",
        reference="crowd",
        amount_minor=1,
        recorded_by=SYSTEM.name,
        received_on=timezone.now().date(),
    )
    insert(payment, copied, {**of_invoice, "reference": "s.id"})
