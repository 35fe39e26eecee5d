"""The cast of the API's tests: one tenant with a person of each role, an outsider, staff."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.api import person_tokens
from controlplane.core import secrets, throttling
from controlplane.core.audit import SYSTEM
from plans.catalog import definitions, parsing, publishing
from plans.invoicing import invoice_closing, invoice_verification
from plans.invoicing.evidence import Evidence, TablePin, UsageKey
from plans.models import (
    AddressPlan,
    Invoice,
    PlanSubscription,
    SpacePlan,
)
from plans.usage import reading, recording
from tenants import queries
from tenants.actions import (
    address_spaces,
    addresses,
    api_tokens,
    invitations,
    message_requests,
    messaging_users,
    tenants,
)
from tenants.models import (
    Address,
    AddressReading,
    AddressSpace,
    ApiToken,
    ClientConnection,
    EngineRelease,
    KeptVolumes,
    Membership,
    Role,
    Rollout,
    SpaceReading,
    Tenant,
    User,
)
from tenants.notifications.models import Attempt
from tests.support.api import money_rows
from tests.support.metering import pipeline_rows
from tests.support.notifications import mails, notified
from tests.support.plans import read_samples, term_rows

ROLES = [role.value for role in Role]
GRANT = [{"addresses": ["orders/*"], "operations": ["send", "recv"]}]
MESSAGE = {
    "id": "broker-0:7",
    "sent_ms": 1_795_000_000_123,
    "expires_ms": 0,
    "size": 12,
    "durable": True,
    "priority": 4,
    "group": "",
    "deliveries": 1,
    "came_from": "",
    "properties": {},
    "application_properties": {"color": "red"},
    "body": "hello",
    "is_binary": False,
    "is_whole": True,
}
DETAILS = {
    "billing_name": "Acme Ltd",
    "billing_email": "bills@a.test",
    "billing_address": "1 Road",
    "billing_country": "DE",
}


@pytest.fixture(autouse=True)
def quick_settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache without a server, and rates that nobody reaches."""
    monkeypatch.setattr(throttling, "_paused_until", 0.0)
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "api"}
    }
    settings.SIGNUP_RATE = settings.LOGIN_RATE = settings.ACCOUNT_RATE = "1000/min"
    settings.API_CALLER_RATE = settings.API_TENANT_RATE = "100000/min"


@dataclass
class Cast:
    """Two tenants and everybody who may knock; ``call(name)`` is a client of one of them."""

    tenant: Tenant
    other: Tenant
    people: dict[str, User] = field(default_factory=dict)

    def call(self, name: str) -> APIClient:
        """Return a client of a role, of outsider, staff, anonymous, token, or other_token."""
        client = APIClient()
        if name == "anonymous":
            return client
        if name.endswith("token"):
            return bearer(self.token(self.other if name == "other_token" else self.tenant))
        return bearer(person_tokens.issue(self.people[name], timezone.now())[0])

    def token(self, tenant: Tenant, role: str = Role.OWNER) -> str:
        """Return a new token of ``tenant``."""
        name = f"test-{ApiToken.objects.count()}"
        return api_tokens.issue(tenant=tenant, name=name, role=role, expires_at=None, by=SYSTEM)[1]

    def path(self, rest: str = "") -> str:
        """Return a path of the tenant."""
        return f"/api/v1/tenants/{self.tenant.slug}{rest}"


class Caller(APIClient):
    """A client whose PUT and PATCH change any state, unless a test sends a condition itself."""

    def generic(  # type: ignore[override]  # the stubs of its three bases differ
        self, method: str, path: str, *args: Any, **more: Any
    ) -> Any:
        """Send a request; see the class."""
        sent = {name.lower().replace("-", "_") for name in [*more, *(more.get("headers") or {})]}
        conditions = {"http_if_match", "http_if_none_match", "if_match", "if_none_match"}
        if method in ("PUT", "PATCH") and not sent & conditions:
            more["HTTP_IF_MATCH"] = "*"
        return super().generic(method, path, *args, **more)


def bearer(token: str) -> APIClient:
    """Return a client that sends ``token``."""
    client = Caller()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


@pytest.fixture(scope="session")
def parsed_catalog() -> definitions.Catalog:
    """The default catalog; parsing it takes longer than most tests."""
    return parsing.parse(publishing.default_yaml())


@pytest.fixture
def catalog(db: None, parsed_catalog: definitions.Catalog) -> None:
    """The default catalog, published."""
    publishing.publish(parsed_catalog, by=SYSTEM)


@pytest.fixture
def cast(catalog: None) -> Cast:
    """A tenant on Business, an outsider with a tenant of their own, staff without any."""
    mine, theirs = (
        tenants.sign_up(email=email, password=None, organization=name, plan_key="business")
        for email, name in (("owner@a.test", "Acme"), ("outsider@b.test", "Other"))
    )
    people = {"owner": mine.user, "outsider": theirs.user}
    for role in ROLES:
        if role != Role.OWNER:
            people[role] = User.objects.create_user(f"{role}@a.test", f"{role}@a.test")
            Membership.objects.create(tenant=mine.tenant, user=people[role], role=role)
    people["staff"] = User.objects.create_user("staff@op.test", "staff@op.test", is_staff=True)
    return Cast(mine.tenant, theirs.tenant, people)


@pytest.fixture
def tenant(cast: Cast) -> Tenant:
    """The tenant."""
    return cast.tenant


@pytest.fixture
def owner(cast: Cast) -> APIClient:
    """A client of the owner."""
    return cast.call("owner")


@pytest.fixture
def staff(cast: Cast) -> APIClient:
    """A client of the operator."""
    return cast.call("staff")


@pytest.fixture
def space(tenant: Tenant) -> AddressSpace:
    """A brokered space ``main``."""
    return address_spaces.create(
        tenant=tenant, name="main", type="brokered", space_plan="brokered-small", by=SYSTEM
    )[0]


@pytest.fixture
def queue(space: AddressSpace) -> Address:
    """The queue ``orders/new`` in it."""
    return addresses.create(
        space=space,
        address="orders/new",
        type="queue",
        address_plan="brokered-small-queue",
        by=SYSTEM,
    )[0]


@pytest.fixture
def make_spaces(catalog: None) -> Callable[..., list[AddressSpace]]:
    """Return a maker of many rows at once, past quotas and placement."""

    def make(tenant: Tenant, n: int, addresses_each: int = 0) -> list[AddressSpace]:
        plan = SpacePlan.objects.get(key="brokered-small", retired=False)
        made = AddressSpace.objects.bulk_create(
            AddressSpace(tenant=tenant, name=f"s{i:05}", type="brokered", space_plan=plan)
            for i in range(n)
        )
        queue_plan = AddressPlan.objects.get(key="brokered-small-queue", retired=False)
        Address.objects.bulk_create(
            Address(space=space, address=f"q{i:05}", type="queue", address_plan=queue_plan)
            for space in made
            for i in range(addresses_each)
        )
        return made

    return make


@pytest.fixture
def used(cast: Cast, space: AddressSpace) -> list[reading.UsageCell]:
    """Usage of this month: 5 messages in, 7 out, on ``orders``."""
    month = timezone.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    cells = [
        reading.UsageCell(cast.tenant.pk, space.pk, "orders", "messages_in", month, 5),
        reading.UsageCell(cast.tenant.pk, space.pk, "orders", "messages_out", month, 7),
        reading.UsageCell(cast.other.pk, "spc_other", "x", "messages_in", month, 1000),
    ]
    recording.copy_in(
        table_id="gold", table_version=1, as_of=timezone.now(), days=[month.date()], cells=cells
    )
    return cells


@pytest.fixture
def draft(
    cast: Cast,
    owner: APIClient,
    staff: APIClient,
    space: AddressSpace,
    used: list[reading.UsageCell],
) -> Invoice:
    """An invoice of the running month, closed now and past its validation."""
    owner.put(cast.path("/billing-details"), DETAILS)
    PlanSubscription.objects.filter(ends_at__isnull=True).update(starts_at=used[0].bucket_at)
    answer = staff.post("/api/v1/staff/invoices/close-now", {"tenant": "acme"})
    assert answer.status_code == 202, answer.content
    invoice = Invoice.objects.get(pk=answer.json()["subject_id"])
    figures = {
        UsageKey(cell.space_id, cell.address, cell.meter): cell.quantity
        for cell in used
        if cell.tenant_id == cast.tenant.pk
    }
    evidence = Evidence(
        as_of=timezone.now(),
        tables={"bronze.samples": TablePin("b", 1)},
        sample_hash="h",
        n_samples=2,
        gold=figures,
        recomputed=figures,
        sampled_spaces=frozenset({space.pk}),
        pipeline_version="1",
    )
    closed = invoice_closing.close(invoice=invoice, evidence=evidence, by=SYSTEM)
    assert closed.state == "draft", closed.held_reasons
    return closed


@pytest.fixture
def rollout(space: AddressSpace) -> Rollout:
    """Release 2 on its way: the one space was moved long ago, and is not ready."""
    former, release = (
        EngineRelease.objects.create(number=n, broker_image=f"broker:{n}") for n in (1, 2)
    )
    type(space).objects.update(
        release=release,
        observed_release=former,
        released_at="2026-01-01T00:00:00Z",
        conditions=[{"type": "Ready", "status": "False", "message": "broker-0: no image"}],
    )
    return Rollout.objects.create(release=release, former=former, is_configured=True)


@pytest.fixture
def names(
    cast: Cast, space: AddressSpace, queue: Address, draft: Invoice, rollout: Rollout
) -> dict[str, str]:
    """A furnished tenant: the path parameters of objects that exist, one of each kind."""
    addresses.create(
        space=space, address="old", type="queue", address_plan="brokered-small-queue", by=SYSTEM
    )
    messaging_users.create(
        space=space, name="app", password="long-enough-1", permissions=GRANT, by=SYSTEM
    )
    token = api_tokens.issue(
        tenant=cast.tenant, name="ci", role="viewer", expires_at=None, by=SYSTEM
    )[0]
    invited = invitations.invite(
        tenant=cast.tenant, email="outsider@b.test", role="viewer", by=SYSTEM
    )
    browse = message_requests.browse(address=queue, by=SYSTEM)
    row = queries.get_message_request(space, browse.subject_id)
    row.sealed = secrets.encrypt(json.dumps({"messages": [MESSAGE], "next": "broker-0:7"}))
    row.save()
    gone = observed(space, queue)
    delivery = notified.delivery(notified.webhook(cast.tenant))
    Attempt.objects.create(
        delivery=delivery, at=delivery.created_at, status=500, duration_ms=7, error="HTTP 500"
    )
    return {
        "tenant": "acme",
        "space": "main",
        "address": "orders/new",
        "user": "app",
        "email": "viewer@a.test",
        "token": str(token.pk),
        "operation": browse.pk,
        "invoice": draft.pk,
        "verification": invoice_verification.request_verify(invoice=draft, by=SYSTEM).pk,
        "credit_note": "WAYPOST-CN-000001",
        "reading": read_samples.finished(draft).pk,
        **money_rows.furnish(draft, cast.other),
        "page": row.pk,
        "legal_entity": "waypost",
        "resource": "spaces",
        "verb": "pause",
        "alarm": notified.alarm(queue).pk,
        "invitation": str(invited.pk),
        "secret": mails.newest_link("/invitations/").rpartition("/")[2],
        "channel": delivery.channel_id,
        "delivery": delivery.pk,
        "kept": gone.pk,
        **term_rows.furnish(cast.tenant),
    }


def observed(space: AddressSpace, queue: Address) -> AddressSpace:
    """Store what workers see of the space; return a deleted space whose volumes are kept."""
    now = timezone.now()
    pipeline_rows.run(now, n_samples=120, n_files=2, n_quarantined=1)
    pipeline_rows.run(now, job="housekeeping", files={"gold.usage": 3})
    pipeline_rows.quarantined(now, 1)
    SpaceReading.objects.create(space=space, answered={"broker-0": now.isoformat()})
    AddressReading.objects.create(
        address=queue,
        parts={"broker-0": {"depth": 7, "stored_bytes": 700, "consumers": 2, "producers": 1}},
        messages_in=9,
        messages_out=2,
    )
    ClientConnection.objects.create(
        space=space,
        instance="broker-0",
        name="broker-0.c1",
        messaging_user="app",
        container="shop-1",
        remote_host="203.0.113.9:40000",
        protocol="AMQP",
        links=2,
        addresses=["orders/new"],
        opened_at=now,
    )
    gone = AddressSpace.objects.create(
        tenant=space.tenant,
        name="gone",
        type="brokered",
        space_plan=space.space_plan,
        deletion_requested_at=now,
        deleted_at=now,
        phase="Terminating",
    )
    KeptVolumes.objects.create(space=gone)
    ready = {"type": "Ready", "status": "False", "reason": "BrokerStarting"}
    since = {"message": "broker-0 starts.", "since": now.isoformat()}
    AddressSpace.objects.filter(pk=space.pk).update(conditions=[{**ready, **since}])
    return gone


def problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    """Return the body of a refusal after looking at what all of them have."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    body = answer.json()
    members = ["type", "title", "status", "detail", "instance", "code", "fields"]
    assert list(body)[: len(members)] == members
    # One meaning: {field of the request: [reason, ...]}.
    for reasons in body["fields"].values():
        assert reasons
        assert all(isinstance(reason, str) for reason in reasons), body
    assert (body["status"], body["code"]) == (status, code)
    return dict(body)


SOON = timedelta(days=1)
