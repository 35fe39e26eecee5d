"""Every route as everybody: owner, each role, outsider, anonymous, token, another's token, staff.

``ROUTES`` says who may; a test below fails when a route of the API is missing in it.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLResolver, get_resolver

from controlplane.core.audit import SYSTEM
from tenants import permissions
from tenants.actions import identity_providers
from tenants.models import Address, MessageRequestKind
from tests.suites.api.conftest import ROLES, Cast, problem
from tests.support.answers import Answer
from tests.support.notifications import notified

ALL = set(ROLES)
MESSAGING = {"owner", "admin", "developer"}
BILLING = {"owner", "admin", "billing"}
ADMINS = {"owner", "admin"}
OWNERS = {"owner"}

SPACE = "/address-spaces/main"
ADDRESS = {"type": "queue", "plan": "brokered-small-queue"}
AT = {"address": "orders/new"}
CHANNEL = {"name": "new", "kind": "webhook", "url": "https://hooks.example/a"}
USER = {"name": "u1", "password": "long-enough", "permissions": []}
PROVIDER: dict[str, Any] = {
    "issuer": "https://login.acme.example",
    "client_id": "waypost",
    "client_secret": "the-secret-of-the-client",
    "domains": ["acme.example"],
    "default_role": "viewer",
}


EXPORT_FORMATS = ("csv", "parquet")
FORMATS = ("cii.xml", "facturx.pdf", "ubl.xml", "json")


@dataclass(frozen=True)
class Route:
    """One method of one path of the tenant, who may call it, and what it answers them."""

    method: str
    path: str
    roles: frozenset[str]
    status: int
    body: object = None


def route(method: str, path: str, roles: set[str], status: int, body: object = None) -> Route:
    return Route(method, path, frozenset(roles), status, body)


ROUTES = [
    route("GET", "", ALL, 200),
    route("GET", "/billing-details", BILLING, 200),
    route("PUT", "/billing-details", BILLING, 422, {"nonsense": 1}),
    route("GET", "/plan-subscription", ALL, 200),
    route("PUT", "/plan-subscription", BILLING, 200, {"plan": "business"}),
    route("GET", "/quotas", ALL, 200),
    *(route("GET", f"/exports/focus.{form}", BILLING, 200) for form in EXPORT_FORMATS),
    *(route("GET", f"/exports/usage.{form}", ALL, 200) for form in EXPORT_FORMATS),
    *(route("GET", f"/credit-notes/none.{form}", BILLING, 404) for form in FORMATS),
    *(route("GET", f"/invoices/none.{form}", BILLING, 404) for form in FORMATS[:3]),
    route("GET", "/invoices/none/change?from=preview", BILLING, 404),
    route("GET", "/invoices/none/lines/1", BILLING, 404),
    route("POST", "/invoices/none/sample-readings", BILLING, 404),
    route("GET", "/invoices/none/sample-readings/none", BILLING, 404),
    route("GET", "/invoices/none/sample-readings/none/counters", BILLING, 404),
    route("GET", "/invoices/none/sample-readings/none/samples", BILLING, 404),
    route("GET", "/spend-cap", BILLING, 404),
    route("PUT", "/spend-cap", BILLING, 422, {"nonsense": 1}),
    route("DELETE", "/spend-cap", BILLING, 204),
    route("POST", "/spend-cap/simulation", BILLING, 422, {"nonsense": 1}),
    route("GET", "/members", ALL, 200),
    route("POST", "/transfer-ownership", OWNERS, 404, {"email": "nobody@x.test"}),
    route("GET", "/closure", OWNERS, 200),
    route("POST", "/closure", OWNERS, 200, {"confirm": "acme"}),
    route("DELETE", "/closure", OWNERS, 200),
    route("GET", "/export", OWNERS, 200),
    route("GET", "/identity-provider", OWNERS, 200),
    route("PUT", "/identity-provider", OWNERS, 200, PROVIDER),
    route("DELETE", "/identity-provider", OWNERS, 204),
    route("GET", "/invitations", ADMINS, 200),
    route("POST", "/invitations", ADMINS, 201, {"email": "outsider@b.test", "role": "viewer"}),
    route("DELETE", "/invitations/0", ADMINS, 404),
    route("POST", "/invitations/0/send", ADMINS, 404),
    route("GET", "/members/viewer@a.test", ALL, 200),
    route("PUT", "/members/viewer@a.test", ADMINS, 200, {"role": "developer"}),
    route("DELETE", "/members/viewer@a.test", ADMINS, 204),
    route("GET", "/tokens", ADMINS, 200),
    route("POST", "/tokens", ADMINS, 201, {"name": "ci", "role": "developer"}),
    route("DELETE", "/tokens/0", ADMINS, 404),
    route("POST", "/tokens/0/rotate", ADMINS, 404),
    route("POST", f"{SPACE}/messages/browse", MESSAGING, 202, AT),
    route("POST", f"{SPACE}/messages/send", MESSAGING, 202, {**AT, "body": "x"}),
    route("POST", f"{SPACE}/messages/purge", MESSAGING, 202, AT),
    route("POST", f"{SPACE}/messages/delete", MESSAGING, 202, {**AT, "messages": ["broker-0:1"]}),
    route("POST", f"{SPACE}/messages/move", MESSAGING, 422, {**AT, "to": "orders/new"}),
    route("POST", f"{SPACE}/messages/resend", MESSAGING, 202, {**AT, "rate": 5}),
    route("GET", f"{SPACE}/messages/pages/none", MESSAGING, 404),
    route("GET", "/audit-events", ADMINS, 200),
    route("GET", "/operations", ALL, 200),
    route("GET", "/operations/none", ALL, 404),
    route("GET", "/usage", ALL, 200),
    route("GET", "/usage.csv", ALL, 200),
    route("GET", "/maintenance-windows", ALL, 200),
    route("PUT", "/maintenance-windows", MESSAGING, 200, {"windows": []}),
    route("GET", "/usage/series?meter=messages_in", ALL, 200),
    route("GET", "/usage/costs", BILLING, 200),
    route("GET", "/invoices", BILLING, 200),
    route("GET", "/invoices/preview", BILLING, 200),
    route("GET", "/invoices/none", BILLING, 404),
    route("GET", "/invoices/none.pdf", BILLING, 404),
    route("GET", "/invoices/none.csv", BILLING, 404),
    route("GET", "/invoices/none.json", BILLING, 404),
    route("POST", "/invoices/none/verify", BILLING, 404),
    route("POST", "/invoices/none/checkout", BILLING, 404),
    route("GET", "/payments", BILLING, 200),
    route("GET", "/credit-notes", BILLING, 200),
    route("GET", "/credit-notes/none", BILLING, 404),
    route("GET", "/credit-notes/none.pdf", BILLING, 404),
    route("POST", "/credit-notes/none/verify", BILLING, 404),
    route("GET", "/benefits", BILLING, 200),
    route("POST", "/coupons", BILLING, 404, {"code": "NONE"}),
    route("GET", "/credit-movements", BILLING, 200),
    route("GET", "/seller", BILLING, 200),
    route("GET", "/tax-details", BILLING, 200),
    route("GET", "/address-spaces", ALL, 200),
    route(
        "POST",
        "/address-spaces",
        MESSAGING,
        202,
        {"name": "two", "type": "brokered", "plan": "brokered-small"},
    ),
    route("GET", SPACE, ALL, 200),
    route("PATCH", SPACE, MESSAGING, 202, {"plan": "brokered-medium"}),
    route("DELETE", SPACE, MESSAGING, 202),
    route("GET", f"{SPACE}/events", ALL, 200),
    route("GET", f"{SPACE}/addresses", ALL, 200),
    route("POST", f"{SPACE}/addresses", MESSAGING, 202, {"address": "a", **ADDRESS}),
    route("GET", f"{SPACE}/addresses/orders/new", ALL, 200),
    route("PUT", f"{SPACE}/addresses/b", MESSAGING, 202, ADDRESS),
    route("DELETE", f"{SPACE}/addresses/orders/new", MESSAGING, 202),
    route("GET", f"{SPACE}/addresses/orders/new/history", ALL, 200),
    route(
        "POST",
        f"{SPACE}/bulk/create-addresses",
        MESSAGING,
        200,
        {"items": [{"address": "c", **ADDRESS}]},
    ),
    route("POST", f"{SPACE}/bulk/delete-addresses", MESSAGING, 200, {"names": ["orders/new"]}),
    route("POST", f"{SPACE}/bulk/revoke-users", MESSAGING, 200, {"names": ["none"]}),
    route("GET", f"{SPACE}/users", ALL, 200),
    route("POST", f"{SPACE}/users", MESSAGING, 202, USER),
    route("GET", f"{SPACE}/users/none", ALL, 404),
    route("PUT", f"{SPACE}/users/none", MESSAGING, 404, {"permissions": []}),
    route("DELETE", f"{SPACE}/users/none", MESSAGING, 404),
    route("GET", f"{SPACE}/alarms", ALL, 200),
    route("POST", f"{SPACE}/alarms", MESSAGING, 201, {**AT, "metric": "depth", "threshold": 5}),
    route("GET", f"{SPACE}/alarms/alm_one", ALL, 200),
    route("PUT", f"{SPACE}/alarms/alm_one", MESSAGING, 200, {"threshold": 7}),
    route("DELETE", f"{SPACE}/alarms/alm_one", MESSAGING, 204),
    route("GET", "/notification-kinds", ALL, 200),
    route("GET", "/notification-channels", ADMINS, 200),
    route("POST", "/notification-channels", ADMINS, 201, CHANNEL),
    route("GET", "/notification-channels/chn_one", ADMINS, 200),
    route("PATCH", "/notification-channels/chn_one", ADMINS, 200, {"name": "other"}),
    route("DELETE", "/notification-channels/chn_one", ADMINS, 204),
    route("POST", "/notification-channels/chn_one/test", ADMINS, 204),
    route("POST", "/notification-channels/chn_one/secret", ADMINS, 200),
    route("GET", "/notification-deliveries", ADMINS, 200),
    route("GET", "/notification-deliveries/dlv_one", ADMINS, 200),
    route("POST", "/notification-deliveries/dlv_one/replay", ADMINS, 202),
    route("GET", "/notification-preferences", ADMINS, 200),
    route("PATCH", "/notification-preferences", ADMINS, 200, {"budget_minor": 500}),
    route("GET", f"{SPACE}/connections", ALL, 200),
    route("POST", f"{SPACE}/connections/close", MESSAGING, 404, {"ids": ["broker-0.none"]}),
]
STAFF_ROUTES = [
    ("GET", "/staff/catalog", 200),
    ("POST", "/staff/catalog", 422),
    ("GET", "/staff/catalog/versions", 200),
    ("GET", "/staff/catalog/drafts", 200),
    ("POST", "/staff/catalog/drafts", 422),
    ("GET", "/staff/catalog/drafts/none", 404),
    ("POST", "/staff/catalog/drafts/none/publish", 404),
    ("POST", "/staff/catalog/drafts/none/cancel", 404),
    ("POST", "/staff/catalog/drafts/none/back-tests", 404),
    ("GET", "/staff/back-tests/none", 404),
    ("GET", "/staff/back-tests/none.csv", 404),
    ("GET", "/staff/back-tests/none/months", 404),
    ("GET", "/staff/rollouts", 200),
    ("GET", "/staff/rollout", 404),
    ("POST", "/staff/rollout/pause", 409),
    ("POST", "/staff/rollout/none", 404),
    ("GET", "/staff/kept-volumes", 200),
    ("POST", "/staff/kept-volumes/none/release", 404),
    ("GET", "/staff/tenants", 200),
    ("GET", "/staff/tenants/acme", 200),
    ("POST", "/staff/tenants/acme/suspend", 422),
    ("POST", "/staff/tenants/acme/restore", 200),
    ("GET", "/staff/tenants/acme/identity-provider", 404),
    ("PUT", "/staff/tenants/acme/identity-provider", 422),
    ("POST", "/staff/tenants/acme/identity-provider/confirm-domains", 422),
    ("GET", "/staff/tenants/acme/quotas", 200),
    ("GET", "/staff/tenants/acme/quotas/spaces", 404),
    ("PUT", "/staff/tenants/acme/quotas/spaces", 422),
    ("DELETE", "/staff/tenants/acme/quotas/spaces", 204),
    ("GET", "/staff/account-codes/waypost", 200),
    ("POST", "/staff/account-codes/waypost", 422),
    ("GET", "/staff/aged-receivables", 200),
    ("GET", "/staff/aged-receivables.csv", 200),
    ("GET", "/staff/tenants/acme/open-items", 200),
    ("GET", "/staff/periods-without-invoice", 200),
    ("GET", "/staff/periods-without-invoice.csv", 200),
    ("GET", "/staff/tax-report", 200),
    ("GET", "/staff/tax-report.csv", 200),
    ("GET", "/staff/reverse-charge.csv", 200),
    ("GET", "/staff/deferred-revenue", 200),
    ("GET", "/staff/deferred-revenue.csv", 200),
    ("GET", "/staff/exports/focus.csv", 200),
    ("GET", "/staff/exports/focus.parquet", 200),
    ("GET", "/staff/journal", 200),
    ("GET", "/staff/journal.csv", 200),
    ("GET", "/staff/pipeline", 200),
    ("GET", "/staff/pipeline/quarantine", 200),
    ("GET", "/staff/pipeline/runs", 200),
    ("GET", "/staff/close-runs", 200),
    ("POST", "/staff/close-runs", 409),
    ("GET", "/staff/close-runs/none", 404),
    ("GET", "/staff/close-runs/none/invoices", 404),
    ("POST", "/staff/close-runs/none/approve", 404),
    ("POST", "/staff/close-runs/none/issue", 404),
    ("GET", "/staff/invoices", 200),
    ("POST", "/staff/invoices/close-now", 422),
    ("GET", "/staff/invoices/none", 404),
    *(("GET", f"/staff/invoices/none.{form}", 404) for form in (*FORMATS, "csv", "pdf")),
    ("POST", "/staff/invoices/none/verify", 404),
    ("GET", "/staff/invoices/none/verifications/none", 404),
    ("POST", "/staff/invoices/none/close", 404),
    ("POST", "/staff/invoices/none/release", 422),
    ("POST", "/staff/invoices/none/approve", 404),
    ("POST", "/staff/invoices/none/issue", 404),
    ("GET", "/staff/credit-notes", 200),
    ("GET", "/staff/credit-notes/none", 404),
    *(("GET", f"/staff/credit-notes/none.{form}", 404) for form in (*FORMATS, "pdf")),
    ("POST", "/staff/credit-notes/none/verify", 404),
    ("GET", "/staff/invoices/none/payments", 404),
    ("POST", "/staff/invoices/none/payments", 422),
    ("POST", "/staff/invoices/none/credit-notes", 422),
    ("POST", "/staff/invoices/none/void", 404),
    ("GET", "/staff/invoices/none/replacement", 404),
    ("POST", "/staff/invoices/none/replacement", 422),
    ("POST", "/staff/invoices/none/write-off", 404),
    ("GET", "/staff/payments", 200),
    ("POST", "/staff/payments/0/refunds", 422),
    ("GET", "/staff/payment-events", 200),
    ("GET", "/staff/overdue", 200),
    ("POST", "/staff/tenants/acme/pause-dunning", 422),
    ("POST", "/staff/tenants/acme/resume-dunning", 409),
    ("GET", "/staff/coupons", 200),
    ("POST", "/staff/coupons", 422),
    ("POST", "/staff/coupons/none/end", 422),
    ("POST", "/staff/tenants/acme/discounts/none/end", 422),
    ("POST", "/staff/tenants/acme/commitments/none/end", 422),
    ("GET", "/staff/tenants/acme/credit-movements", 200),
    ("GET", "/staff/tenants/acme/seller", 200),
    ("POST", "/staff/tenants/acme/seller", 422),
    ("GET", "/staff/tenants/acme/tax-details", 200),
    ("POST", "/staff/tenants/acme/tax-id-answers", 422),
    ("POST", "/staff/tenants/acme/tax-exemptions", 422),
    ("POST", "/staff/tenants/acme/tax-exemptions/none/end", 422),
    ("GET", "/staff/tenants/acme/benefits", 200),
    ("POST", "/staff/tenants/acme/discounts", 422),
    ("POST", "/staff/tenants/acme/commitments", 422),
    ("POST", "/staff/tenants/acme/credits", 422),
    ("POST", "/staff/tenants/acme/credits/none/pay-back", 422),
]
_OWN = "/tenants/acme/notification-preferences/me"
PERSONAL_ROUTES = [
    ("GET", "/me", 200),
    ("GET", "/tenants", 200),
    ("POST", "/tenants", 422),
    ("GET", _OWN, 200),
    ("PATCH", _OWN, 422),
    ("POST", "/invitations/accept", 422),
]
# test_people_and_tokens.py tries it as everybody: the last owner gets another answer.
LEAVE = "/tenants/*/leave"
# Anybody may try to log in or sign up: test_sessions.py and test_device_login.py do.
LOGINS = {"/signup", "/session", "/session/device"}
PUBLIC_ROUTES = [
    "/plans",
    "/sellers",
    "/space-plans",
    "/address-plans",
    "/login-options",
    "/openapi.json",
    "/problems",
]


def send(client: Client, route: Route, path: str) -> Answer:
    """Return the answer to ``route`` on ``path``; a PUT of a new address only creates."""
    condition = {"If-None-Match": "*"} if path.endswith("/addresses/b") else {"If-Match": "*"}
    headers = condition if route.method in ("PUT", "PATCH") else {}
    body = "" if route.body is None else json.dumps(route.body)
    return client.generic(route.method, path, body, "application/json", headers=headers)


@pytest.fixture
def furnished(cast: Cast, queue: Address) -> Cast:
    """The cast, with a provider, a space, a queue in it, an alarm, a channel and a delivery."""
    wish = identity_providers.Wish(**PROVIDER)
    identity_providers.save(tenant=cast.tenant, wish=wish, by=SYSTEM)
    notified.alarm(queue, id="alm_one")
    notified.delivery(notified.webhook(cast.tenant, id="chn_one"), id="dlv_one")
    return cast


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_route_answers_everybody_as_the_table_says(furnished: Cast, route: Route) -> None:
    """One test for all callers, because the rows take longer to make than the answers."""
    path = furnished.path(route.path)

    for role in ROLES:
        answer = undone(furnished, role, route)
        if role in route.roles:
            assert answer.status_code == route.status, (role, answer.content)
        else:
            body = problem(answer, 403, "denied")
            assert role in body["detail"]
    token = undone(furnished, "token", route)
    strangers = [
        send(furnished.call(name), route, path) for name in ("outsider", "other_token", "staff")
    ]
    anonymous = send(furnished.call("anonymous"), route, path)

    assert token.status_code == route.status, token.content
    for answer in strangers:
        problem(answer, 404, "missing")
    problem(anonymous, 401, "credentials.missing")
    assert anonymous["WWW-Authenticate"] == 'Bearer realm="waypost"'


def undone(furnished: Cast, name: str, route: Route) -> Answer:
    """Return the answer to ``route``, whose changes are rolled back."""
    sid = transaction.savepoint()
    answer = send(furnished.call(name), route, furnished.path(route.path))
    transaction.savepoint_rollback(sid)
    return answer


@pytest.mark.parametrize("kind", MessageRequestKind.values)
def test_a_permission_on_messages_opens_its_operation_and_no_other(
    furnished: Cast, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = frozenset({permissions.OF_MESSAGES[kind]})
    monkeypatch.setattr(permissions, "ROLES", {**permissions.ROLES, "viewer": only})
    routes = {route.path: route for route in ROUTES if "/messages/" in route.path}

    opened = set()
    for path, route in routes.items():
        answer = send(furnished.call("viewer"), route, furnished.path(path))
        if answer.status_code == 403:
            problem(answer, 403, "denied")
        else:
            assert answer.status_code == route.status, (path, answer.content)
            opened.add(path.removeprefix(f"{SPACE}/messages/"))

    assert opened == ({"browse", "pages/none"} if kind == "browse" else {kind})


@pytest.mark.parametrize(("method", "path", "status"), STAFF_ROUTES)
def test_staff_route_is_for_staff_only(cast: Cast, method: str, path: str, status: int) -> None:
    answers = {
        name: cast.call(name).generic(method, f"/api/v1{path}", "{}", "application/json")
        for name in ("owner", "outsider", "token", "anonymous", "staff")
    }

    for name in ("owner", "outsider", "token"):
        problem(answers[name], 404, "missing")
    problem(answers["anonymous"], 401, "credentials.missing")
    assert answers["staff"].status_code == status, answers["staff"].content


@pytest.mark.parametrize(("method", "path", "status"), PERSONAL_ROUTES)
def test_personal_route_needs_a_login(cast: Cast, method: str, path: str, status: int) -> None:
    stranger = cast.call("anonymous").generic(method, f"/api/v1{path}", "{}", "application/json")
    viewer = cast.call("viewer").generic(method, f"/api/v1{path}", "{}", "application/json")

    problem(stranger, 401, "credentials.missing")
    assert viewer.status_code == status


@pytest.mark.parametrize("path", PUBLIC_ROUTES)
def test_public_route_needs_no_login(cast: Cast, path: str) -> None:
    assert cast.call("anonymous").get(f"/api/v1{path}").status_code == 200


def test_wrong_token_is_refused_even_on_a_public_route(client: Client, catalog: None) -> None:
    answer = client.get("/api/v1/plans", headers={"Authorization": "Bearer wp_nonsense"})

    problem(answer, 401, "credentials.invalid")


def test_table_has_every_route_of_the_api() -> None:
    known = {route.path.partition("?")[0] for route in ROUTES}
    shapes = {_shape(f"/tenants/acme{path}") for path in known}
    shapes |= {_shape(path) for _, path, _ in (*STAFF_ROUTES, *PERSONAL_ROUTES)}
    shapes |= set(PUBLIC_ROUTES) | LOGINS | {LEAVE}

    assert {_shape("/" + path) for path in _paths()} - shapes == set()


def _paths() -> list[str]:
    (api,) = [
        entry
        for entry in get_resolver().url_patterns
        if isinstance(entry, URLResolver) and str(entry.pattern) == "api/v1/"
    ]
    patterns = [str(entry.pattern) for entry in api.url_patterns]
    return [pattern for pattern in patterns if pattern != "^.*$"]


def _shape(path: str) -> str:
    """Return a path with its names blanked: what stands in <> or where the table has a value."""
    path = re.sub(r"<\w+:\w+>", "*", path)
    path = re.sub(r"^(/staff)?/tenants/acme", r"\1/tenants/*", path)
    path = re.sub(r"/address-spaces/main", "/address-spaces/*", path)
    path = re.sub(r"/addresses/(orders/new|b)(?=/history$|$)", "/addresses/*", path)
    path = re.sub(r"/members/[^/]+@.*$", "/members/*", path)
    path = re.sub(r"/(quotas|account-codes|lines)/(?:spaces|waypost|1)$", r"/\1/*", path)
    return re.sub(r"/(none|0|alm_one|chn_one|dlv_one)(?=[./]|$)", "/*", path)
