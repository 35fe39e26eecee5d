"""Pages behind an invoice: a line by days and hours, its samples, and the change between two."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core import operations
from controlplane.core.audit import SYSTEM
from plans.invoicing import discounting
from plans.models import Invoice, SampleReading
from tests.suites.portal.conftest import As
from tests.support.plans import read_samples
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
LIST = "/t/acme-shipping/invoices/"


@pytest.fixture
def invoice(world: World) -> Invoice:
    space = rows.active_space(world.tenant)
    begins = rows.last_month().starts_at
    cells = [
        rows.cell(space, "messages_in", quantity, begins + timedelta(hours=hour), "orders")
        for hour, quantity in ((0, 4_000_000), (5, 2_500_000), (30, 500_000))
    ]
    rows.used(*cells)
    return rows.issued(world.tenant, cells)


def line_url(invoice: Invoice, meter: str = "messages") -> str:
    return f"{LIST}{invoice.id}/lines/{invoice.lines.filter(meter=meter)[0].position}"


def figures(page: str) -> list[list[str]]:
    """Return the cells of the table of steps, row by row, without tags."""
    body = re.search(r"<tbody>(.*?)</tbody>", page, re.S)
    assert body, page
    return [
        [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", body.group(1), re.S)
    ]


def test_a_line_leads_to_its_days_and_a_day_to_its_hours(
    world: World, invoice: Invoice, as_: As
) -> None:
    client, url = as_(world.billing), line_url(invoice)

    page = client.get(f"{LIST}{invoice.id}/").content.decode()
    days = client.get(url).content.decode()
    first = rows.last_month().starts_at.date()
    hours = client.get(f"{url}?day={first}").content.decode()

    assert f'href="{url}"' in page
    assert "It adds up" in days
    assert f'href="{url}?day={first}"' in days
    assert [row[1:] for row in figures(days)] == [
        ["6,500,000", "5,000,000", "1,500,000"],
        ["500,000", "0", "500,000"],
        ["7,000,000", "5,000,000", "2,000,000"],
    ]
    assert figures(hours) == [
        ["00:00", "4,000,000", "4,000,000", "0"],
        ["05:00", "2,500,000", "1,000,000", "1,500,000"],
        ["Sum", "6,500,000", "5,000,000", "1,500,000"],
    ]


def test_a_line_without_usage_says_where_it_comes_from(
    world: World, invoice: Invoice, as_: As
) -> None:
    page = as_(world.billing).get(line_url(invoice, "plan_fee")).content.decode()

    assert "fee of a plan" in page


def test_a_line_of_a_minimum_and_its_invoice_say_how_it_comes_about(world: World, as_: As) -> None:
    discounting.commit(
        tenant=world.tenant,
        title="Deal",
        minimum_minor=100_000,
        span=rows.last_month(),
        by=SYSTEM,
    )
    invoice, client = rows.issued(world.tenant), as_(world.billing)

    page = client.get(f"{LIST}{invoice.id}/").content.decode()
    line = client.get(line_url(invoice, "commitment")).content.decode()

    for text in (page, line):
        assert "1,000.00 EUR a month for" in text
        assert "is missing" in text


def test_late_usage_is_told_and_leads_to_the_reading(
    world: World, invoice: Invoice, as_: As
) -> None:
    space = invoice.tenant.spaces.get()
    rows.used(rows.cell(space, "messages_in", 9, rows.last_month().starts_at, "orders"))

    page = as_(world.billing).get(line_url(invoice)).content.decode()

    assert "Usage of this period has changed" in page
    assert f"{LIST}{invoice.id}/samples?starts_at=" in page


def test_samples_are_requested_and_shown_once_a_worker_has_read_them(
    world: World, invoice: Invoice, as_: As
) -> None:
    client, url = as_(world.billing), f"{LIST}{invoice.id}/samples"

    empty = client.get(url).content.decode()
    client.post(url)
    running = client.get(url).content.decode()
    read_samples.finished(invoice)
    done = client.get(url).content.decode()

    assert "Not read yet" in empty
    assert "The samples are being read" in running
    assert "Read the samples</button>" not in running + done
    used = '<td data-label="Used" class="number">5</td>'
    for words in ("2 samples", "The same hash as on the invoice", "broker-0", used, "f" * 64):
        assert words in done
    assert done.count(">same</td>") == 1


def test_a_reading_that_failed_says_why_and_can_be_requested_again(
    world: World, invoice: Invoice, as_: As
) -> None:
    client, url = as_(world.billing), f"{LIST}{invoice.id}/samples"
    client.post(url)
    reading = SampleReading.objects.get()
    operations.fail("sample_reading", reading.pk, code="x", message="A file is gone.")

    page = client.get(url).content.decode()
    client.post(url)

    assert "A file is gone." in page
    assert "Read the samples</button>" in page
    assert "being read" in client.get(url).content.decode()


def test_times_that_are_none_are_refused_in_the_frame(
    world: World, invoice: Invoice, as_: As
) -> None:
    client = as_(world.billing)

    for query in ("samples?starts_at=banana", "samples?starts_at=2026-13-45T00:00:00Z",
                  "samples?ends_at=2026-01-01T00:00:00"):  # fmt: skip
        answer = client.get(f"{LIST}{invoice.id}/{query}")
        assert answer.status_code == 422, query
        assert "follow it again" in answer.content.decode()


def test_the_change_page_says_what_an_only_invoice_lacks(
    world: World, invoice: Invoice, as_: As
) -> None:
    page = as_(world.billing).get(f"{LIST}{invoice.id}/change").content.decode()

    assert "There is no other invoice" in page


def test_operators_see_the_same(world: World, invoice: Invoice, as_: As) -> None:
    client, base = as_(world.staff), f"/staff/invoices/{invoice.id}"
    position = invoice.lines.get(meter="messages").position

    page = client.get(f"{base}/").content.decode()
    days = client.get(f"{base}/lines/{position}").content.decode()
    client.post(f"{base}/samples")
    samples = client.get(f"{base}/samples").content.decode()

    assert f'href="{base}/lines/{position}"' in page
    assert f'href="{base}/lines/{position}?day=' in days
    assert "being read" in samples
    assert client.get(f"{base}/change").status_code == 200


@pytest.mark.parametrize("tail", ["lines/1", "samples", "change"])
def test_another_tenants_invoice_is_not_there(
    world: World, invoice: Invoice, as_: As, tail: str
) -> None:
    theirs = f"/t/other-people/invoices/{invoice.id}/{tail}"

    assert as_(world.outsider).get(theirs).status_code == 404
    assert as_(world.member).get(f"{LIST}{invoice.id}/{tail}").status_code == 403


def test_a_line_takes_as_many_queries_for_one_day_as_for_many(
    world: World, invoice: Invoice, as_: As
) -> None:
    client, url = as_(world.billing), line_url(invoice)
    client.get(url)

    with CaptureQueriesContext(connection) as few:
        client.get(url)
    space = invoice.tenant.spaces.get()
    begins = rows.last_month().starts_at
    hours = [begins + timedelta(hours=n) for n in range(300)]
    rows.used(*(rows.cell(space, "messages_in", 1, hour, "orders") for hour in hours))
    with CaptureQueriesContext(connection) as many:
        client.get(url)

    # One more: it looks for a reading, because the days do not add up any more.
    assert len(many) == len(few) + 1
