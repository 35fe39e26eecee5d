"""Spaces, addresses and messaging users: the way to the first message, and back."""

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from controlplane.console.forms.spaces import SpaceForm
from controlplane.core.address_types import AddressSettings
from controlplane.core.models import AuditEvent, Operation
from plans.catalog import publishing
from tenants.actions import addresses
from tenants.models import Address, AddressSpace, MessagingUser
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"


def test_an_empty_tenant_is_led_to_its_first_space(world: World, as_: As) -> None:
    page = as_(world.owner).get(HOME).content.decode()

    assert "No messaging space yet" in page
    assert 'href="/t/acme-shipping/spaces/-/new"' in page


def test_a_new_space_leads_to_its_first_address(world: World, as_: As) -> None:
    asked = {"name": "orders", "space_plan": "standard-small"}

    answer = as_(world.owner).post(HOME + "spaces/-/new", asked)

    assert answer["Location"] == HOME + "spaces/orders/addresses/new"
    space = AddressSpace.objects.get(name="orders")
    assert (space.tenant, space.type) == (world.tenant, "standard")
    event = AuditEvent.objects.get(subject_id=space.pk)
    assert (event.actor, event.source_ip) == ("user:olga@acme.example", "127.0.0.1")


@pytest.mark.parametrize(
    ("asked", "words", "status"),
    [
        ({"name": "Not Legal", "space_plan": "standard-small"}, "address_space.invalid", 422),
        ({"name": "orders", "space_plan": "standard-small"}, "address_space.exists", 409),
        ({"name": "x", "space_plan": "huge"}, "huge is not one of the available choices", 400),
    ],
)
def test_a_refused_space_says_why_and_makes_nothing(
    world: World, as_: As, asked: dict[str, str], words: str, status: int
) -> None:
    rows.space(world.tenant, "orders")

    answer = as_(world.owner).post(HOME + "spaces/-/new", asked)

    assert answer.status_code == status
    assert words in answer.content.decode()
    assert AddressSpace.objects.count() == 1


def test_a_type_that_cannot_run_is_not_on_the_page(
    world: World, as_: As, settings: Settings
) -> None:
    before = as_(world.owner).get(HOME + "spaces/-/new").content.decode()
    settings.STANDARD_SPACES_OFFERED = False

    page = as_(world.owner).get(HOME + "spaces/-/new").content.decode()

    assert 'value="standard-small"' in before
    assert 'value="brokered-small"' in page
    assert 'value="standard-small"' not in page


def test_the_form_selects_the_type_that_the_docs_advise(
    world: World, as_: As, settings: Settings
) -> None:
    page = as_(world.owner).get(HOME + "spaces/-/new").content.decode()

    assert re.findall(r'value="([^"]+)" required checked', page) == ["brokered-small"]
    assert "If in doubt, choose brokered" in page
    assert "Choose standard for more connections" in page


def test_the_form_selects_the_first_plan_if_the_advised_type_is_not_offered(world: World) -> None:
    plans = [plan for plan in publishing.current().space_plans if plan.space_type == "standard"]

    form = SpaceForm(space_plans=plans, keeps=[])

    assert form["space_plan"].value() == "standard-small"


def test_a_space_over_quota_names_the_limit(world: World, as_: As) -> None:
    for number in range(5):
        rows.space(world.tenant, f"space-{number}")

    asked = {"name": "one-more", "space_plan": "standard-small"}
    answer = as_(world.owner).post(HOME + "spaces/-/new", asked)

    assert answer.status_code == 403
    assert "quota_exceeded" in answer.content.decode()


def test_the_pages_of_a_new_space_lead_through_address_user_and_connection(
    world: World, as_: As
) -> None:
    space, client = rows.active_space(world.tenant), as_(world.owner)
    url = HOME + "spaces/orders/"

    before = client.get(url).content.decode()
    rows.address(space)
    between = client.get(url).content.decode()
    rows.messaging_user(space)
    after = client.get(url).content.decode()

    assert "Add the first address" in before
    assert "being configured" not in before  # it is Active
    assert "Add a messaging user" in between
    assert "Add " not in after


def test_progress_is_asked_for_while_something_moves_and_not_after(world: World, as_: As) -> None:
    space, client = rows.space(world.tenant), as_(world.owner)
    rows.in_progress(space)
    url = HOME + "spaces/orders/status"

    moving = client.get(url).content.decode()
    rows.real(space)
    settled = client.get(url).content.decode()

    assert f'hx-get="{url}?seen=' in moving
    assert "broker-0 is starting" in moving
    assert re.findall(r'<li class="(\w+)">', moving) == ["done", "done", "now"]
    assert "hx-get" not in settled
    assert "Ready for messages" in settled
    assert "<html" not in settled


def test_progress_that_was_seen_already_is_not_sent_again(world: World, as_: As) -> None:
    space, client = rows.space(world.tenant), as_(world.owner)
    page = client.get(HOME + "spaces/orders/").content.decode()
    (url,) = re.findall(r'hx-get="([^"]+/status[^"]*)"', page)

    same = client.get(url)
    rows.in_progress(space)
    other = client.get(url)

    assert (same.status_code, same.content) == (204, b"")
    assert (other.status_code, url in other.content.decode()) == (200, False)


def test_what_is_in_the_way_is_shown(world: World, as_: As) -> None:
    space = rows.space(world.tenant)
    trouble = {"type": "Ready", "status": "False", "reason": "BrokersNotReady", "since": ""}
    AddressSpace.objects.filter(pk=space.pk).update(
        phase="Failed", conditions=[{**trouble, "message": "broker-0 has no disk left"}]
    )

    page = as_(world.owner).get(HOME + "spaces/orders/").content.decode()

    assert "broker-0 has no disk left" in page


def test_a_certificate_that_runs_out_is_shown_while_the_space_serves(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    false = {"status": "False", "since": ""}
    told = {"type": "Certificate", "reason": "CertificateExpiring", "message": "runs out soon"}
    routers = {"type": "Routers", "reason": "OneOnly", "message": "only one"}
    AddressSpace.objects.filter(pk=space.pk).update(
        conditions=[{**false, **told}, {**false, **routers}]
    )

    page = as_(world.owner).get(HOME + "spaces/orders/").content.decode()
    fleet = as_(world.staff).get("/staff/fleet/").content.decode()

    assert "<strong>Certificate expiring</strong> runs out soon" in page
    assert "only one" not in page
    assert "Certificate expiring: runs out soon" in fleet


def test_a_space_that_nothing_leads_to_says_so_while_it_serves(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    told = {"type": "Reachable", "status": "False", "reason": "EndpointPending", "since": ""}
    AddressSpace.objects.filter(pk=space.pk).update(
        conditions=[{**told, "message": "its load balancer has no address"}]
    )

    page = as_(world.owner).get(HOME + "spaces/orders/").content.decode()

    assert "its load balancer has no address" in page


def test_routers_that_do_not_reach_each_other_are_shown_while_the_space_serves(
    world: World, as_: As
) -> None:
    space = rows.active_space(world.tenant)
    told = {"type": "Routers", "reason": "MeshIncomplete", "message": "router-1 does not reach"}
    AddressSpace.objects.filter(pk=space.pk).update(
        conditions=[{**told, "status": "False", "since": ""}]
    )

    page = as_(world.owner).get(HOME + "spaces/orders/").content.decode()
    fleet = as_(world.staff).get("/staff/fleet/").content.decode()

    assert "<strong>Mesh incomplete</strong> router-1 does not reach" in page
    assert "Mesh incomplete: router-1 does not reach" in fleet


def test_a_space_is_deleted_only_when_its_name_is_typed(world: World, as_: As) -> None:
    space, client = rows.active_space(world.tenant), as_(world.owner)

    wrong = client.post(HOME + "spaces/orders/settings", {"confirmation": "order"})
    space.refresh_from_db()
    untouched = space.deletion_requested_at is None
    right = client.post(HOME + "spaces/orders/settings", {"confirmation": "orders"})

    space.refresh_from_db()
    assert (wrong.status_code, untouched) == (400, True)
    assert right["Location"] == HOME + "spaces/"
    assert space.deletion_requested_at is not None


def test_a_new_address_gets_its_settings(world: World, as_: As) -> None:
    rows.active_space(world.tenant)
    asked = {
        "address": "orders/new",
        "address_plan": "standard-small-queue",
        "message_ttl_seconds": "60",
        "max_delivery_attempts": "3",
    }

    answer = as_(world.owner).post(HOME + "spaces/orders/addresses/new", asked)

    assert answer["Location"] == HOME + "spaces/orders/"
    address = Address.objects.get(address="orders/new")
    assert address.type == "queue"
    assert address.settings == AddressSettings(message_ttl_ms=60_000, max_delivery_attempts=3)


def test_dead_letters_go_to_a_queue_of_a_brokered_space(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant, plan="brokered-small")
    url = HOME + "spaces/orders/addresses/new"
    rows.address(space, "rejected", "queue")
    asked = {
        "address": "retried",
        "address_plan": "brokered-small-queue",
        "dead_letter": "rejected",
    }

    shown = as_(world.owner).get(url).content.decode()
    as_(world.owner).post(url, asked)

    assert "Dead letters go to" in shown
    assert Address.objects.get(address="retried").dead_letter == "rejected"


def test_a_standard_space_asks_for_no_dead_letters(world: World, as_: As) -> None:
    rows.address(rows.active_space(world.tenant), "rejected", "queue")

    shown = as_(world.owner).get(HOME + "spaces/orders/addresses/new").content.decode()

    assert "Dead letters go to" not in shown


def test_a_subscription_is_offered_once_there_is_a_topic(world: World, as_: As) -> None:
    space, client = rows.active_space(world.tenant), as_(world.owner)
    url = HOME + "spaces/orders/addresses/new"

    before = client.get(url).content.decode()
    rows.address(space, "events", "topic")
    asked = {"address": "mine", "address_plan": "standard-small-subscription", "topic": "events"}
    client.post(url, asked)

    assert "standard-small-subscription" not in before
    topic = Address.objects.get(address="mine").topic
    assert topic is not None
    assert topic.address == "events"


@pytest.mark.parametrize(
    ("name", "words"), [("a b", "address.invalid"), ("taken", "address.exists")]
)
def test_a_refused_address_says_why(world: World, as_: As, name: str, words: str) -> None:
    rows.address(rows.active_space(world.tenant), "taken")
    asked = {"address": name, "address_plan": "standard-small-queue"}

    answer = as_(world.owner).post(HOME + "spaces/orders/addresses/new", asked)

    assert words in answer.content.decode()
    assert Address.objects.count() == 1


@pytest.mark.parametrize("name", ["plain", "a/../b", "ünï?&=x", "100%"])
def test_an_address_of_any_legal_name_can_be_deleted(world: World, as_: As, name: str) -> None:
    address, client = rows.address(rows.active_space(world.tenant), name), as_(world.owner)
    page = client.get(HOME + "spaces/orders/").content.decode()
    (link,) = re.findall(r'href="([^"]+/delete)"', page)

    answer = client.post(html.unescape(link), {"confirmation": name})

    address.refresh_from_db()
    assert answer["Location"] == HOME + "spaces/orders/"
    assert address.deletion_requested_at is not None


def test_a_new_user_gets_a_password_that_is_shown_once_and_kept_nowhere(
    world: World, as_: As
) -> None:
    rows.active_space(world.tenant)
    client = as_(world.owner)
    asked = {"name": "checkout", "operations": ["send"], "addresses": "orders/# events"}

    posted = client.post(HOME + "spaces/orders/users/new", asked)
    url = posted["Location"]
    waiting = str(dict(client.session))
    answer = client.get(url)

    page = answer.content.decode()
    (password,) = re.findall(r'class="secret" data-copy>([^<]+)<', page)
    user = MessagingUser.objects.get(name="checkout")
    assert len(password) >= 32
    assert answer["Cache-Control"] == "no-store"
    assert user.permissions == [{"addresses": ["orders/#", "events"], "operations": ["send"]}]
    kept = [str(user.verifiers), *map(str, AuditEvent.objects.values_list("after", flat=True))]
    assert not [text for text in kept if password in text]
    assert password not in client.get(HOME + "spaces/orders/users").content.decode()
    assert password not in waiting + str(dict(client.session))
    # A reload shows it no more, creates nobody and offers a new password.
    assert "Set a new password" in client.get(url).content.decode()
    assert MessagingUser.objects.count() == 1


def test_a_lost_password_is_replaced(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    user = rows.messaging_user(space)
    before, url = user.verifiers, HOME + "spaces/orders/users/checkout/password"

    shown = as_(world.owner).post(url, {"renew": "yes"}, follow=True).content.decode()

    (password,) = re.findall(r'class="secret" data-copy>([^<]+)<', shown)
    user.refresh_from_db()
    assert len(password) >= 32
    assert user.verifiers != before
    assert user.permissions == [{"addresses": ["#"], "operations": ["send", "recv"]}]


def test_a_refused_user_says_why(world: World, as_: As) -> None:
    rows.active_space(world.tenant)
    asked = {"name": "Bad Name", "operations": ["send"], "addresses": "#"}

    answer = as_(world.owner).post(HOME + "spaces/orders/users/new", asked)

    assert answer.status_code == 422
    assert "messaging_user.invalid" in answer.content.decode()
    assert not MessagingUser.objects.exists()


def test_a_user_is_revoked_after_a_typed_confirmation(world: World, as_: As) -> None:
    user = rows.messaging_user(rows.active_space(world.tenant))

    as_(world.owner).post(
        HOME + "spaces/orders/users/checkout/revoke", {"confirmation": "checkout"}
    )

    user.refresh_from_db()
    assert user.deletion_requested_at is not None
    assert Operation.objects.filter(subject_id=user.pk, kind="messaging_user.revoke").exists()


def test_the_examples_are_filled_in_for_the_chosen_user_and_address(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    rows.address(space, "events", "topic")
    rows.address(space, "work")
    rows.messaging_user(space, "one")
    rows.messaging_user(space, "two")
    client = as_(world.owner)

    first = client.get(HOME + "spaces/orders/connect").content.decode()
    chosen = client.get(HOME + "spaces/orders/connect?user=two&address=events").content.decode()
    unknown = client.get(HOME + "spaces/orders/connect?user=x&address=y").content.decode()

    assert "create_receiver(&quot;work&quot;)" in first  # a queue first: it keeps the message
    assert "user=&quot;two&quot;" in chosen
    assert "createTopic(&quot;events&quot;)" in chosen
    assert "user=&quot;one&quot;" in unknown


def test_another_tenants_space_is_not_there_even_by_the_same_name(world: World, as_: As) -> None:
    rows.active_space(world.other, "theirs")

    answer = as_(world.owner).get(HOME + "spaces/theirs/")

    assert answer.status_code == 404
    assert "address_space.missing" in answer.content.decode()


@pytest.mark.parametrize("path", ["", "spaces/", "usage/"])
def test_lists_take_as_many_queries_for_one_space_as_for_many(
    world: World, as_: As, path: str
) -> None:
    client = as_(world.owner)
    # Each plan in use is read once, so both are in use from the beginning.
    rows.address(rows.active_space(world.tenant, "first"))
    rows.address(rows.active_space(world.tenant, "second", "brokered-small"))
    client.get(HOME + path)

    with CaptureQueriesContext(
        connection,
    ) as one:
        client.get(HOME + path)
    for number in range(3):
        rows.address(rows.active_space(world.tenant, f"space-{number}", "brokered-small"))
    with CaptureQueriesContext(connection) as many:
        client.get(HOME + path)

    assert len(many) == len(one)


@pytest.mark.parametrize("path", ["", "users", "connect", "activity", "status"])
def test_a_space_takes_as_many_queries_with_one_address_as_with_many(
    world: World, as_: As, path: str
) -> None:
    client, space = as_(world.owner), rows.active_space(world.tenant)
    rows.address(space, "first", "topic")
    rows.messaging_user(space, "first")
    url = f"{HOME}spaces/orders/{path}"
    client.get(url)

    with CaptureQueriesContext(connection) as one:
        client.get(url)
    for number in range(5):
        rows.address(space, f"address-{number}")
        rows.messaging_user(space, f"user-{number}")
    with CaptureQueriesContext(connection) as many:
        client.get(url)

    assert len(many) == len(one)


def test_long_lists_come_in_pages(world: World, as_: As) -> None:
    space, client = rows.active_space(world.tenant), as_(world.owner)
    for number in range(51):
        Address.objects.create(
            space=space,
            address=f"a{number:02}",
            type="queue",
            address_plan=publishing.address_plan("standard-small-queue"),
        )

    first = client.get(HOME + "spaces/orders/").content.decode()
    second = client.get(HOME + "spaces/orders/?page=2").content.decode()

    assert "a49<" in first
    assert "a50<" not in first
    assert 'href="?page=2"' in first
    assert "a50<" in second


def test_many_running_operations_are_counted_not_listed(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    for number in range(8):
        addresses.create(
            space=space,
            address=f"a{number}",
            type="queue",
            address_plan="standard-small-queue",
            by=rows.STAFF,
        )

    page = as_(world.owner).get(HOME + "spaces/orders/status").content.decode()

    assert page.count("Create address a") == 5
    assert "And 3 more." in page


def test_a_space_that_is_ready_leads_to_how_clients_connect(world: World, as_: As) -> None:
    space, client = rows.space(world.tenant), as_(world.owner)
    url, link = HOME + "spaces/orders/", ">How clients connect</a>"

    unready = client.get(url).content.decode()
    rows.real(space)
    ready = client.get(url).content.decode()

    assert f'<a href="{url}connect"{link}' in ready
    assert link not in unready
