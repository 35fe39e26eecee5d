"""Every page as owner, as a member without the role, as an outsider, as nobody, as the operator."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

from controlplane.console import help_pages, urls
from controlplane.core.audit import SYSTEM
from plans.catalog import publishing
from plans.invoicing import credit_notes
from plans.models import BackTest, CatalogDraft, CloseRun, Payment
from tenants.actions import catalog_drafts
from tenants.models import Address, KeptVolumes
from tenants.notifications.models import MailboxMessage
from tests.suites.portal.conftest import As
from tests.support.notifications import notified
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Page:
    """A page of the busy tenant: who besides the owner may GET it, and whether GET is allowed."""

    path: str
    developer: bool = True
    billing: bool = True
    is_get: bool = True


TENANT_PAGES = {
    "overview": Page(""),
    "export": Page("exports/usage.csv"),
    "invoice_pay": Page("invoices/INVOICE/pay", developer=False),
    "payments": Page("invoices/payments", developer=False),
    "spaces": Page("spaces/"),
    "space_new": Page("spaces/-/new", billing=False),
    "space": Page("spaces/orders/"),
    "space_status": Page("spaces/orders/status"),
    "space_activity": Page("spaces/orders/activity"),
    "space_settings": Page("spaces/orders/settings"),
    "space_plan": Page("spaces/orders/plan", billing=False),
    "space_labels": Page("spaces/orders/labels", billing=False),
    "address_labels": Page("spaces/orders/addresses/ADDRESS/labels", billing=False),
    "addresses_delete": Page("spaces/orders/addresses/-/delete", billing=False, is_get=False),
    "users_revoke": Page("spaces/orders/users/-/revoke", billing=False, is_get=False),
    "address_new": Page("spaces/orders/addresses/new", billing=False),
    "address": Page("spaces/orders/addresses/ADDRESS"),
    "address_live": Page("spaces/orders/addresses/ADDRESS/live"),
    "address_settings": Page("spaces/orders/addresses/ADDRESS/settings"),
    "alarms": Page("spaces/orders/addresses/ADDRESS/alarms"),
    "alarm_delete": Page(
        "spaces/orders/addresses/ADDRESS/alarms/alm_one/delete", billing=False, is_get=False
    ),
    "notifications": Page("notifications/"),
    "notification_defaults": Page("notifications/defaults", developer=False, billing=False),
    "channel_new": Page("notifications/channels/-/new", developer=False, billing=False),
    "channel": Page("notifications/channels/chn_one", developer=False, billing=False),
    "channel_test": Page(
        "notifications/channels/chn_one/test", developer=False, billing=False, is_get=False
    ),
    "channel_secret": Page(
        "notifications/channels/chn_one/secret", developer=False, billing=False, is_get=False
    ),
    "channel_delete": Page("notifications/channels/chn_one/delete", developer=False, billing=False),
    "delivery": Page("notifications/deliveries/dlv_one", developer=False, billing=False),
    "address_delete": Page("spaces/orders/addresses/ADDRESS/delete", billing=False),
    "messages": Page("spaces/orders/addresses/ADDRESS/messages", billing=False),
    "messages_send": Page("spaces/orders/addresses/ADDRESS/messages/send", billing=False),
    "messages_purge": Page("spaces/orders/addresses/ADDRESS/messages/purge", billing=False),
    "messages_change": Page("spaces/orders/addresses/ADDRESS/messages/change", billing=False),
    "space_users": Page("spaces/orders/users"),
    "user_new": Page("spaces/orders/users/new", billing=False),
    "user_password": Page("spaces/orders/users/checkout/password", billing=False),
    "user_revoke": Page("spaces/orders/users/checkout/revoke", billing=False),
    "space_connections": Page("spaces/orders/connections"),
    "connections_close": Page("spaces/orders/connections/close?user=checkout", billing=False),
    "first_message": Page("spaces/orders/first-message", billing=False),
    "space_connect": Page("spaces/orders/connect"),
    "space_certificate": Page("spaces/orders/certificate"),
    "usage": Page("usage/"),
    "usage_csv": Page("usage/cells.csv"),
    "spend_cap": Page("usage/spend-cap", developer=False),
    "invoices": Page("invoices/", developer=False),
    "invoice_preview": Page("invoices/preview", developer=False),
    "invoice": Page("invoices/INVOICE/", developer=False),
    "invoice_file": Page("invoices/INVOICE/file.csv", developer=False),
    "invoice_line": Page("invoices/INVOICE/lines/1", developer=False),
    "invoice_samples": Page("invoices/INVOICE/samples", developer=False),
    "invoice_change": Page("invoices/INVOICE/change", developer=False),
    "invoice_verify": Page("invoices/INVOICE/verify", developer=False, is_get=False),
    "team": Page("team/"),
    "member": Page("team/1/role", developer=False, billing=False, is_get=False),
    "member_remove": Page("team/1/remove", developer=False, billing=False, is_get=False),
    "member_transfer": Page("team/1/transfer", developer=False, billing=False, is_get=False),
    "invitation_send": Page(
        "team/invitations/1/send", developer=False, billing=False, is_get=False
    ),
    "invitation_revoke": Page(
        "team/invitations/1/revoke", developer=False, billing=False, is_get=False
    ),
    "token_rotate": Page("tokens/1/rotate", developer=False, billing=False, is_get=False),
    "tokens": Page("tokens/", developer=False, billing=False),
    "token_revoke": Page("tokens/1/revoke", developer=False, billing=False, is_get=False),
    "audit": Page("audit/", developer=False, billing=False),
    "tenant_export": Page("export.json", developer=False, billing=False),
    "tenant_close": Page("close", developer=False, billing=False),
    "tenant_close_undo": Page("close/undo", developer=False, billing=False, is_get=False),
    "audit_export": Page("audit/events.csv", developer=False, billing=False),
    "windows": Page("maintenance/"),
    "search": Page("search?q=new"),
    "tenant_alarms": Page("alarms/"),
    "login_provider": Page("settings/login", developer=False, billing=False),
    "login_provider_remove": Page(
        "settings/login/remove", developer=False, billing=False, is_get=False
    ),
    "support": Page("settings/support", developer=False, billing=False),
    "support_revoke": Page("settings/support/revoke", developer=False, billing=False, is_get=False),
    "settings": Page("settings/", developer=False),
    "credit": Page("credit/", developer=False),
    "follow": Page("settings/follow", developer=False, is_get=False),
    "credit_note_file": Page("credit-notes/NOTE.json", developer=False),
    "plan": Page("settings/plan", developer=False),
    # The last one: it ends the membership that the others need.
    "leave": Page("team/leave", is_get=False),
}
STAFF_PAGES = {
    "staff_tenants": Page("tenants/"),
    "staff_account_code": Page("finance/codes", is_get=False),
    "staff_charges": Page("finance/focus.csv"),
    "staff_finance": Page("finance/"),
    "staff_finance_report": Page("finance/journal.csv"),
    "staff_receivables": Page("finance/receivables/"),
    "staff_open_items": Page("finance/receivables/acme-shipping/"),
    "staff_periods_without_invoice": Page("finance/periods/"),
    "staff_tax_report": Page("finance/tax/"),
    "staff_overdue": Page("overdue/"),
    "staff_dunning_pause": Page("overdue/acme-shipping/pause"),
    "staff_dunning_resume": Page("overdue/acme-shipping/resume", is_get=False),
    "staff_payments": Page("payments/"),
    "staff_payment": Page("payments/1/"),
    "staff_tenant": Page("tenants/acme-shipping/"),
    "staff_suspend": Page("tenants/acme-shipping/suspend"),
    "staff_restore": Page("tenants/acme-shipping/restore", is_get=False),
    "staff_confirm_domains": Page("tenants/acme-shipping/confirm-domains", is_get=False),
    "staff_note": Page("tenants/acme-shipping/notes", is_get=False),
    "staff_note_delete": Page("tenants/acme-shipping/notes/1/delete", is_get=False),
    "staff_act": Page("tenants/acme-shipping/act", is_get=False),
    "staff_stop_acting": Page("acting/stop", is_get=False),
    "staff_close": Page("tenants/acme-shipping/close"),
    "staff_override_clear": Page("tenants/acme-shipping/overrides/spaces/clear", is_get=False),
    "staff_terms": Page("tenants/acme-shipping/terms"),
    "staff_tax": Page("tenants/acme-shipping/tax"),
    "staff_coupons": Page("coupons/"),
    "staff_invoices": Page("invoices/"),
    "staff_invoice": Page("invoices/INVOICE/"),
    "staff_invoice_verify": Page("invoices/INVOICE/verify", is_get=False),
    "staff_invoice_file": Page("invoices/INVOICE/file.csv"),
    "staff_credit_notes": Page("credit-notes/"),
    "staff_credit_note_file": Page("credit-notes/NOTE.json"),
    "staff_credit_note_verify": Page("credit-notes/NOTE/verify", is_get=False),
    "staff_invoice_line": Page("invoices/INVOICE/lines/1"),
    "staff_invoice_samples": Page("invoices/INVOICE/samples"),
    "staff_invoice_change": Page("invoices/INVOICE/change"),
    "staff_invoice_close": Page("invoices/INVOICE/close", is_get=False),
    "staff_invoice_release": Page("invoices/INVOICE/release", is_get=False),
    "staff_invoice_approve": Page("invoices/INVOICE/approve", is_get=False),
    "staff_invoice_issue": Page("invoices/INVOICE/issue", is_get=False),
    "staff_invoice_pay": Page("invoices/INVOICE/pay", is_get=False),
    "staff_invoice_credit": Page("invoices/INVOICE/credit", is_get=False),
    "staff_invoice_void": Page("invoices/INVOICE/void", is_get=False),
    "staff_invoice_replace": Page("invoices/INVOICE/replace"),
    "staff_invoice_write_off": Page("invoices/INVOICE/write-off", is_get=False),
    "staff_close_runs": Page("close-runs/"),
    "staff_close_run_start": Page("close-runs/start"),
    "staff_close_run": Page("close-runs/crn_one/"),
    "staff_close_run_approve": Page("close-runs/crn_one/approve"),
    "staff_close_run_issue": Page("close-runs/crn_one/issue"),
    "staff_mailbox": Page("mailbox/"),
    "staff_mail": Page("mailbox/1"),
    "staff_mails_send_again": Page("mailbox/send-again", is_get=False),
    "staff_fleet": Page("fleet/"),
    "staff_space": Page("fleet/spaces/SPACE/"),
    "staff_retry": Page("fleet/spaces/SPACE/retry", is_get=False),
    "staff_pipeline": Page("pipeline/"),
    "staff_quarantine": Page("pipeline/quarantine/"),
    "staff_health": Page("health/"),
    "staff_revenue": Page("revenue/"),
    "staff_prices": Page("prices/"),
    "staff_draft": Page("prices/drafts/cat_one"),
    "staff_draft_publish": Page("prices/drafts/cat_one/publish", is_get=False),
    "staff_draft_cancel": Page("prices/drafts/cat_one/cancel", is_get=False),
    "staff_draft_back_test": Page("prices/drafts/cat_one/back-test", is_get=False),
    "staff_back_test": Page("prices/back-tests/bkt_one"),
    "staff_back_test_csv": Page("prices/back-tests/bkt_one.csv"),
    "staff_volumes": Page("volumes/"),
    "staff_volumes_release": Page("volumes/SPACE/release"),
    "staff_audit": Page("audit/"),
    "staff_audit_export": Page("audit/events.csv"),
    "staff_search": Page("search?q=acme"),
    "staff_rollout": Page("fleet/rollout/pause", is_get=False),
}
LEARN_MORE = re.compile(r'<a class="learn-more" href="([^"]+)">Learn more: ')
UrlOf = Callable[[Page], str]
LINKED = re.compile(r"""(?:src|href|action)\s*=\s*["'](?:https?:)?//""")


def test_the_tables_above_name_every_page() -> None:
    tenant = [route.name for route in [*urls.tenant_urls, *urls.space_urls]]

    assert sorted(map(str, tenant)) == sorted(TENANT_PAGES)
    assert sorted(str(route.name) for route in urls.staff_urls) == sorted(STAFF_PAGES)


@pytest.fixture
def busy(world: World) -> Iterator[World]:
    """A tenant with something on every page."""
    space = rows.active_space(world.tenant)
    rows.address(space, "new")
    rows.messaging_user(space)
    KeptVolumes.objects.create(space=space)
    notified.alarm(Address.objects.get(space=space, address="new"), id="alm_one")
    notified.delivery(notified.webhook(world.tenant, id="chn_one"), id="dlv_one")
    CloseRun.objects.create(id="crn_one", requested_by="system")
    draft = catalog_drafts.prepare(yaml=publishing.default_yaml(), by=SYSTEM)
    draft = CatalogDraft.objects.create(
        id="cat_one", yaml=draft.yaml, document=draft.document, made_by="staff"
    )
    BackTest.objects.create(
        id="bkt_one", draft=draft, months=1, source="copy", until=timezone.now()
    )
    MailboxMessage.objects.create(pk=1, sender="a@op.test", recipients=["b@op.test"], subject="Hi")
    cells = [rows.cell(space, "messages_in", 5, rows.last_month().starts_at, "new")]
    rows.used(*cells, rows.cell(space, "messages_in", 7, rows.this_month(), "new"))
    invoice = rows.issued(world.tenant, cells)
    fee = invoice.lines.get(meter="plan_fee").position
    credit_notes.issue(invoice=invoice, wanted={fee: 1}, reason="x", by=SYSTEM)
    Payment.objects.create(
        pk=1,
        invoice=invoice,
        source="manual",
        reference="bank-0",
        amount_minor=1,
        recorded_by="staff",
        received_on=timezone.now().date(),
    )
    world.tenant.refresh_from_db()
    yield replace(world, tenant=world.tenant)
    assert invoice.number


def tenant_url(world: World, page: Page) -> str:
    path = page.path.replace("INVOICE", world.tenant.invoices.get().id)
    path = path.replace("NOTE", world.tenant.credit_notes.get().number)
    path = path.replace("ADDRESS", Address.objects.get(address="new").id)
    return f"/t/{world.tenant.slug}/{path}"


def staff_url(world: World, page: Page) -> str:
    path = page.path.replace("INVOICE", world.tenant.invoices.get().id)
    path = path.replace("NOTE", world.tenant.credit_notes.get().number)
    return "/staff/" + path.replace("SPACE", world.tenant.spaces.get().id)


def ask(client: Client, url: str, page: Page) -> int:
    return (client.get(url) if page.is_get else client.post(url)).status_code


def answers(client: Client, pages: dict[str, Page], url_of: UrlOf) -> dict[str, int]:
    """Return the status of every page, each asked the way it wants to be asked."""
    return {name: ask(client, url_of(page), page) for name, page in pages.items()}


def test_an_owner_gets_every_page_and_none_loads_anything_foreign(busy: World, as_: As) -> None:
    client, seen = as_(busy.owner), {}

    for name, page in TENANT_PAGES.items():
        if page.is_get:
            answer = client.get(tenant_url(busy, page))
            seen[name] = (answer.status_code, LINKED.findall(b"".join(answer).decode()))

    assert seen == dict.fromkeys(seen, (200, []))
    assert len(seen) > 20


def test_an_operator_gets_every_page_of_the_operator_area(busy: World, as_: As) -> None:
    client, seen = as_(busy.staff), {}

    for name, page in STAFF_PAGES.items():
        if page.is_get:
            answer = client.get(staff_url(busy, page))
            seen[name] = (answer.status_code, LINKED.findall(b"".join(answer).decode()))

    assert seen == dict.fromkeys(seen, (200, []))
    assert len(seen) == 49


def test_every_page_links_to_the_documentation_of_its_own(busy: World, as_: As) -> None:
    """Fragments and files have no frame and so no link; their pages have."""
    owner, staff, linked = as_(busy.owner), as_(busy.staff), {}

    for pages, client, url_of in (
        (TENANT_PAGES, owner, tenant_url),
        (STAFF_PAGES, staff, staff_url),
    ):
        for name, page in pages.items():
            answer = b"".join(client.get(url_of(busy, page))) if page.is_get else b""
            if b"<html" in answer:
                linked[name] = LEARN_MORE.findall(answer.decode())

    assert linked == {name: [help_pages.BY_ROUTE[name].url] for name in linked}
    assert len(linked) > 30


def test_every_route_has_a_page_of_the_documentation() -> None:
    patterns = [*urls.tenant_urls, *urls.space_urls, *urls.staff_urls, *urls.urlpatterns]
    routes = {str(getattr(pattern, "name", None)) for pattern in patterns}
    without = {"docs", "docs_page", "logout", "None"}  # the documentation; no page; an include

    assert sorted(routes - without) == sorted(help_pages.BY_ROUTE)


@pytest.mark.parametrize("role", ["developer", "billing"])
def test_a_member_gets_what_the_role_allows(role: str, busy: World, as_: As) -> None:
    person = busy.member if role == "developer" else busy.billing

    found = answers(as_(person), TENANT_PAGES, lambda page: tenant_url(busy, page))

    allowed = {name: getattr(page, role) for name, page in TENANT_PAGES.items()}
    assert {name: status != 403 for name, status in found.items()} == allowed


@pytest.mark.parametrize("who", ["outsider", "staff"])
def test_an_outsider_and_the_operator_find_nothing(who: str, busy: World, as_: As) -> None:
    found = answers(as_(getattr(busy, who)), TENANT_PAGES, lambda page: tenant_url(busy, page))

    assert found == dict.fromkeys(TENANT_PAGES, 404)


def test_the_operator_area_is_not_there_for_others(busy: World, as_: As) -> None:
    for person in (busy.owner, busy.outsider):
        found = answers(as_(person), STAFF_PAGES, lambda page: staff_url(busy, page))

        assert found == dict.fromkeys(STAFF_PAGES, 404)


def test_nobody_is_sent_to_the_login_and_back(busy: World, as_: As) -> None:
    urls_ = [tenant_url(busy, page) for page in TENANT_PAGES.values() if page.is_get]
    urls_ += [staff_url(busy, page) for page in STAFF_PAGES.values() if page.is_get]

    found = {url: as_(None).get(url).headers.get("Location") for url in urls_}

    assert found == {url: f"/login?next={quote(url)}" for url in urls_}


def test_nobody_changes_anything(busy: World, as_: As) -> None:
    changing = {name: page for name, page in TENANT_PAGES.items() if not page.is_get}
    staffed = {name: page for name, page in STAFF_PAGES.items() if not page.is_get}

    found = answers(as_(None), changing, lambda page: tenant_url(busy, page))
    found |= answers(as_(None), staffed, lambda page: staff_url(busy, page))

    assert found == dict.fromkeys(found, 302)


def test_what_changes_something_is_never_done_by_a_get(busy: World, as_: As) -> None:
    owner, staff = as_(busy.owner), as_(busy.staff)

    found = [owner.get(tenant_url(busy, p)) for p in TENANT_PAGES.values() if not p.is_get]
    found += [staff.get(staff_url(busy, p)) for p in STAFF_PAGES.values() if not p.is_get]

    assert {answer.status_code for answer in found} == {405}


def test_a_fragment_sends_the_whole_page_to_the_login(busy: World, as_: As) -> None:
    url = tenant_url(busy, TENANT_PAGES["space_status"])

    answer = as_(None).get(url, headers={"hx-request": "true"})

    assert answer["HX-Redirect"] == "/login"


def test_pages_tell_browsers_to_load_nothing_foreign_and_keep_nothing(busy: World, as_: As) -> None:
    answer = as_(busy.owner).get(tenant_url(busy, TENANT_PAGES["overview"]))

    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer["Cache-Control"] == "no-store"
    assert "style=" not in answer.content.decode()
    assert not re.search(r"<script(?![^>]*src=)", answer.content.decode())
