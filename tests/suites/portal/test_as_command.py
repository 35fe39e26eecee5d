"""Forms show what they do as a command, as YAML and as a call of the API, and all exist."""

import html
import json
import re
import shlex
from datetime import time
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from django.db import transaction
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from controlplane.api import person_tokens
from controlplane.cli import tenant_file
from controlplane.cli.app import app
from tenants.actions import api_tokens, invitations
from tenants.models import Address, AddressSpace, ApiToken, MessageRequest, MessagingUser
from tenants.notifications.models import Channel, SpendBudget
from tests.suites.portal.conftest import As
from tests.support import command
from tests.support.notifications import notified
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"
SPACE = HOME + "spaces/orders/"


@pytest.fixture
def world(db: None) -> World:
    """A tenant on a plan with several sizes, with a space, an address and a messaging user."""
    made = rows.world("business")
    space = rows.active_space(made.tenant)
    rows.address(space, "a/b")
    for model in (AddressSpace, Address):
        model.objects.update(labels={"team": "shop"})
    rows.messaging_user(space)
    return made


def shown(page: str, label: str) -> str:
    """Return the line for a shell that the page shows under this label; '' if there is none."""
    found = re.findall(rf'aria-label="{label}"><code data-copy>(.*?)</code>', page, re.S)
    return html.unescape(found[0]) if found else ""


def parse(line: str) -> Any:
    """Return the parameters of the line, which the command parses without running it.

    It raises on what it does not know.
    """
    name, *words = shlex.split(line)
    assert name == "waypost"
    found: Any = typer.main.get_command(app)
    while hasattr(found, "commands"):  # a group, such as ``waypost spaces``
        found = found.commands[words.pop(0)]
    return found.make_context("waypost", words).params


def parse_file(page: str, folder: Path) -> tenant_file.TenantFile:
    """Return the YAML of the page as `waypost apply` reads it; it raises on what it refuses."""
    file = folder / "shown.yaml"
    file.write_text(shown(page, "YAML"), encoding="utf-8")
    return tenant_file.read(file)


def requested(line: str) -> tuple[str, str, dict[str, object]]:
    """Return method, path and body of a call, whose path has a view for the method."""
    words = shlex.split(line.replace("\\\n", " "))
    method, url = words[2], words[3]
    path = "/api/v1" + url.split("/api/v1", 1)[1]
    view = resolve(path).func.view_class  # type: ignore[attr-defined]
    assert hasattr(view, method.lower())
    assert ("If-Match: *" in words) == (method in ("PUT", "PATCH"))
    body = json.loads(words[words.index("-d") + 1]) if "-d" in words else {}
    return method, path, body


@pytest.mark.parametrize(
    ("path", "has_command", "in_file"),
    [
        ("spaces/-/new", True, "plan"),
        ("spaces/orders/plan", True, "plan"),
        ("spaces/orders/settings", True, ""),
        ("spaces/orders/labels", True, "labels"),
        ("spaces/orders/addresses/ADDRESS/labels", True, "addresses"),
        ("spaces/orders/addresses/new", True, "addresses"),
        ("spaces/orders/addresses/new?type=topic", True, "addresses"),
        ("spaces/orders/addresses/ADDRESS/settings", True, "addresses"),
        ("spaces/orders/addresses/ADDRESS/alarms", True, "alarms"),
        ("spaces/orders/addresses/ADDRESS/delete", True, ""),
        ("spaces/orders/users/new", True, "users"),
        ("spaces/orders/users/checkout/password", True, ""),
        ("spaces/orders/users/checkout/revoke", True, ""),
        ("settings/plan?plan=team", False, ""),
        ("maintenance/", True, "maintenance_windows"),
        ("team/", True, ""),
        ("tokens/", True, "tokens"),
        ("settings/", False, ""),
        ("notifications/channels/-/new", True, ""),
        ("spaces/orders/first-message", True, ""),
        ("spaces/orders/addresses/ADDRESS/messages", True, ""),
        ("spaces/orders/addresses/ADDRESS/messages/purge", True, ""),
        ("spaces/orders/connections/close?ids=c1&ids=c2", True, ""),
        ("spaces/orders/connections/close?user=checkout", True, ""),
    ],
)
def test_command_yaml_and_call_of_a_form_exist(
    world: World, as_: As, tmp_path: Path, path: str, has_command: bool, in_file: str
) -> None:
    url = HOME + path.replace("ADDRESS", Address.objects.get().pk)

    page = as_(world.owner).get(url).content.decode()

    requested(shown(page, "API call"))
    line, file = shown(page, "Command"), yaml.safe_load(shown(page, "YAML")) or {}
    space = file.get("spaces", [{}])[0]
    assert bool(line) == has_command
    assert bool(file) == bool(in_file)
    assert not in_file or in_file in {**file, **space}
    parse_file(page, tmp_path)  # an empty file too describes a tenant
    if line:
        parse(line)


def test_a_form_shows_what_it_has_now_and_changes_nothing(
    world: World, as_: As, tmp_path: Path
) -> None:
    client, show = as_(world.owner), {"show": "command"}
    new_space = {"name": "shop's", "space_plan": "brokered-small"}
    new_address = {
        "address": "new",
        "address_plan": "standard-small-queue",
        "message_ttl_seconds": "60",
    }
    new_user = {"name": "bob", "operations": ["recv"], "addresses": "orders/# x"}

    space = client.post(HOME + "spaces/-/new", new_space | show).content.decode()
    address = client.post(SPACE + "addresses/new", new_address | show).content.decode()
    user = client.post(SPACE + "users/new", new_user | show).content.decode()
    window = {"weekday": "6", "starts_at": "02:00", "minutes": "60"} | show
    windows = client.post(HOME + "maintenance/", window).content.decode()

    for page in (space, address, user, windows):
        parse_file(page, tmp_path)
    for page in (space, address, user, windows):
        parse(shown(page, "Command"))
    _, _, of_space = requested(shown(space, "API call"))
    assert of_space == {
        "name": "shop's", "type": "brokered", "plan": "brokered-small", "dead_letters": False,
    }  # fmt: skip
    _, _, of_address = requested(shown(address, "API call"))
    assert of_address["message_ttl_ms"] == 60_000
    expected = {
        "address": "new", "type": "queue", "plan": "standard-small-queue", "message_ttl_ms": 60_000,
    }  # fmt: skip
    space_now = {"name": "orders", "type": "standard", "addresses": [expected]}
    file = {"tenant": "acme-shipping", "spaces": [space_now]}
    assert yaml.safe_load(shown(address, "YAML")) == file
    assert "--message-ttl-ms 60000" in shown(address, "Command")
    assert "--recv 'orders/#' --recv x" in shown(user, "Command")
    assert shown(windows, "Command").startswith("waypost windows add sunday 02:00 60 ")
    _, _, of_windows = requested(shown(windows, "API call"))
    assert of_windows["windows"] == [{"weekday": 6, "starts_at": "02:00", "minutes": 60}]
    listed = yaml.safe_load(shown(windows, "YAML"))["maintenance_windows"]
    assert listed == [{"weekday": "sunday", "starts_at": "02:00", "minutes": 60}]
    counts = [model.objects.count() for model in (AddressSpace, Address, MessagingUser)]
    assert counts == [1, 1, 1]
    assert not world.tenant.maintenance_windows.exists()


def test_changed_settings_and_alarms_are_shown_and_not_stored(
    world: World, as_: As, tmp_path: Path
) -> None:
    client, row = as_(world.owner), Address.objects.get()
    url, show = f"{SPACE}addresses/{row.pk}/", {"show": "command"}
    changed = {"generation": row.generation, "max_delivery_attempts": "7"}
    alarm = {"metric": "age", "threshold": "600", "for_seconds": "30", "clear_below": "60"}

    settings = client.post(url + "settings", changed | show).content.decode()
    alarms = client.post(url + "alarms", alarm | show).content.decode()

    for page in (settings, alarms):
        parse_file(page, tmp_path)
        parse(shown(page, "Command"))
    method, path, body = requested(shown(settings, "API call"))
    assert (method, path.endswith("/addresses/a%2Fb")) == ("PUT", True)
    # Without ``dead_letter`` the address would get the default of the space.
    changes = {"max_delivery_attempts": 7, "dead_letter": ""}
    assert body == {"type": "queue", "plan": row.address_plan.key, **changes}
    assert "a/b age 600 for 30 below 60" in shown(alarms, "Command")
    row.refresh_from_db()
    assert row.settings.max_delivery_attempts is None
    assert not row.alarms.exists()


def test_changed_labels_are_shown_and_not_stored(world: World, as_: As, tmp_path: Path) -> None:
    client, row = as_(world.owner), Address.objects.get()
    Address.objects.update(max_delivery_attempts=3)
    entered = {"labels": "env=prod", "save": "yes", "show": "command"}

    of_space = client.post(f"{SPACE}labels", entered).content.decode()
    of_address = client.post(f"{SPACE}addresses/{row.pk}/labels", entered).content.decode()

    words = ["env=prod", "team-"]
    assert parse(shown(of_space, "Command"))["changes"] == words
    assert parse(shown(of_address, "Command"))["changes"] == words
    for page in (of_space, of_address):
        method, _, body = requested(shown(page, "API call"))
        assert (method, body) == ("PATCH", {"labels": {"env": "prod"}})
    (space,) = parse_file(of_space, tmp_path).spaces or []
    assert (space.labels, space.addresses) == ({"env": "prod"}, None)
    (space,) = parse_file(of_address, tmp_path).spaces or []
    (address,) = space.addresses or []
    assert (address.labels, address.max_delivery_attempts) == ({"env": "prod"}, 3)
    assert set(Address.objects.values_list("labels__team", flat=True)) == {"shop"}
    assert [answered(world, page) for page in (of_space, of_address)] == [200, 200]
    row.refresh_from_db()
    assert row.labels == {"env": "prod"}


def test_enter_in_a_field_does_what_the_form_is_for(world: World, as_: As) -> None:
    """Browsers press the first button of a form on Enter: it must not be the one that shows."""
    page = as_(world.owner).get(SPACE + "users/new").content.decode()

    assert page.index("Create user</button>") < page.index('name="show"')


@pytest.mark.parametrize("keeps", [True, False])
def test_the_file_of_a_new_space_makes_the_space_that_the_form_makes(
    world: World, as_: As, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    client, url = as_(world.owner), HOME + "spaces/-/new"
    run = command.as_people({"owner": world.owner}, world.tenant.slug, monkeypatch)
    form = {"name": "shop", "space_plan": "brokered-small"} | (
        {"dead_letters": "on"} if keeps else {}
    )
    client.post(url, form)
    page = client.post(url, form | {"name": "by-file", "show": "command"}).content.decode()
    parse_file(page, tmp_path)

    applied = run("apply", "-f", str(tmp_path / "shown.yaml"))

    assert applied.code == 0, applied.stderr
    made, by_form = (
        list(Address.objects.filter(space__name=name).values("address", "type", "address_plan"))
        for name in ("by-file", "shop")
    )
    assert made == by_form
    assert len(made) == int(keeps)
    assert run("export", "--to", str(tmp_path / "all.yaml")).code == 0
    again = run("apply", "-f", str(tmp_path / "all.yaml"), "--dry-run")
    assert again.stdout == "in sync: nothing to change\n"


def test_no_dead_letters_and_emptied_settings_are_shown(
    world: World, as_: As, tmp_path: Path
) -> None:
    space, row = AddressSpace.objects.get(), Address.objects.get()
    rows.address(space, "dead-letters", "deadletter")
    Address.objects.filter(pk=row.pk).update(dead_letter="dead-letters", max_delivery_attempts=3)
    client, show = as_(world.owner), {"show": "command"}
    new = {"address": "new", "address_plan": "standard-small-queue", "dead_letter": ""}
    emptied = {"generation": row.generation, "dead_letter": "", "max_delivery_attempts": ""}

    created = client.post(SPACE + "addresses/new", new | show).content.decode()
    url = f"{SPACE}addresses/{row.pk}/settings"
    changed = client.post(url, emptied | show).content.decode()

    for page in (created, changed):
        assert requested(shown(page, "API call"))[2]["dead_letter"] == ""
        spaces = parse_file(page, tmp_path).spaces or []
        assert [address.dead_letter for address in spaces[0].addresses or []] == [""]
        assert parse(shown(page, "Command"))["dead_letter"] == ""
    assert parse(shown(changed, "Command"))["reset"] == ["max-delivery-attempts"]


@pytest.mark.parametrize("missing", ["operations", "addresses"])
def test_a_user_who_may_do_nothing_has_no_command(world: World, as_: As, missing: str) -> None:
    """`waypost users create` without --send and --recv would allow everything."""
    entered = {"name": "bob", "operations": ["recv"], "addresses": "a", "show": "command"}
    del entered[missing]
    text = as_(world.owner).post(SPACE + "users/new", entered).content.decode()
    assert (shown(text, "Command"), shown(text, "YAML")) == ("", "")
    assert shown(text, "API call")


def answered(world: World, page: str) -> int:
    """Return the status with which the API answers the call that the page shows."""
    method, path, body = requested(shown(page, "API call"))
    token = person_tokens.issue(world.owner, timezone.now())[0]
    headers = {"Authorization": f"Bearer {token}", "If-Match": "*"}
    sent = Client().generic(method, path, json.dumps(body), "application/json", headers=headers)
    return sent.status_code


def test_the_api_accepts_the_calls_of_forms_of_the_organization(
    world: World, as_: As, tmp_path: Path
) -> None:
    client, show = as_(world.owner), {"show": "command"}
    billing = {
        "billing_name": "Acme", "billing_email": "a@acme.example", "billing_address": "1 Way",
        "billing_country": "de", "tax_id": "", "billing_time_zone": "Europe/Berlin",
    }  # fmt: skip
    token = {"name": "ci", "role": "developer", "days": "30"}
    limits = {"spaces": "orders", "permissions": ["view"]}
    channel = {"name": "ops", "kind": "webhook", "url": "https://hooks.example/key"}

    def post(path: str, values: dict[str, Any]) -> str:
        return client.post(HOME + path, values | show).content.decode()

    invited = post("team/", {"email": "new@acme.example", "role": "viewer"})
    issued, limited = post("tokens/", token), post("tokens/", token | limits | {"name": "less"})
    made = post("notifications/channels/-/new", channel | {"kinds": ["alarm.raised"]})
    chat = post("notifications/channels/-/new", channel | {"kind": "chat"})
    billed = post("settings/", billing)

    assert not world.tenant.invitations.exists()
    assert not ApiToken.objects.exists()
    assert not Channel.objects.exists()
    assert parse(shown(invited, "Command"))["role"] == "viewer"
    assert parse(shown(issued, "Command"))["expires"] == "30d"
    assert parse(shown(limited, "Command"))["only"] == ["space:orders", "view"]
    assert parse(shown(made, "Command"))["kinds"] == ["alarm.raised"]
    assert shown(chat, "Command") == ""  # the command takes such a URL for a webhook
    assert [one.expires for one in parse_file(issued, tmp_path).tokens or []] == ["30d"]
    (of_file,) = parse_file(limited, tmp_path).tokens or []
    assert (of_file.spaces, of_file.permissions) == (["orders"], ["view"])
    assert [answered(world, page) for page in (invited, issued, limited)] == [201, 201, 201]
    assert (answered(world, made), answered(world, billed)) == (201, 200)
    row = Channel.objects.get()
    own = f"notifications/channels/{row.pk}"
    changed = post(own, {"name": "ops", "enabled": ""})
    assert requested(shown(changed, "API call"))[2]["enabled"] is False
    assert answered(world, changed) == 200
    deletion = client.get(f"{HOME}{own}/delete").content.decode()
    assert parse(shown(deletion, "Command"))["channel"] == str(row.pk)
    assert answered(world, deletion) == 204


BUTTONS = re.compile(r'aria-label="(?:Command|API call): ([^"]*)"')


def of_button(page: str, title: str, world: World) -> tuple[Any, int]:
    """Return the parameters of the button's command, and the status of its call."""
    found = page.replace(f": {title}&quot;", "&quot;").replace(f': {title}"', '"')
    line = shown(found, "Command")
    return parse(line) if line else None, answered(world, found)


def test_the_api_accepts_the_calls_of_buttons_of_rows(world: World, as_: As) -> None:
    client, row = as_(world.owner), Address.objects.get()
    tenant = world.tenant
    token, _ = api_tokens.issue(
        tenant=tenant, name="ci", role="viewer", expires_at=None, by=rows.STAFF
    )
    invited = invitations.invite(tenant=tenant, email="n@x.test", role="viewer", by=rows.STAFF)
    alarm = notified.alarm(row)
    delivery = notified.delivery(notified.webhook(tenant))
    begins = time(2)
    tenant.maintenance_windows.create(weekday=6, starts_at=begins, minutes=60)
    member = world.member.email
    pages = {
        path: client.get(HOME + path).content.decode()
        for path in (
            "tokens/", "team/", "maintenance/", f"spaces/orders/addresses/{row.pk}/alarms",
            f"notifications/channels/{delivery.channel_id}",
            f"notifications/deliveries/{delivery.pk}",
        )
    }  # fmt: skip
    tokens, team, windows, alarms, channel, sent = pages.values()

    expected: list[tuple[str, str, dict[str, Any], int]] = [
        (tokens, "Rotate ci", {"token": str(token.pk)}, 200),
        (tokens, "Revoke ci", {"token": str(token.pk)}, 204),
        (team, f"Set the role of {member}", {"email": member}, 200),
        (team, "Invite n@x.test again", {"invitation": invited.pk}, 200),
        (team, "Revoke the invitation of n@x.test", {"invitation": invited.pk}, 204),
        (team, f"Hand over to {member}", {"email": member}, 200),
        (windows, "Remove sunday 02:00", {"day": "sunday", "start": "02:00"}, 200),
        (alarms, f"Delete the alarm at {alarm.threshold}", {"alarm": alarm.pk}, 204),
        (channel, "Send a test event", {"channel": delivery.channel_id}, 200),
        (channel, "New secret", {"channel": delivery.channel_id}, 200),
        (sent, "Send again", {"delivery": delivery.pk}, 200),
    ]
    for page, title, words, status in expected:
        sid = transaction.savepoint()
        command_line, answer = of_button(page, title, world)
        transaction.savepoint_rollback(sid)
        assert words.items() <= command_line.items(), title
        assert answer // 100 == status // 100, (title, answer)
    # None is shown that is not tried here, except that the owner may not remove the only owner.
    titles = {title for page in pages.values() for title in BUTTONS.findall(page)}
    assert {title for _, title, _, _ in expected} <= titles
    assert "Remove" in " ".join(titles)


def test_the_api_accepts_the_calls_of_bulk_pages_preferences_and_the_end(
    world: World, as_: As
) -> None:
    client, row, show = as_(world.owner), Address.objects.get(), {"show": "command"}
    user = MessagingUser.objects.get()

    bulk = client.post(f"{SPACE}addresses/-/delete", {"id": [row.pk]}).content.decode()
    users = client.post(f"{SPACE}users/-/revoke", {"id": [user.pk]}).content.decode()
    form = client.get(HOME + "notifications/").context["form"]
    kept = {name: "on" for name in form.fields if form[name].initial}
    changed = next(name for name in kept if not form.fields[name].disabled)
    del kept[changed]
    own = client.post(HOME + "notifications/", kept | show).content.decode()
    budget = client.post(HOME + "notifications/defaults", {"budget": "12.50"} | show)
    closing = client.get(HOME + "close").content.decode()

    assert requested(shown(bulk, "API call"))[2] == {"names": ["a/b"]}
    assert requested(shown(users, "API call"))[2] == {"names": ["checkout"]}
    assert parse(shown(own, "Command"))["kind"] == changed
    assert requested(shown(own, "API call"))[2] == {"choices": {changed: False}}
    defaults = budget.content.decode()
    assert requested(shown(defaults, "API call"))[2]["budget_minor"] == 1250
    assert parse(shown(defaults, "Command"))["amount"] == 1250
    assert not SpendBudget.objects.exists()
    assert parse(shown(closing, "Command"))["yes"] is False
    for page in (own, defaults, users, bulk, closing):
        assert answered(world, page) == 200
    world.tenant.refresh_from_db()
    assert world.tenant.erase_at is not None
    kept_open = client.get(HOME + "close").content.decode()
    assert answered(world, kept_open) == 200


@pytest.mark.parametrize("persistent", [True, False])
def test_the_deletion_of_a_space_says_what_becomes_of_its_volumes(
    world: World, as_: As, persistent: bool
) -> None:
    plan = AddressSpace.objects.get().space_plan
    definition = {**plan.definition, "broker_persistent": persistent}
    type(plan).objects.filter(pk=plan.pk).update(definition=definition)
    client, url = as_(world.owner), SPACE + "settings"

    page = client.get(url).content.decode()
    keeping = client.post(url, {"keep_volumes": "on", "show": "command"}).content.decode()

    assert ('name="keep_volumes"' in page) == persistent
    assert ("no volumes that could be kept" in page) != persistent
    assert parse(shown(keeping, "Command"))["keep_volumes"] is persistent
    assert shown(keeping, "API call").count("volumes=keep") == int(persistent)
    assert parse(shown(page, "Command"))["keep_volumes"] is False
    assert AddressSpace.objects.get().deletion_requested_at is None


def test_the_api_accepts_the_calls_of_forms_of_messages(world: World, as_: As) -> None:
    client, row = as_(world.owner), Address.objects.get()
    other = rows.address(row.space, "kept", "queue")
    lost = rows.address(row.space, "lost", "deadletter")
    own = f"{SPACE}addresses/{row.pk}/messages"
    message = {"body": "hi", "properties": 'n=7\nid="7"', "durable": "on", "show": "command"}
    one = {"message": ["broker-0:7"]}

    def post(path: str, values: dict[str, Any]) -> str:
        return client.post(path, values).content.decode()

    sent = post(f"{own}/send", message)
    moved = post(f"{own}/change", {"verb": "move", "to": other.address} | one)
    deleted = post(f"{own}/change", {"verb": "delete"} | one)
    resent = post(
        f"{SPACE}addresses/{lost.pk}/messages/change",
        {"verb": "resend", "everything": "on", "rate": "10"},
    )
    purged = client.get(f"{own}/purge").content.decode()
    closed = client.get(f"{SPACE}connections/close?user=checkout").content.decode()

    assert not MessageRequest.objects.exists()
    assert parse(shown(sent, "Command"))["prop"] == ["n=7", 'id="7"']
    assert requested(shown(sent, "API call"))[2]["properties"] == {"n": 7, "id": "7"}
    brief = post(f"{own}/send", {key: message[key] for key in ("body", "show")})
    assert shown(brief, "Command") == ""  # the command sends durable messages only
    assert parse(shown(moved, "Command"))["to"] == other.address
    assert parse(shown(deleted, "Command"))["message"] == ["broker-0:7"]
    assert parse(shown(resent, "Command"))["rate"] == 10
    assert parse(shown(closed, "Command"))["user"] == "checkout"
    for page in (sent, moved, deleted, resent, purged, closed):
        assert answered(world, page) == 202
        MessageRequest.objects.all().delete()  # one change at a time
