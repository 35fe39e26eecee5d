"""Every operation has an example that has the shape of a real answer, and so has every error.

``make examples`` sets WAYPOST_WRITE_EXAMPLES, and then the real answers become the examples.
"""

import asyncio
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from django.core.wsgi import get_wsgi_application
from django.db import OperationalError, transaction
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.accounts import device_login
from controlplane.api import examples, schema
from controlplane.web.application import Application, Limits
from controlplane.web.changes import Changes
from controlplane.web.requests import Message
from plans.catalog import publishing
from plans.invoice_formats import CREDIT_NOTE_FORMATS, INFO
from tenants import queries
from tests.suites.api.conftest import DETAILS, GRANT, Cast
from tests.support import identity_provider
from tests.support.plans import term_rows

WRITE = bool(os.environ.get("WAYPOST_WRITE_EXAMPLES"))
QUEUE = {"type": "queue", "plan": "brokered-small-queue"}
AT = {"address": "orders/new"}
PROVIDER = {
    "issuer": "https://login.acme.example",
    "client_id": "waypost",
    "client_secret": "the-secret-of-the-client",
    "domains": ["acme.example"],
    "default_role": "viewer",
    "group_roles": {"leads": "admin"},
}


@dataclass(frozen=True)
class Case:
    """One request of an operation: its body, query, path parameters, and what precedes it.

    A text of the body such as ``{secret}`` is one of the names of the scene.
    """

    body: Any = None
    query: str = ""
    path: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    caller: str = ""
    before: tuple[str, ...] = ()


NOTE = {"reason": "an outage", "lines": [{"position": 1, "amount_minor": 1}]}
READ_CREDIT_NOTES = (
    "list_credit_notes",
    "get_credit_note",
    *(INFO[kind].note_operation for kind in CREDIT_NOTE_FORMATS),
    "verify_credit_note",
    "get_credit_note_staff",
    *(INFO[kind].staff_note_operation for kind in CREDIT_NOTE_FORMATS),
    "verify_credit_note_staff",
)
COUPON = {
    "code": "LAUNCH",
    "title": "Launch",
    "percent": "50",
    "months": 3,
    "limit": 100,
    "reason": "the launch",
}
CAP = {"amount_minor": 10000, "action": "withdraw_send"}
# Operations that need more than the scene. All others are a request without a body.
CASES = {
    "log_in": Case({"email": "new@a.test", "password": "a-good-passphrase"}, before=("sign_up",)),
    "log_in_by_device": Case(
        {"id_token": "{id_token}", "access_token": "{access_token}", "nonce": "{nonce}"}
    ),
    "sign_up": Case(
        {"email": "new@a.test", "password": "a-good-passphrase", "organization": "Newcomers"}
    ),
    "publish_catalog": Case({"yaml": publishing.default_yaml(), "dry_run": True}),
    "prepare_catalog": Case({"yaml": publishing.default_yaml(), "note": "as shipped"}),
    "publish_catalog_draft": Case({"effective_at": "2030-01-01T00:00:00Z"}),
    "request_back_test": Case({"months": 3, "usage": "lakehouse"}),
    "release_held_invoice": Case(
        {"reason": "the disk of the broker is destroyed"}, path={"invoice": "held"}
    ),
    "approve_invoice": Case({"reason": "looks right"}),
    "issue_invoice": Case(before=("approve_invoice",)),
    "record_payment": Case(
        {"amount_minor": 1, "reference": "bank-1", "received_on": "2026-11-25"},
        before=("approve_invoice", "issue_invoice"),
    ),
    "list_payments": Case(before=("approve_invoice", "issue_invoice", "record_payment")),
    "issue_credit_note": Case(NOTE, before=("approve_invoice", "issue_invoice")),
    **{name: Case(before=("issue_credit_note",)) for name in READ_CREDIT_NOTES},
    "list_all_credit_notes": Case(before=("issue_credit_note",)),
    **{
        operation: Case(before=("approve_invoice", "issue_invoice"))
        for info in INFO.values()
        if info.is_final
        for operation in (info.operation, info.staff_operation)
    },
    "get_verification_invoice_staff": Case(path={"operation": "verification"}),
    "change_account_codes": Case({"codes": {"revenue": "4400", "tax": "1776"}}),
    "get_account_codes": Case(before=("change_account_codes",)),
    **{
        name: Case(before=("approve_invoice", "issue_invoice"))
        for name in (
            "get_journal",
            "get_deferred_revenue",
            "get_aged_receivables",
            "list_open_items_tenant",
            "get_tax_report",
        )
    },
    "void_invoice": Case({"reason": "never ordered"}, before=("approve_invoice", "issue_invoice")),
    **{
        name: Case(given, before=("approve_invoice", "issue_invoice"))
        for name, given in (
            ("preview_replacement_invoice", None),
            ("replace_invoice", {"reason": "wrong VAT id"}),
        )
    },
    "write_off_invoice": Case({"reason": "bankrupt"}, path={"invoice": "overdue"}),
    "start_close_run": Case({"again": True}),
    "approve_drafts_close_run": Case({"reason": "looks right"}),
    "issue_approved_invoices_close_run": Case(before=("approve_invoice",)),
    "explain_invoice_change": Case(query="?from=preview"),
    "read_samples_invoice": Case({"starts_at": None, "ends_at": None, "first": 5000}),
    "pay_invoice": Case(path={"invoice": "overdue"}),
    "refund_payment": Case(
        {"amount_minor": 10, "reason": "paid twice", "reference": "bank-9", "reopens": True}
    ),
    "list_tenant_payments": Case(before=("refund_payment",)),
    "list_all_payments": Case(before=("refund_payment",)),
    "pause_dunning": Case({"reason": "we talk about it", "until": "2030-01-31T00:00:00Z"}),
    "resume_dunning": Case(before=("pause_dunning",)),
    "create_coupon": Case(COUPON),
    "list_coupons": Case(before=("create_coupon",)),
    "redeem_coupon": Case({"code": "LAUNCH"}, before=("create_coupon",)),
    "give_discount": Case({"title": "Partner", "percent": "10", "reason": "a partner"}),
    "agree_on_commitment": Case(
        {"title": "Yearly deal", "minimum_minor": 15000, "reason": "the contract"}
    ),
    "grant_credit": Case(
        {"kind": "prepaid", "amount_minor": 5000, "reference": "bank-1", "reason": "paid ahead"}
    ),
    **{
        name: Case(before=("grant_credit", "give_discount", "agree_on_commitment"))
        for name in ("get_discounts_and_credit", "get_discounts_and_credit_tenant")
    },
    **{
        name: Case(before=("grant_credit",))
        for name in ("list_credit_movements", "list_credit_movements_tenant")
    },
    "pay_prepaid_credit_back": Case(
        {"amount_minor": 400, "reference": "back-1", "reason": "the customer leaves"}
    ),
    "end_discount": Case({"reason": "the partnership ended"}),
    "end_commitment": Case({"reason": "agreed by both", "ends_at": "2100-01-01T00:00:00Z"}),
    "end_coupon": Case({"reason": "the launch is over"}),
    "change_seller_tenant": Case(
        {"legal_entity": "waypost", "currency": "EUR", "reason": "the contract says so"}
    ),
    "record_answer_register": Case(
        {"is_registered": True, "reference": "WAPIAAAAX1"}, before=("replace_billing_details",)
    ),
    **{
        name: Case(before=("record_answer_register",))
        for name in ("get_tax_details", "get_tax_details_tenant")
    },
    "set_tax_exemption": Case(
        {
            "certificate": "2026-0815",
            "text": "Exempt from VAT: Section 4 no. 21 UStG",
            "starts_on": "2026-01-01",
            "ends_on": "2026-12-31",
        }
    ),
    "end_tax_exemption": Case({"ends_on": "2026-01-15", "reason": "withdrawn"}),
    "close_tenant_running_period_now": Case({"tenant": "other"}),
    "release_kept_volumes": Case(path={"space": "kept"}),
    "steer_rollout": Case({"reason": "holiday"}),
    "set_spend_cap": Case(CAP, headers={"If-None-Match": "*"}),
    "get_spend_cap": Case(before=("set_spend_cap",)),
    "remove_spend_cap": Case(before=("set_spend_cap",)),
    "simulate_spend_cap": Case(CAP),
    "override_quota": Case({"amount": 300, "reason": "launch"}, headers={"If-None-Match": "*"}),
    "get_override": Case(before=("override_quota",)),
    "drop_override": Case(before=("override_quota",)),
    "create_tenant": Case({"organization": "Second"}),
    "create_space": Case({"name": "two", "type": "brokered", "plan": "brokered-small"}),
    "change_space_plan": Case({"plan": "brokered-medium"}),
    "change_address_labels": Case({"labels": {"team": "shop"}}),
    "suspend_tenant": Case({"reason": "unpaid since May"}),
    "restore_tenant": Case(before=("suspend_tenant",)),
    "close_tenant": Case({"confirm": "acme"}),
    "create_address": Case({"address": "jobs", **QUEUE}),
    "create_or_change_address": Case({**QUEUE, "message_ttl_ms": 60000}),
    "create_many_addresses": Case({"items": [{"address": "a", **QUEUE}, {"address": "$b"}]}),
    "delete_many_addresses": Case({"names": ["orders/new", "none"]}),
    "revoke_many_messaging_users": Case({"names": ["app", "none"]}),
    "close_connections": Case({"user": "app"}),
    "browse_messages": Case(AT),
    "send_message": Case({**AT, "body": "hello", "properties": {"color": "red"}}),
    "purge_messages": Case(AT),
    "delete_messages": Case({**AT, "messages": ["broker-0:7"]}),
    "move_messages": Case({**AT, "to": "old", "messages": ["broker-0:7"]}),
    "resend_messages": Case({**AT, "rate": 100}),
    "create_messaging_user": Case(
        {"name": "shop", "password": "a-long-password", "permissions": GRANT}
    ),
    "change_messaging_user": Case({"permissions": GRANT}),
    "create_alarm": Case({**AT, "metric": "age", "threshold": 300, "for_seconds": 60}),
    "replace_limits_alarm": Case({"threshold": 500, "for_seconds": 60, "clear_below": 400}),
    "create_notification_channel": Case(
        {"name": "ci", "kind": "webhook", "url": "https://hooks.example/waypost"}
    ),
    "change_notification_channel": Case({"kinds": ["alarm.raised"]}),
    "change_notification_defaults": Case({"choices": {"alarm.raised": True}, "budget_minor": 5000}),
    "change_notification_preferences": Case({"choices": {"alarm.raised": False}}),
    "replace_billing_details": Case({**DETAILS, "tax_id": term_rows.VAT_ID}),
    "replace_maintenance_windows": Case(
        {"windows": [{"weekday": 6, "starts_at": "02:00", "minutes": 240}]}
    ),
    "get_maintenance_windows": Case(before=("replace_maintenance_windows",)),
    "set_identity_provider": Case(PROVIDER, headers={"If-None-Match": "*"}),
    "get_identity_provider": Case(before=("set_identity_provider",)),
    "set_identity_provider_tenant": Case(PROVIDER, headers={"If-None-Match": "*"}),
    "get_identity_provider_tenant": Case(before=("set_identity_provider",)),
    "confirm_domains_tenant": Case(
        {"domains": ["acme.example"]}, before=("set_identity_provider",)
    ),
    "invite_person": Case({"email": "new@b.test", "role": "viewer"}),
    "accept_invitation": Case({"token": "{secret}"}, caller="outsider"),
    "transfer_ownership": Case({"email": "viewer@a.test"}),
    "leave_tenant": Case(caller="developer"),
    "change_member_role": Case({"role": "developer"}),
    "change_plan": Case({"plan": "team", "follows": True}),
    "create_token": Case({"name": "deploy", "role": "developer"}),
    "get_usage_over_time": Case(query="?meter=messages_in"),
}
ERRORS = (
    "400",
    "401",
    "403",
    "404",
    "408",
    "409",
    "412",
    "413",
    "415",
    "422",
    "428",
    "429",
    "500",
    "503",
)


def operations() -> Iterator[tuple[str, str, str]]:
    """Yield (id, method, path) of each operation."""
    for path, methods in schema.document()["paths"].items():
        for method, operation in methods.items():
            yield operation["operationId"], method, path


OPERATIONS = {name: (method, path) for name, method, path in operations()}


def perform(cast: Cast, names: dict[str, str], name: str) -> Any:
    """Send the request of the operation, after those that precede it; return the answer."""
    case = CASES.get(name, Case())
    for earlier in case.before:
        done = perform(cast, names, earlier)
        assert done.status_code < 300, (earlier, done.content)
    method, template = OPERATIONS[name]
    own = {parameter: names[kind] for parameter, kind in case.path.items()}
    path = template.format(**{**names, **own}) + case.query
    if name in ("sign_up", "log_in", "log_in_by_device") or name.startswith(
        ("list_plans", "list_space_p")
    ):
        client: APIClient = cast.call("anonymous")
    elif name == "get_metrics":
        client = cast.call("token")
    else:
        client = cast.call(case.caller or ("staff" if "/staff/" in path else "owner"))
    body = filled(case.body, names)
    return getattr(client, method)(path, body, format="json", headers=case.headers)


def filled(body: Any, names: dict[str, str]) -> Any:
    """Return the body with ``{secret}`` and the like as the scene has them."""
    if not isinstance(body, dict):
        return body
    return {
        field: names[value[1:-1]] if value in [f"{{{name}}}" for name in names] else value
        for field, value in body.items()
    }


def trimmed(value: Any) -> Any:
    """Return a JSON value with at most two items in each list, no long text and no secret."""
    if isinstance(value, dict):
        return {name: trimmed(part) for name, part in value.items()}
    if isinstance(value, list):
        return [trimmed(part) for part in value[:2]]
    if isinstance(value, str) and re.match(r"(wps?|whsec)_", value):
        return value[:4] + "0" * 20
    if isinstance(value, str) and len(value) > 1000:  # a catalog
        return value[:200] + "…"
    if isinstance(value, str):
        return re.sub(
            f"^{re.escape('http://127.0.0.1:')}[0-9]+", "https://login.example.com", value
        )
    return value


def shape(value: Any) -> Any:
    """Return the names and the types in a JSON value."""
    if isinstance(value, dict):
        # The documents of invoices and catalogs have ids and keys of plans as names.
        return {n: type(v).__name__ if n == "document" else shape(v) for n, v in value.items()}
    if isinstance(value, list):
        return [shape(part) for part in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__


@pytest.fixture
def tokens(settings: Settings) -> Iterator[dict[str, str]]:
    """What an identity provider gives the command, and the nonce for it."""
    person = {"sub": "42", "email": "device@a.test", "email_verified": True}
    settings.PAYMENT_PROVIDER = "webhook"
    settings.PAYMENT_PAGE = "https://pay.example/?invoice={number}"
    settings.PAYMENT_WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    with identity_provider.running(person=person) as provider:
        settings.OIDC_ISSUER = provider.issuer
        settings.OIDC_DEVICE_CLIENT_ID = "waypost-command"
        nonce = device_login.new_nonce()
        found = provider.tokens(nonce, "waypost-command")
        names = ("id_token", "access_token")
        yield {**{name: found[name] for name in names}, "nonce": nonce}


@pytest.fixture(scope="module")
def written() -> Iterator[dict[str, Any]]:
    """What becomes the examples if they are written."""
    found: dict[str, Any] = {"operations": {}, "errors": {}}
    yield found
    if WRITE:
        text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
        examples.FILE.write_text(text + "\n", encoding="utf-8")


def test_every_operation_succeeds_and_its_example_has_the_shape_of_the_answer(
    cast: Cast, names: dict[str, str], tokens: dict[str, str], written: dict[str, Any]
) -> None:
    """All of them in one test, because the scene takes longer than the requests."""
    wrong, failed = {}, {}
    for name in OPERATIONS:
        sid = transaction.savepoint()
        answer = perform(cast, {**names, **tokens}, name)
        transaction.savepoint_rollback(sid)
        if answer.status_code >= 300:
            failed[name] = answer.content
            continue
        found: dict[str, Any] = {"responses": {}}
        if CASES.get(name, Case()).body is not None:
            found["request"] = trimmed(CASES[name].body)
        if answer.get("Content-Type") == "application/json" and "_document_json" not in name:
            found["responses"][str(answer.status_code)] = trimmed(answer.json())
        written["operations"][name] = found
        stored = examples.stored()["operations"].get(name, {})
        if shape(stored) != shape(found):
            wrong[name] = found
    assert failed == {}
    assert WRITE or wrong == {}, "run `make examples openapi` and commit the result"
    assert WRITE or set(examples.stored()["operations"]) == set(OPERATIONS)


async def slow(path: str) -> httpx.Response:
    """Return the web server's answer to a POST whose body never arrives."""
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    limits = Limits(body_seconds=0)
    server = Application(get_wsgi_application(), Changes({}), limits)
    await server({"type": "http", "path": path, "headers": []}, receive, send)
    await server.stop()
    return httpx.Response(sent[0]["status"], content=sent[1]["body"])


def refusals(
    cast: Cast, names: dict[str, str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """Yield one real answer of each error status."""
    owner, spaces = cast.call("owner"), cast.path("/address-spaces")
    space = cast.path("/address-spaces/main")
    yield owner.get(spaces, {"cursor": "x"})
    yield cast.call("anonymous").get(spaces)
    yield cast.call("viewer").post(spaces, CASES["create_space"].body)
    yield owner.get(cast.path("/address-spaces/none"))
    yield owner.post(spaces, {**CASES["create_space"].body, "name": "main"})
    yield owner.patch(space, {"plan": "brokered-medium"}, headers={"If-Match": '"0"'})
    yield owner.post(spaces, "a=1", content_type="text/plain")
    yield owner.post(spaces, {"name": "two", "type": "brokered", "plan": "gold"})
    yield owner.patch(space, {"plan": "x"}, headers={"If-Match": '"1"', "X": ""})
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    yield owner.post(spaces, CASES["create_space"].body)
    yield asyncio.run(slow(spaces))
    settings.API_CALLER_RATE = "0/min"
    yield owner.get(spaces)
    settings.API_CALLER_RATE = "1000/min"

    def fail(tenant: object) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(queries, "list_spaces", fail)
    yield owner.get(spaces)
    monkeypatch.setattr(queries, "list_spaces", lambda tenant: 1 / 0)
    yield owner.get(spaces)
    plain = APIClient()
    plain.credentials(HTTP_AUTHORIZATION=f"Bearer {cast.token(cast.tenant)}")
    yield plain.patch(space, {"plan": "brokered-medium"})


def test_every_error_has_the_shape_of_a_real_one(
    cast: Cast,
    names: dict[str, str],
    written: dict[str, Any],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {
        str(answer.status_code): trimmed(answer.json())
        for answer in refusals(cast, names, settings, monkeypatch)
    }
    written["errors"] = found

    assert set(found) == set(ERRORS)
    assert WRITE or shape(found) == shape(examples.stored()["errors"])


def test_every_documented_answer_has_an_example() -> None:
    without = [
        (operation["operationId"], status)
        for methods in schema.document()["paths"].values()
        for operation in methods.values()
        for status, response in operation["responses"].items()
        for media_type, content in response.get("content", {}).items()
        if media_type.endswith("json") and not {"example", "examples"} & set(content)
    ]

    # The 202 of a PUT that changes stands for the 200 of one that changes nothing, and the 202 of a
    # new plan for the 200 of new labels. The document of an invoice or credit note is in it.
    assert WRITE or without == [
        ("get_credit_note_document_json_staff", "200"),
        ("get_invoice_document_json_staff", "200"),
        ("change_space_plan", "200"),
        ("create_or_change_address", "200"),
        ("get_credit_note_document_json", "200"),
        ("get_invoice_document_json", "200"),
    ]
