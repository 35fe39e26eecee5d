"""The operator's audit page: the filter by tenant, and the files."""

import csv
import io
import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.console import audit_reads
from controlplane.core import audit
from controlplane.core.audit import Actor
from tests.suites.portal.conftest import As
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
URL = "/staff/audit/"


@pytest.fixture
def busy(world: World) -> World:
    """A tenant for which an operator acted, and an event of the installation."""
    subject = audit.Subject("tenant", world.tenant.pk, "=cmd", world.tenant.pk)
    audit.record(
        Actor("user:staff@operator.example", "198.51.100.9"),
        "quota_override.set",
        subject,
        before={"amount": 2},
        after={"amount": 9},
        reason="they asked for it",
    )
    audit.record(audit.SYSTEM, "close_run.start", audit.Subject("close_run", "crn_1", "a run"))
    return world


def lines(client: Any, **query: str) -> list[dict[str, Any]]:
    found = b"".join(client.get(f"{URL}events.jsonl", query)).decode()
    return [json.loads(line) for line in found.splitlines()]


@pytest.mark.parametrize("by", ["slug", "pk"])
def test_the_page_and_the_files_show_the_events_of_one_tenant(
    busy: World, as_: As, by: str
) -> None:
    client, name = as_(busy.staff), getattr(busy.tenant, by)

    page = client.get(URL, {"tenant": name}).content.decode()
    rows = lines(client, tenant=name)

    assert "Created the organization Acme Shipping" in page
    assert "Other People" not in page
    assert f"events.csv?tenant={name}" in page
    assert {row["tenant"] for row in rows} == {"acme-shipping"}
    assert {row["tenant"] for row in lines(client)} == {"acme-shipping", "other-people", ""}


def test_the_files_hide_nothing_from_staff(busy: World, as_: As) -> None:
    client = as_(busy.staff)

    (row,) = lines(client, kind="limit")
    text = b"".join(client.get(f"{URL}events.csv?kind=limit")).decode()
    (cells,) = csv.DictReader(io.StringIO(text))

    assert list(row) == ["at", "tenant", "who", "what", "changes", "reason", "source_ip"]
    assert list(cells) == list(row)
    for found in (row, cells):
        assert found["tenant"] == "acme-shipping"
        assert found["who"] == "staff@operator.example"
        assert found["reason"] == "they asked for it"
        assert found["source_ip"] == "198.51.100.9"
        assert "9" in "".join(found["changes"])


def test_a_search_in_a_file_looks_at_every_event(
    busy: World, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page searches the newest events alone, and says so."""
    monkeypatch.setattr(audit_reads, "SEARCHED", 1)
    client = as_(busy.staff)

    page = client.get(URL, {"q": "Acme Shipping"}).content.decode()
    rows = lines(client, q="Acme Shipping")

    assert "Nothing matches" in page
    assert len(rows) > 1


def test_a_file_is_read_in_chunks(busy: World, as_: As, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        subject = audit.Subject("address", str(number), f"a-{number}", busy.tenant.pk)
        audit.record(audit.WORKER, "address.delete", subject)
    monkeypatch.setattr(audit_reads, "_CHUNK", 3)
    client = as_(busy.staff)

    with CaptureQueriesContext(connection) as queries:
        rows = lines(client, kind="address")

    assert [row["what"] for row in rows] == [f"Deleted the address a-{n}" for n in range(6, -1, -1)]
    # One chunk after the other, and the tenant of all is looked up once.
    assert sum('WHERE "tenants_tenant"."id" IN' in query["sql"] for query in queries) == 1


@pytest.mark.parametrize("query", ["since=yesterday", "kind=none-such", "tenant=nobody"])
def test_a_wrong_filter_is_an_error_and_no_other_file(busy: World, as_: As, query: str) -> None:
    client = as_(busy.staff)

    page = client.get(f"{URL}?{query}")
    file = client.get(f"{URL}events.csv?{query}")

    assert page.status_code == 400
    assert file.status_code == 422
    assert 'data-code="audit.filter"' in file.content.decode()


def test_there_are_two_formats(busy: World, as_: As) -> None:
    client = as_(busy.staff)
    answer = client.get(f"{URL}events.csv")

    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert "waypost-audit-all-" in answer["Content-Disposition"]
    assert client.get(f"{URL}events.exe").status_code == 404


def test_only_staff_get_the_files(busy: World, as_: As) -> None:
    for person in (busy.owner, busy.member, busy.billing, busy.outsider):
        for kind in ("csv", "jsonl"):
            assert as_(person).get(f"{URL}events.{kind}").status_code == 404


def test_members_cannot_choose_another_tenant(busy: World, as_: As) -> None:
    client, url = as_(busy.owner), "/t/acme-shipping/audit/"

    page = client.get(url, {"tenant": "other-people"}).content.decode()
    text = b"".join(client.get(f"{url}events.csv?tenant=other-people")).decode()

    assert 'name="tenant"' not in page
    assert "Other People" not in text
    assert "Created the organization Acme Shipping" in text
    assert "staff@operator" not in text


def test_the_page_of_a_tenant_leads_to_its_events(busy: World, as_: As) -> None:
    page = as_(busy.staff).get("/staff/tenants/acme-shipping/").content.decode()

    assert f'href="{URL}?tenant=acme-shipping"' in page
