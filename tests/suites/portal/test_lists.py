"""Lists are filtered and sorted on the server, and act on several rows at once."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core.audit import SYSTEM
from tenants.actions import addresses, labels
from tenants.models import Address, AddressReading, AddressSpace, MessagingUser
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
SPACES = "/t/acme-shipping/spaces/"
SPACE = SPACES + "orders/"


def listed(page: str, part: str = "/t/acme-shipping/spaces/") -> list[str]:
    """Return the names in the first column of a list, in order."""
    return re.findall(rf'<th scope="row">.*?href="{part}[^"]*">([^<]+)</a>', page)


@pytest.fixture
def space(world: World) -> AddressSpace:
    """A space with addresses of two types."""
    made = rows.active_space(world.tenant, "orders")
    for name, kind in (("invoices", "queue"), ("returns", "queue"), ("prices", "topic")):
        rows.address(made, name, kind)
    return made


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["alpha", "beta", "gamma"]),
        ("q=ET", ["beta"]),
        ("state=Active", ["beta"]),
        ("label=team%3Dshop", ["gamma"]),
        ("label=team", ["gamma"]),
        ("label=team%3Dother", []),
        ("sort=-name", ["gamma", "beta", "alpha"]),
        ("sort=new", ["gamma", "beta", "alpha"]),
        ("sort=nonsense", ["alpha", "beta", "gamma"]),
    ],
)
def test_spaces_are_filtered_and_sorted(
    world: World, as_: As, query: str, names: list[str]
) -> None:
    rows.space(world.tenant, "alpha")
    rows.active_space(world.tenant, "beta")
    labels.replace(row=rows.space(world.tenant, "gamma"), labels={"team": "shop"}, by=SYSTEM)

    page = as_(world.member).get(f"{SPACES}?{query}").content.decode()

    assert listed(page) == names
    assert ("No space matches" in page) == (not names)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["invoices", "prices", "returns"]),
        ("type=topic", ["prices"]),
        ("q=r", ["prices", "returns"]),
        ("sort=messages", ["returns", "invoices", "prices"]),
    ],
)
def test_addresses_are_filtered_and_sorted(
    world: World, space: AddressSpace, as_: As, query: str, names: list[str]
) -> None:
    busiest = Address.objects.get(address="returns")
    AddressReading.objects.create(address=busiest, messages_in=7)

    page = as_(world.member).get(f"{SPACE}?{query}").content.decode()

    assert re.findall(r'class="mono" href="[^"]*addresses/[^"]*">([^<]+)</a>', page) == names


def test_labels_are_changed_on_a_page_of_their_own(
    world: World, space: AddressSpace, as_: As
) -> None:
    client, address = as_(world.member), Address.objects.get(address="invoices")

    client.post(SPACE + "labels", {"labels": "team=shop env=prod", "save": "yes"})
    wrong = client.post(f"{SPACE}addresses/{address.pk}/labels", {"labels": "A B", "save": "yes"})
    client.post(f"{SPACE}addresses/{address.pk}/labels", {"labels": "kind=x", "save": "yes"})

    space.refresh_from_db()
    address.refresh_from_db()
    assert space.labels == {"team": "shop", "env": "prod"}
    assert address.labels == {"kind": "x"}
    assert wrong.status_code == 400
    assert 'value="A B"' in wrong.content.decode()
    assert "kind=x" in client.get(SPACE).content.decode()


def test_labels_are_removed_with_an_empty_field(world: World, space: AddressSpace, as_: As) -> None:
    labels.replace(row=space, labels={"team": "shop"}, by=SYSTEM)

    as_(world.member).post(SPACE + "labels", {"labels": "", "save": "yes"})

    space.refresh_from_db()
    assert space.labels == {}


def test_chosen_addresses_are_deleted_after_a_confirmation(
    world: World, space: AddressSpace, as_: As
) -> None:
    client, url = as_(world.member), SPACE + "addresses/-/delete"
    # A topic and its subscription together: the subscription goes first.
    rows.address(space, "mine", "subscription", topic="prices")
    ids = list(Address.objects.exclude(address="returns").values_list("pk", flat=True))

    asked = client.post(url, {"id": ids})
    before = Address.objects.filter(deletion_requested_at__isnull=False).count()
    wrong = client.post(url, {"id": ids, "confirmation": "other"})
    client.post(url, {"id": ids, "confirmation": "orders"})

    page = asked.content.decode()
    assert "Delete 3 addresses of orders?" in page
    assert page.count('type="hidden" name="id"') == 3
    assert (before, wrong.status_code) == (0, 400)
    deleted = Address.objects.filter(deletion_requested_at__isnull=False)
    assert {row.address for row in deleted} == {"invoices", "mine", "prices"}


def test_a_target_of_dead_letters_goes_after_the_addresses_that_name_it(
    world: World, space: AddressSpace, as_: As
) -> None:
    rows.address(space, "dead", "deadletter")
    Address.objects.filter(address="invoices").update(dead_letter="dead")
    chosen = Address.objects.filter(address__in=["dead", "invoices"])
    ids = list(chosen.values_list("pk", flat=True))

    page = as_(world.member).post(
        SPACE + "addresses/-/delete", {"id": ids, "confirmation": "orders"}, follow=True
    ).content.decode()  # fmt: skip

    assert "2 addresses are being deleted." in page


def test_a_row_that_went_before_the_confirmation_does_not_stop_the_rest(
    world: World, space: AddressSpace, as_: As
) -> None:
    url, ids = SPACE + "addresses/-/delete", list(Address.objects.values_list("pk", flat=True))
    client = as_(world.member)
    client.post(url, {"id": ids})
    addresses.delete(address=Address.objects.get(address="returns"), by=SYSTEM)

    wrong = client.post(url, {"id": ids, "confirmation": "other"}).content.decode()
    done = client.post(url, {"id": ids, "confirmation": "orders"}, follow=True).content.decode()

    assert "Delete 2 addresses of orders?" in wrong
    assert "2 addresses are being deleted." in done


def test_what_cannot_be_deleted_is_named_and_the_rest_goes(
    world: World, space: AddressSpace, as_: As
) -> None:
    rows.address(space, "mine", "subscription", topic="prices")
    chosen = Address.objects.filter(address__in=["prices", "invoices"])
    ids = list(chosen.values_list("pk", flat=True))

    page = as_(world.member).post(
        SPACE + "addresses/-/delete", {"id": ids, "confirmation": "orders"}, follow=True
    ).content.decode()  # fmt: skip

    assert "prices: " in page
    assert "1 address is being deleted." in page


def test_rows_of_another_space_or_tenant_are_never_chosen(
    world: World, space: AddressSpace, as_: As
) -> None:
    theirs = rows.address(rows.active_space(world.other, "orders"), "invoices")

    answer = as_(world.member).post(
        SPACE + "addresses/-/delete", {"id": [theirs.pk], "confirmation": "orders"}
    )

    theirs.refresh_from_db()
    assert answer.status_code == 302
    assert theirs.deletion_requested_at is None


def test_chosen_users_are_revoked(world: World, space: AddressSpace, as_: As) -> None:
    ids = [rows.messaging_user(space, name).pk for name in ("one", "two", "three")]

    as_(world.member).post(SPACE + "users/-/revoke", {"id": ids[:2], "confirmation": "orders"})

    left = MessagingUser.objects.filter(deletion_requested_at__isnull=True)
    assert [user.name for user in left] == ["three"]


def test_users_are_filtered(world: World, space: AddressSpace, as_: As) -> None:
    for name in ("checkout", "reports"):
        rows.messaging_user(space, name)

    page = as_(world.member).get(SPACE + "users?q=check").content.decode()

    assert "checkout" in page
    assert "reports" not in page


def test_a_filtered_list_takes_as_many_queries_for_many_rows(
    world: World, space: AddressSpace, as_: As
) -> None:
    client, url = as_(world.member), SPACE + "?q=e&sort=messages&label=team"
    labels.replace(row=Address.objects.get(address="prices"), labels={"team": "x"}, by=SYSTEM)
    client.get(url)
    with CaptureQueriesContext(connection) as few:
        client.get(url)
    for number in range(5):
        made = rows.address(space, f"more-{number}")
        labels.replace(row=made, labels={"team": "x"}, by=SYSTEM)
    with CaptureQueriesContext(connection) as many:
        page = client.get(url).content.decode()

    assert "more-4" in page
    assert len(many) == len(few)
