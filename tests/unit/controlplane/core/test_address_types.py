"""Every setting of the registry is on every surface, and none is on a surface alone."""

import re
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import pytest
import typer.main
from django.db import models

from controlplane.api import schema
from controlplane.api.addresses import (
    AddressCreateSerializer,
    AddressSerializer,
    AddressSpecSerializer,
)
from controlplane.cli.app import app
from controlplane.console.forms.setting_fields import form_name
from controlplane.console.forms.spaces import AddressForm
from controlplane.core import address_types
from controlplane.core.address_types import (
    SETTINGS,
    AddressSettings,
    PlanSettings,
    Setting,
    effective,
)
from controlplane.core.errors import Invalid
from controlplane.core.setting_values import Text, Whole, Width
from plans.catalog import parsing, publishing
from plans.catalog.definitions import AddressPlanDefinition
from tenants import address_rules
from tenants.models import Address, AddressType, SpaceType
from workers.messaging.brokers import address_settings, queue_settings
from workers.messaging.brokers.desired import BrokerAddressKind

NUMBERS = [setting for setting in SETTINGS if isinstance(setting.value, Whole)]
all_settings = pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
all_numbers = pytest.mark.parametrize("setting", NUMBERS, ids=lambda setting: setting.name)


def plan(space_type: str, address_type: str) -> AddressPlanDefinition:
    return AddressPlanDefinition(
        key=address_type, title="", space_type=space_type, address_type=address_type,
        router_credit=0, broker_credit=0, partitions=1, hour_price=Decimal(0),
    )  # fmt: skip


def form(data: dict[str, Any] | None = None, *, spaces: tuple[str, ...] = ("brokered",)) -> Any:
    """The portal's form in a space that has an address of each type."""
    offered = [(space, kind) for space in spaces for kind in address_types.offered_in(space)]
    existing = [Address(address=f"my-{kind}", type=kind) for kind in AddressType.values]
    return AddressForm(data, address_plans=[plan(*row) for row in offered], existing=existing)


def options(command: str) -> dict[str, Any]:
    tree: Any = typer.main.get_command(app)
    return {found.name: found for found in tree.commands["addresses"].commands[command].params}


def as_any(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a setting that is known at run time only; mypy cannot check them."""
    return values


def any_value(setting: Setting) -> int | str:
    """Return a legal value of the setting."""
    value = setting.value
    if isinstance(value, Whole):
        return value.smallest
    return value.choices[0] if isinstance(value, Text) and value.choices else "other"


@all_settings
def test_a_setting_is_on_every_surface(setting: Setting) -> None:
    for serializer in (AddressSpecSerializer, AddressCreateSerializer, AddressSerializer):
        assert setting.name in serializer().fields
    for command in ("create", "update"):
        assert setting.help_text in options(command)[setting.name].help
    assert form_name(setting) in form(spaces=setting.spaces).fields
    assert Address._meta.get_field(setting.name)
    assert (setting.name in asdict(PlanSettings())) is (setting.name in address_types.of_plans())


@all_settings
def test_a_setting_is_documented(setting: Setting) -> None:
    schemas = schema.document()["components"]["schemas"]

    for name in ("AddressSpecRequest", "AddressCreateRequest"):
        assert setting.help_text in schemas[name]["properties"][setting.name]["description"]
    assert setting.name in schemas["Address"]["properties"]


@all_settings
def test_a_setting_states_what_holds_without_it(setting: Setting) -> None:
    """The form of a new address adds the plan's value; for other settings there is this text."""
    is_of_plans = setting.name in address_types.of_plans()

    stated = re.search(r"[Dd]efault|Without it", setting.help_text)

    assert stated or is_of_plans or setting.is_relation  # an address must have a relation


def test_no_surface_has_a_setting_of_its_own() -> None:
    names = {setting.name for setting in SETTINGS}

    assert set(AddressSpecSerializer().fields) == {"type", "plan", "labels"} | names
    assert set(form(spaces=("brokered", "standard")).fields) == {"address", "address_plan"} | {
        form_name(setting) for setting in SETTINGS
    }
    assert options("create").keys() - names == {
        "space", "address", "plan", "type", "labels", "tenant", "no_wait", "form"
    }  # fmt: skip


@all_settings
def test_rules_accept_a_setting_where_the_table_offers_it(setting: Setting) -> None:
    settings = AddressSettings(**as_any({setting.name: any_value(setting)}))

    for space_type in SpaceType.values:
        for kind in address_types.offered_in(space_type):
            if setting.is_offered(space_type, kind):
                address_rules.check_settings(space_type, kind, settings)
            else:
                with pytest.raises(Invalid) as refusal:
                    address_rules.check_settings(space_type, kind, settings)
                assert set(refusal.value.fields) == {setting.name}


@pytest.mark.parametrize("name", address_types.of_plans())
def test_a_catalog_gives_a_default_and_has_the_tables_limits(name: str) -> None:
    # Disks that hold the default of each limit: the default catalog sells less.
    text = publishing.default_yaml().replace("broker_disk_gb: 5,", "broker_disk_gb: 50,")
    number = address_types.of_plans()[name]
    start = "{title: Brokered small queue,"
    assert text.count(start) == 1

    def parsed(value: object) -> AddressPlanDefinition:
        plan = next(line for line in text.splitlines() if start in line)
        others = re.sub(rf" {name}: [^,}}]+,", "", plan)  # the default catalog may name it
        given = text.replace(plan, others.replace(start, f"{start} {name}: {value},"))
        plans = parsing.parse(given).address_plans
        (found,) = [plan for plan in plans if plan.key == "brokered-small-queue"]
        return found

    assert getattr(parsed(number.smallest), name) == number.smallest
    assert getattr(parsed("null"), name) == number.plan_default
    with pytest.raises(Invalid, match=name):
        parsed(number.largest + 1)


@all_numbers
def test_a_number_has_a_column_that_holds_it(setting: Setting) -> None:
    assert isinstance(setting.value, Whole)
    column = Address._meta.get_field(setting.name)

    assert isinstance(column, models.IntegerField)
    assert column.null
    is_wide = isinstance(column, models.BigIntegerField)
    assert is_wide is (setting.value.width is Width.INT_53)


@all_numbers
def test_the_portal_takes_a_larger_unit_and_keeps_zero(setting: Setting) -> None:
    assert isinstance(setting.value, Whole)
    smallest = -(-setting.value.smallest // setting.value.unit.size)
    given = {"address": "a", "address_plan": "queue", form_name(setting): str(smallest)}

    entered, left_out = form(given), form({**given, form_name(setting): ""})

    assert entered.is_valid(), entered.errors
    assert left_out.is_valid(), left_out.errors
    assert entered.settings().given() == {setting.name: smallest * setting.value.unit.size}
    assert left_out.settings() == AddressSettings()


def test_the_portal_shows_a_reason_at_its_field() -> None:
    bound = form({"address": "a", "address_plan": "queue"})
    bound.refuse(Invalid("No.", message_ttl_ms=["Too long."]))

    assert bound.errors["message_ttl_seconds"] == ["Too long."]


@all_settings
def test_a_broker_gets_a_setting(setting: Setting) -> None:
    if setting.is_relation:
        return  # the topology of the broker follows it
    value = any_value(setting)
    limits = AddressSettings(**as_any({setting.name: value}))
    if not setting.engine:
        before = address_settings.render(AddressSettings(), BrokerAddressKind.QUEUE)
        has_changed = address_settings.render(limits, BrokerAddressKind.QUEUE) != before
        is_of_queue = queue_settings.attributes(limits).keys() == set(setting.queue) != set()
        assert has_changed or is_of_queue or value == "refuse"  # the default
        return

    found = address_settings.render(limits, BrokerAddressKind.QUEUE)

    assert {name: found.get(name) for name in setting.engine} == dict.fromkeys(
        setting.engine, str(value)
    )


@pytest.mark.parametrize(
    ("name", "own", "plans", "found"),
    [
        ("message_ttl_ms", 5, 9, 5),
        ("message_ttl_ms", 9, 5, 5),
        ("message_ttl_ms", None, 5, 5),
        ("message_ttl_ms", 9, None, 9),
        ("message_ttl_ms", None, None, None),
        ("max_delivery_attempts", 99, 10, 99),
        ("redelivery_delay_ms", 0, 500, 0),
        ("redelivery_delay_ms", None, 500, 500),
    ],
)
def test_effective_settings_stay_within_the_plan(
    name: str, own: int | None, plans: int | None, found: int | None
) -> None:
    settings = effective(
        AddressSettings(**as_any({name: own})), PlanSettings(**as_any({name: plans}))
    )

    assert getattr(settings, name) == found
