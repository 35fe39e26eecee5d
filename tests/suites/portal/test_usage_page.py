"""The usage page: figures per space and address, per day and hour, and as CSV."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from plans.invoicing import previewing
from plans.models import QuotaAlert
from plans.rating import money
from tenants.actions import address_spaces, labels
from tenants.models import AddressSpace
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
PAGE = "/t/acme-shipping/usage/"
HOUR_MS = 3_600_000


@pytest.fixture
def spaces(world: World) -> list[AddressSpace]:
    """Two spaces of the tenant and one of another, used in the first days of the month."""
    mine, more = rows.active_space(world.tenant, "mine"), rows.active_space(world.tenant, "more")
    theirs, start = rows.active_space(world.other, "theirs"), rows.this_month()
    rows.used(
        rows.cell(mine, "messages_in", 1_000, start, "orders"),
        rows.cell(mine, "messages_in", 234, start + timedelta(minutes=15), "events"),
        rows.cell(mine, "connection_ms", 5 * HOUR_MS // 2, start),
        rows.cell(mine, "peak_connections", 7, start),
        rows.cell(mine, "peak_connections", 3, start + timedelta(days=1)),
        rows.cell(more, "peak_connections", 4, start + timedelta(hours=2)),
        rows.cell(more, "messages_in", 6, start + timedelta(hours=2), "x"),
        rows.cell(theirs, "messages_in", 999_999, start, "secret"),
    )
    return [mine, more, theirs]


def table(page: str, caption: str) -> list[list[str]]:
    """Return the body cells of the table with this caption."""
    body = page.split(caption)[1].split("<tbody>")[1].split("</tbody>")[0]
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in body.split("</tr>")
        if "<t" in row
    ]


def test_a_month_adds_up_over_spaces_and_peaks_do_not(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    page = as_(world.member).get(PAGE).content.decode()

    totals = re.findall(r'<strong class="number">([^<]+)<', page)
    assert totals == [
        "1,240 messages",
        "0 messages",
        "0 connections",
        "2.5 connection-hours",
        "0 GiB-hours",
        "7 connections",
    ]


def test_the_overview_draws_the_messages_of_the_month_by_day(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    page = as_(world.member).get("/t/acme-shipping/").content.decode()

    day = rows.this_month().strftime("%a %-d %b")
    assert f"<title>{day}: 1,240 messages</title>" in page
    assert page.count('<svg class="chart"') == 2
    assert "999,999" not in page


def test_each_space_and_each_address_has_its_row(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    by_space = as_(world.member).get(PAGE).content.decode()
    by_address = as_(world.member).get(PAGE + "?space=mine").content.decode()

    assert [row[:2] for row in table(by_space, "Usage by space<")] == [
        ["mine", "1,234"], ["more", "6"],
    ]  # fmt: skip
    assert [row[:2] for row in table(by_address, "Usage by address of mine<")] == [
        ["events", "234"], ["orders", "1,000"], ["the space as a whole", "0"],
    ]  # fmt: skip


def test_a_day_shows_its_hours(world: World, spaces: list[AddressSpace], as_: As) -> None:
    day = rows.this_month().strftime("%Y-%m-%d")

    page = as_(world.member).get(f"{PAGE}?window={day}").content.decode()

    assert [row[:2] for row in table(page, "Usage by hour<")] == [
        ["00:00", "1,234"],
        ["02:00", "6"],
    ]
    assert page.count("<g><title>") == 24 * 6


def test_a_deleted_space_keeps_its_name_and_its_row(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    address_spaces.delete(space=spaces[1], by=rows.STAFF)
    AddressSpace.objects.filter(pk=spaces[1].pk).update(deleted_at=rows.this_month())

    page = as_(world.member).get(PAGE).content.decode()

    assert [row[0] for row in table(page, "Usage by space<")] == ["mine", "more (deleted)"]


def test_csv_holds_the_cells_of_this_tenant_only(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    answer = as_(world.member).get(PAGE + "cells.csv")

    lines = list(csv.DictReader(io.StringIO(b"".join(answer).decode())))
    assert len(lines) == 7
    assert {line["space"] for line in lines} == {"mine", "more"}
    assert lines[0]["bucket_at"] == rows.this_month().isoformat()
    assert sum(int(line["quantity"]) for line in lines if line["meter"] == "messages_in") == 1240


def test_csv_of_one_space(world: World, spaces: list[AddressSpace], as_: As) -> None:
    answer = as_(world.member).get(PAGE + "cells.csv?space=more")

    lines = list(csv.DictReader(io.StringIO(b"".join(answer).decode())))
    assert {line["space"] for line in lines} == {"more"}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_keeps_a_spreadsheet_from_running_text_as_a_formula(
    world: World, as_: As, start: str
) -> None:
    space = rows.active_space(world.tenant)
    type(space).objects.filter(pk=space.pk).update(name=f"{start}name()")
    rows.used(rows.cell(space, "messages_in", 1, rows.this_month(), f"{start}cmd()"))

    answer = as_(world.member).get(PAGE + "cells.csv")

    [line] = csv.DictReader(io.StringIO(b"".join(answer).decode(), newline=""))
    assert (line["address"], line["space"]) == (f"'{start}cmd()", f"'{start}name()")


def test_one_address_has_its_own_figures(world: World, spaces: list[AddressSpace], as_: As) -> None:
    client, query = as_(world.member), "?space=mine&address=events"

    page = client.get(PAGE + query).content.decode()
    lines = b"".join(client.get(f"{PAGE}cells.csv{query}")).decode().splitlines()

    assert re.findall(r'<strong class="number">([^<]+)<', page)[0] == "234 messages"
    assert [row[0] for row in table(page, "Usage by address of mine<")] == ["events"]
    assert len(lines) == 2


def test_days_are_chosen_freely(world: World, spaces: list[AddressSpace], as_: As) -> None:
    start = rows.this_month().date()
    days = {"since": str(start), "until": str(start + timedelta(days=1))}

    page = as_(world.member).get(PAGE, days).content.decode()

    assert table(page, "Usage by day<")[0][1] == "1,240"
    assert f'value="{days["until"]}"' in page
    assert page.count("<g><title>") == 2 * 6


def test_a_wrong_day_is_named_on_the_page_which_stays(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    client = as_(world.member)

    banana = client.get(PAGE + "?window=banana")
    backward = client.get(PAGE + "?since=2026-11-09&until=2026-11-03")
    no_day = client.get(PAGE + "?since=banana")
    table_ = client.get(PAGE + "cells.csv?window=banana")

    assert [a.status_code for a in (banana, backward, no_day)] == [400] * 3
    assert table_.status_code == 422
    assert "is neither a month" in banana.content.decode()
    assert "The first day is after the last one" in backward.content.decode()
    assert 'value="banana"' in no_day.content.decode()
    for answer in (banana, backward, no_day):
        assert 'aria-label="Pages"' in answer.content.decode()


def test_cost_is_divided_by_space_or_label_and_adds_up(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    labels.replace(row=spaces[0], labels={"team": "shop"}, by=rows.STAFF)
    client = as_(world.owner)
    running = previewing.preview(world.tenant)
    net = money.display(running.document["net_minor"], "EUR")

    by_space = client.get(PAGE).content.decode()
    by_label = client.get(PAGE + "?label=team").content.decode()

    caption = f"Cost of {rows.this_month():%B %Y}<"
    assert {row[0] for row in table(by_space, caption)} >= {"mine", "more"}
    assert {row[0] for row in table(by_label, caption)} >= {
        "team=shop",
        "Without the label team",
    }
    for page in (by_space, by_label):
        assert f'Total before tax</th><td class="number">{net}' in page
        assert "Forecast" in page


def test_who_may_not_see_amounts_sees_no_cost(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    assert "Cost by" not in as_(world.member).get(PAGE).content.decode()


def test_an_earlier_month_is_divided_from_its_invoices(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant, "mine")
    cells = [rows.cell(space, "messages_in", 99_000_000, rows.last_month().starts_at, "a")]
    rows.used(*cells)
    invoice = rows.issued(world.tenant, cells)

    page = as_(world.owner).get(f"{PAGE}?window={rows.last_month().starts_at:%Y-%m}")

    net = money.display(invoice.net_minor, "EUR")
    assert f'Total before tax</th><td class="number">{net}' in page.content.decode()


def test_nothing_used_says_what_to_do(world: World, as_: As) -> None:
    page = as_(world.member).get(PAGE).content.decode()

    assert "No usage in" in page
    assert "<svg" not in page.split("<main")[1]


def test_before_the_first_count_no_page_says_as_of(world: World, as_: As) -> None:
    assert "nothing has been counted yet" in as_(world.member).get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("query", "status"), [("window=soon", 400), ("space=theirs", 404), ("space=unknown", 404)]
)
def test_what_cannot_be_shown_is_refused_in_words(
    world: World, spaces: list[AddressSpace], as_: As, query: str, status: int
) -> None:
    answer = as_(world.member).get(f"{PAGE}?{query}")

    assert answer.status_code == status
    assert "Traceback" not in answer.content.decode()


def test_a_month_takes_as_many_queries_with_little_usage_as_with_much(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    client = as_(world.owner)  # the costs of the month are on the page, too
    client.get(PAGE)

    with CaptureQueriesContext(connection) as little:
        client.get(PAGE)
    start = rows.this_month()
    rows.used(
        *(rows.cell(spaces[0], "messages_in", 5, start + n * timedelta(minutes=15), f"a{n % 7}")
          for n in range(90))
    )  # fmt: skip
    with CaptureQueriesContext(connection) as much:
        client.get(PAGE)

    assert len(much) == len(little)


def test_the_overview_shows_limits_and_what_they_led_to(
    world: World, spaces: list[AddressSpace], as_: As
) -> None:
    QuotaAlert.objects.create(
        tenant=world.tenant, resource="messages_per_month", period_starts_at=rows.this_month(),
        level_percent=100, used=600, limit=500, action="withdraw_send",
    )  # fmt: skip
    AddressSpace.objects.filter(pk=spaces[0].pk).update(send_withdrawn=True)

    page = as_(world.owner).get("/t/acme-shipping/").content.decode()
    usage = as_(world.owner).get("/t/acme-shipping/usage/").content.decode()
    space = as_(world.owner).get(f"/t/acme-shipping/spaces/{spaces[0].name}/").content.decode()

    assert "100 % of your messages a month is used: 600 of 500." in page
    assert "100 % of your messages a month is used: 600 of 500." in usage
    assert "Sending blocked by the quota" in space
    assert "Clients can no longer send until" in page
    assert page.count("Sending blocked<") == 1
    assert "1,240 of 500,000,000" in page


def test_lifted_alerts_are_gone(world: World, as_: As) -> None:
    QuotaAlert.objects.create(
        tenant=world.tenant, resource="messages_per_month", period_starts_at=rows.this_month(),
        level_percent=80, used=80, limit=100, action="notify", lifted_at=rows.this_month(),
    )  # fmt: skip

    assert "80 %" not in as_(world.owner).get("/t/acme-shipping/").content.decode()
