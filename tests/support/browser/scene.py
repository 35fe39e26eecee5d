"""Rows for every state of the messaging pages: spaces, addresses, readings, messages, connections.

Made through the product's own actions; only what workers would observe is set by hand.
"""

import json
import math
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django.utils import timezone

from controlplane.core import operations, secrets
from controlplane.core.audit import SYSTEM
from controlplane.core.models import Operation
from plans.catalog import parsing, publishing
from plans.invoicing import credit_notes, discounting, granting, issuing, refunding
from plans.invoicing.granting import Wish
from plans.models import (
    CloseRun,
    CloseRunInvoice,
    Invoice,
    PaymentDispute,
    PaymentEvent,
    PlanSubscription,
)
from plans.quotas.resources import Resource
from plans.rating import periods
from plans.usage.meters import MESSAGES_IN
from tenants import reading_history
from tenants.actions import (
    labels,
    message_requests,
    quota_overrides,
    rollouts,
    support_access,
    suspensions,
    tax_details,
    tenant_notes,
    tenants,
)
from tenants.models import (
    Address,
    AddressReading,
    AddressSpace,
    KeptVolumes,
    MessageRequest,
    SpaceReading,
    Tenant,
)
from tenants.notifications.models import Delivery, MailboxMessage
from tenants.reading_history import MINUTES, QUARTERS, History
from tenants.rollouts import Window
from tests.support.metering import pipeline_rows
from tests.support.notifications import notified
from tests.support.plans import read_samples, term_rows, usage_tails
from tests.support.portal import abroad, rows
from tests.support.portal.rows import World
from workers.messaging.observed import ConnectionSeen, InstanceSnapshot
from workers.metering import connection_lists

# As long as a name may be without a place to break it, and what looks like markup.
LONG_NAME = "warehouse/leeds/" + "pallets-waiting-for-collection-" * 4 + "<b>"
_WAVE = timedelta(hours=5)  # of the traffic in the charts
_DEPTH = 1234
MAIL = 1_000_000  # the id of the mail in the mailbox: later ones do not collide with it


@dataclass(frozen=True)
class Scene:
    """What the pages show. ``requests`` has the ids of requests to read messages, by outcome."""

    world: World
    addresses: dict[str, Address]
    requests: dict[str, str]

    def path(self, name: str, *parts: str) -> str:
        """Return the path of a page of the address with the key ``name`` in ``addresses``."""
        address = self.addresses[name]
        space = f"/t/{address.space.tenant.slug}/spaces/{address.space.name}"
        return "/".join([f"{space}/addresses/{address.pk}", *parts])


def make() -> Scene:
    """Return a tenant with four spaces: in use, new, empty, and with a broker that is down."""
    world = rows.world("business")
    busy = rows.active_space(world.tenant, "orders")
    addresses = _addresses(busy)
    for user in ("checkout", "reports"):
        rows.messaging_user(busy, user)
    _connect(busy)
    _new_spaces(world)
    addresses |= _broken_space(world)
    now = timezone.now()
    SpaceReading.objects.create(
        space=busy, answered={name: now.isoformat() for name in ("broker-0", "router-0")}
    )
    for name in ("invoices", "dead", "long"):
        _read(addresses[name], now)
    _notify(world, addresses)
    _bill(world, busy)
    AddressSpace.objects.filter(pk=busy.pk).update(probed_at=now - timedelta(minutes=4))
    _agree(world)
    _operate(world)
    _use_up()
    abroad.sell()
    # The tenant stays with its version of Business, which is not on offer any more.
    dearer = publishing.default_yaml().replace('["100", "0.70"]', '["100", "0.80"]')
    publishing.publish(parsing.parse(dearer), by=SYSTEM)
    return Scene(world, addresses, _requests(addresses, world))


def _bill(world: World, busy: AddressSpace) -> None:
    """Give the tenant usage of this month and of last month, an invoice, labels and a window."""
    labels.replace(row=busy, labels={"team": "checkout", "env": "prod"}, by=SYSTEM)
    window = Window(weekday=6, starts_at=time(22), minutes=240)
    rollouts.set_windows(tenant=world.tenant, windows=[window], by=SYSTEM)
    before = [rows.cell(busy, "messages_in", 70_000_000, rows.last_month().starts_at, "invoices")]
    start = rows.this_month()
    days = [start + timedelta(days=n) for n in range((timezone.now() - start).days + 1)]
    rows.used(
        *before,
        *(rows.cell(busy, "messages_in", 9_000_000 + 200_000 * d.day, d, "invoices") for d in days),
        *(
            rows.cell(busy, "messages_out", 8_000_000 + 300_000 * d.day, d, "invoices")
            for d in days
        ),
    )
    last = rows.last_month()
    rows.issued(world.tenant, [], periods.month_of(last.starts_at - timedelta(days=1), "UTC"))
    invoice = rows.issued(world.tenant, before)
    read_samples.finished(invoice)
    reason = "Your brokers were down on two days."
    credit_notes.issue(invoice=invoice, wanted={1: 500}, reason=reason, by=rows.STAFF)
    _pay(invoice)


def _pay(invoice: Invoice) -> None:
    """Pay a part of the invoice, refund and dispute it, and let the due time pass."""
    now = timezone.now()
    payment = issuing.record_payment(
        invoice=invoice,
        amount_minor=1000,
        source="manual",
        reference="SEPA 2026-11-25 / 0049",
        received_on=now.date(),
        by=rows.STAFF,
    )
    wanted = refunding.Wanted(300, "Paid twice", reopens=True, reference="SEPA back 17")
    refunding.book(payment, wanted, by=rows.STAFF, now=now)
    PaymentDispute.objects.create(
        payment=payment, source="manual", reference="dp_1", amount_minor=700, opened_at=now
    )
    PaymentEvent.objects.create(
        provider="stripe",
        event_id="evt_1PqT8zLkdIwHu7ix",
        kind="payment.succeeded",
        occurred_at=now,
        received_at=now,
        state=PaymentEvent.State.REFUSED,
        message="It names no invoice of this installation.",
    )
    assert invoice.due_at is not None
    issuing.mark_overdue(by=rows.STAFF, now=invoice.due_at + timedelta(days=1))


def _agree(world: World) -> None:
    """Give the tenant credit, terms, a VAT id and a certificate, and the other tenant a trial."""
    now, tenant = timezone.now(), world.tenant
    for wish in (
        Wish("promotional", 2500, "launch-gift", "a gift", now + timedelta(days=30)),
        Wish("prepaid", 40_000, "bank-2026-11-03", "paid in advance"),
    ):
        granting.grant(tenant=tenant, wish=wish, by=rows.STAFF)
    Tenant.objects.filter(pk=tenant.pk).update(tax_id=term_rows.VAT_ID, billing_country="DE")
    tenant.refresh_from_db()
    tax_details.record_answer(
        tenant=tenant, is_registered=True, reference="WAPIAAAAX1", by=rows.STAFF
    )
    term_rows.furnish(tenant)
    discounting.commit(
        tenant=tenant, title="Yearly deal", minimum_minor=900_000, span=None, by=rows.STAFF
    )
    # Of the other tenant, because a subscription of an issued invoice never changes.
    trial = PlanSubscription.objects.filter(tenant=world.other)
    trial.update(trial_ends_at=now + timedelta(days=9))


def _owe(late: Tenant) -> None:
    """Give the tenant an invoice that is overdue. Its last month has no invoice."""
    before = periods.month_of(rows.last_month().starts_at - timedelta(days=1), "UTC")
    approved = issuing.approve(invoice=rows.drafted(late, month=before), by=rows.STAFF)
    issuing.issue(invoice=approved, by=rows.STAFF, now=timezone.now() - timedelta(days=50))
    issuing.mark_overdue(by=rows.STAFF)


def _operate(world: World) -> None:
    """Give operators a note, a consent, kept volumes, and a suspended tenant."""
    tenant_notes.write(tenant=world.tenant, text="Pays late.\nCall Olga first.", by=rows.STAFF)
    support_access.give_consent(tenant=world.tenant, role="developer", hours=24, by=SYSTEM)
    late = tenants.sign_up(
        email="late@payer.example",
        password=rows.PASSWORD,
        organization="Late Payer",
        plan_key="team",
    ).tenant
    _owe(late)
    gone = rows.active_space(late, "gone")
    now = timezone.now()
    AddressSpace.objects.filter(pk=gone.pk).update(deletion_requested_at=now, deleted_at=now)
    KeptVolumes.objects.create(space=gone)
    suspensions.suspend(tenant=late, reason="The invoice EU-7 is not paid.", by=rows.STAFF)
    _close(world, late)
    _compute_usage(now)


def _close(world: World, late: Tenant) -> None:
    """Make a close run that goes on: one invoice is issued, one is held, one is left."""
    run = CloseRun.objects.create(
        requested_by="system",
        requested_at=timezone.now(),
        step=CloseRun.Step.RECOMPUTATION,
        message="no answer from broker-0",
    )
    month = rows.last_month()
    reason = {"code": "billing_details.missing", "message": "Fill in the billing country."}
    held, left = (
        Invoice.objects.create(
            tenant=late,
            starts_at=month.starts_at + timedelta(days=n),
            ends_at=month.starts_at + timedelta(days=n + 1),
            state=state,
            held_reasons=reasons,
        )
        for n, (state, reasons) in enumerate(
            [(Invoice.State.HELD, [reason]), (Invoice.State.CLOSING, [])]
        )
    )
    for invoice in (world.tenant.invoices.latest("starts_at"), held):
        CloseRunInvoice.objects.create(run=run, invoice=invoice, done_at=timezone.now())
    CloseRunInvoice.objects.create(run=run, invoice=left)


def _compute_usage(now: datetime) -> None:
    """Give the pipeline a day of runs, the last of which failed, and quarantined samples."""
    for n in range(1, 60):
        begun = now - timedelta(minutes=20 * n)
        pipeline_rows.run(
            begun, n_samples=900 + 37 * (n % 11), n_files=5, cpu_seconds=18 + n % 7,
            n_quarantined=int(n % 9 == 0), as_of=begun - timedelta(seconds=50 + 9 * (n % 5)),
        )  # fmt: skip
    files = {"bronze.samples": 412, "state.buckets": 61, "gold.usage": 58}
    pipeline_rows.run(now - timedelta(hours=8), job="housekeeping", files=files, cpu_seconds=41)
    pipeline_rows.run(now, error_code="metering.pipeline_failed", seconds=2)
    pipeline_rows.quarantined(now, 1)
    pipeline_rows.quarantined(now, 2, "time", address="invoices/a-rather-long-name-of-a-queue")


def _use_up() -> None:
    """Make a tenant whose quota of messages is used up, so that its programs cannot send."""
    full = tenants.sign_up(
        email="full@carts.example",
        password=rows.PASSWORD,
        organization="Full Carts",
        plan_key="free",
    ).tenant
    carts = rows.active_space(full, "carts", "brokered-small")
    rows.address(carts, "lines")
    quota_overrides.set_override(
        tenant=full,
        resource=Resource.MESSAGES_PER_MONTH,
        amount=1000,
        reason="trial",
        expires_at=None,
        by=rows.STAFF,
    )
    usage_tails.evaluate(full.pk, {MESSAGES_IN: 1200}, timezone.now())
    rows.real(carts)


def _notify(world: World, addresses: dict[str, Address]) -> None:
    """Give the tenant a channel that fails, with a delivery, and alarms; keep a mail."""
    now = timezone.now()
    channel = notified.webhook(world.tenant, id="chn_one", failing_since=now)
    delivery = notified.delivery(channel, id="dlv_one", attempts=1)
    delivery.log.create(at=now, status=500, duration_ms=31, error="The receiver answered 500.")
    notified.alarm(addresses["invoices"], raised_at=now, breached_since=now, last_value=_DEPTH)
    notified.alarm(addresses["invoices"], "age", 3600)
    given_up = notified.delivery(channel, id="dlv_mail", attempts=9)
    Delivery.objects.filter(pk=given_up.pk).update(
        channel=None,
        user=world.owner,
        email=world.owner.email,
        state=Delivery.State.FAILED,
        ended_at=now,
        reason="The mail server refused the receiver: [550] There is no such mailbox here.",
    )
    MailboxMessage.objects.create(
        pk=MAIL,
        sender="waypost@localhost",
        recipients=["olga@acme.example"],
        subject="Alarm: invoices in orders: 1,234 messages",
        text="The address invoices has 1,234 messages.\n\nhttps://waypost.example/t/acme-shipping/",
    )


def _addresses(space: AddressSpace) -> dict[str, Address]:
    dead = rows.address(space, "invoices.dead", "deadletter")
    return {
        "invoices": rows.address(space, "invoices"),
        "dead": dead,
        "long": rows.address(space, LONG_NAME),
        "unread": rows.address(space, "reminders"),
        "changing": rows.address(space, "returns"),
        "topic": rows.address(space, "prices", "topic"),
        "direct": rows.address(space, "quotes", "anycast"),
    }


def _new_spaces(world: World) -> None:
    """Make a space that is being configured, and one that has nothing in it yet."""
    rows.in_progress(rows.space(world.tenant, "new"))
    rows.active_space(world.tenant, "empty", "brokered-small")
    quiet = rows.active_space(world.tenant, "quiet")
    rows.address(quiet, "letters")
    rows.messaging_user(quiet)


def _broken_space(world: World) -> dict[str, Address]:
    """Make a space whose broker died ten minutes ago, with a reading from before that."""
    space = rows.active_space(world.tenant, "broken", "brokered-small")
    address = rows.address(space, "letters")
    rows.messaging_user(space)
    then = timezone.now() - timedelta(minutes=10)
    SpaceReading.objects.create(space=space, answered={"broker-0": then.isoformat()})
    _read(address, then)
    down = {
        "type": "Ready",
        "status": "False",
        "reason": "BrokerDown",
        "message": "broker-0 does not run; it is being started again.",
        "since": then.isoformat(),
    }
    for row in (space, address):
        type(row).objects.filter(pk=row.pk).update(phase="Configuring", conditions=[down])
    AddressSpace.objects.filter(pk=space.pk).update(probed_at=then)
    return {"broken": address}


def _read(address: Address, at: datetime) -> None:
    """Store a newest reading of ``at``, and 30 days of history before it."""
    part = {
        "depth": _DEPTH,
        "stored_bytes": 99_304,
        "delivering": 12,
        "consumers": 2,
        "producers": 1,
        "expired": 0,
        "dead_lettered": 3,
        "oldest_at": (at - timedelta(hours=2)).isoformat(),
        "arrived": 1,
        "left": 0,
    }
    parts = {"broker-0": part}
    if address.space.type == "standard":
        # The routers know the receivers of a queue there.
        parts["router-0"] = {"consumers": 2, "producers": 1}
    Address.objects.filter(pk=address.pk).update(probed_at=at - timedelta(minutes=4))
    AddressReading.objects.create(
        address=address,
        parts=parts,
        in_per_second=2.5,
        out_per_second=1234.567,
        messages_in=1_240_000,
        messages_out=1_238_766,
    )
    for history, length in ((MINUTES, timedelta(hours=24)), (QUARTERS, timedelta(days=30))):
        _store(history, address, at, length)


def _store(history: History, address: Address, until: datetime, length: timedelta) -> None:
    """Store rows of full periods, which would take thousands of statements step by step."""
    period = history.step * history.steps
    begin = reading_history.floor(until - length, period)
    for starts_at in (begin + number * period for number in range(length // period + 1)):
        came, left, depths = [], [], []
        for at in (starts_at + number * history.step for number in range(history.steps)):
            share = (1 + math.sin(2 * math.pi * (at.timestamp() / _WAVE.total_seconds()))) / 2
            came.append(int(share * 60 * (history.step // MINUTES.step)))
            left.append(came[-1] - came[-1] // 20)
            depths.append(int(share * _DEPTH))
        history.model._default_manager.create(
            address=address,
            starts_at=starts_at,
            last_step=history.steps,
            messages_in=came,
            messages_out=left,
            depth=depths,
            stored_bytes=[80 * depth for depth in depths],
            consumers=[2] * history.steps,
        )


def _connect(space: AddressSpace) -> None:
    opened = timezone.now() - timedelta(hours=30)
    product, tls = "qpid-jms 2.6.1", "TLSv1.3 TLS_AES_256_GCM_SHA384"
    clients = [
        ConnectionSeen(
            "7",
            "checkout",
            "till-<1>",
            "10.0.0.9:41234",
            "AMQP",
            product,
            tls,
            opened,
            2,
            3,
            ["invoices", LONG_NAME],
            1_234_567,
            12,
        ),
        ConnectionSeen("8", "reports", "a" * 90, "10.0.0.8:4", "AMQP", opened_at=opened, links=1),
        ConnectionSeen("9", "", "", "10.0.0.7:51000"),
    ]
    taken = {"router-0": InstanceSnapshot("boot", (), clients, 0)}
    connection_lists.store(space.id, taken, existing=taken, as_of=timezone.now())


def _message(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"broker-0:{number}",
        "body": f'{{"order": {number}, "note": "ring the bell"}}',
        "size": 1234,
        "deliveries": 1,
        "came_from": "",
        "is_binary": False,
        "is_whole": True,
        "durable": True,
        "priority": 4,
        "group": "",
        "properties": {"message_id": f"ID:{number}", "content_type": "application/json"},
        "application_properties": {"region": "eu", "attempt": number},
        **more,
    }


def _requests(addresses: dict[str, Address], world: World) -> dict[str, str]:
    """Return the ids of requests to read messages: each ended in another way, one still runs."""
    messages = [
        _message(7),
        _message(8, body="x" * 9000, is_whole=False, group="till-1", deliveries=4),
        _message(1234567890, body="00 01 fe ff", is_binary=True, durable=False),
        _message(9, body="", properties={}, application_properties={}),
    ]
    dead = [_message(20, came_from="invoices", deliveries=10), _message(21, came_from=LONG_NAME)]
    made = {
        "stored": _browsed(addresses["invoices"], messages, "broker-0:9"),
        "dead": _browsed(addresses["dead"], dead, ""),
        "none": _browsed(addresses["unread"], [], ""),
        "running": _browse(addresses["invoices"]),
        "failed": _browse(addresses["invoices"]),
    }
    operations.fail(
        message_requests.SUBJECT,
        made["failed"],
        code="broker.unreachable",
        message="broker-0 did not answer within 5 seconds: try again when the space is Active.",
    )
    finished = MessageRequest.objects.filter(pk=made["failed"])
    finished.update(finished_at=timezone.now())
    actor = rows.STAFF
    made["change"] = message_requests.purge(address=addresses["changing"], by=actor).subject_id
    steps = [{"name": "purge", "state": "running", "message": "1,000 of 5,000 are deleted."}]
    operations.progress(message_requests.SUBJECT, made["change"], steps)
    return made


def _browse(address: Address) -> str:
    return message_requests.browse(address=address, by=rows.STAFF).subject_id


def _browsed(address: Address, messages: list[dict[str, Any]], following: str) -> str:
    request = _browse(address)
    page = secrets.encrypt(json.dumps({"messages": messages, "next": following}))
    MessageRequest.objects.filter(pk=request).update(sealed=page, finished_at=timezone.now())
    Operation.objects.filter(subject_id=request).update(
        state="Succeeded", finished_at=timezone.now()
    )
    return request
