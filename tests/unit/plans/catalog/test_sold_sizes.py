"""A catalog that sells more than a broker or an object of the cluster holds is refused."""

import re
from importlib import resources

import pytest
import yaml
from pytest_django import Settings

from controlplane.core.errors import Invalid
from plans.catalog import definitions, parsing, publishing


def refusal(section: str, key: str, **changes: str | None) -> str:
    """Return why the default catalog with these changes of one plan is refused."""
    document = yaml.load(publishing.default_yaml(), Loader=yaml.BaseLoader)
    document[section][key] |= changes
    with pytest.raises(Invalid) as refused:
        parsing.parse(yaml.safe_dump(document, sort_keys=False).replace("'null'", "null"))
    return str(refused.value)


def test_more_bytes_than_the_volume_stores_are_not_sold() -> None:
    text = refusal("address_plans", "standard-small-queue", max_bytes="104857600")

    assert "address_plans.standard-small-queue.max_bytes" in text
    assert "sells 10,000 MiB on one broker of the space plan" in text
    assert "stores 4,096 MiB" in text
    assert "write 42949672 at most here, or broker_disk_gb 11 there" in text


def test_a_plan_without_a_disk_size_is_compared_with_the_installation_s(settings: Settings) -> None:
    settings.SPACE_STORAGE_GB = 2

    assert "stores 1,024 MiB" in refusal("space_plans", "standard-medium", broker_disk_gb=None)


def test_a_broker_without_a_disk_sells_its_message_memory() -> None:
    text = refusal("space_plans", "brokered-small", broker_persistent="false")

    assert "whose message memory stores 42 MiB" in text


def test_no_space_plan_sells_broker_credit_that_no_address_can_use() -> None:
    """Each address of a standard space takes credit of both, so that of routers may end first."""
    catalog = parsing.parse(publishing.default_yaml())
    most = max(
        plan.broker_credit / plan.router_credit
        for plan in catalog.address_plans
        if plan.router_credit
    )

    for plan in catalog.space_plans:
        if plan.router_credit:
            assert plan.broker_credit <= plan.router_credit * most, plan.key
            assert plan.max_brokers * 1000 <= plan.broker_credit, plan.key


def test_what_filters_may_store_is_kept_free() -> None:
    """Without filters, ten queues of this size fit the volume of 5 GiB."""
    text = refusal("address_plans", "brokered-medium-queue", max_bytes="429496729")

    assert "stores 4,000 MiB" in text
    assert "write 419430400 at most here, or broker_disk_gb 6 there" in text


def test_the_plugin_and_the_law_agree_about_filters() -> None:
    package = resources.files("workers.messaging.brokers") / "plugin/waypost/broker"
    source = (package / "Filters.java").read_text()
    found = {
        name: int(number.replace("_", ""))
        for name, number in re.findall(r"(?:long|int) ([A-Z_]+) = ([0-9_]+);", source)
    }

    assert found["MOST_BYTES_OF_ALL"] == definitions.FILTER_BYTES
    assert found["PARTS_OF_MEMORY"] == definitions.FILTER_PARTS_OF_MEMORY


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"broker_message_memory_mb": "60"}, "write broker_message_memory_mb 51 at most"),
        ({"max_message_kb": "9000"}, "write max_message_kb 8192 at most"),
        ({"max_addresses": "2000"}, "write 1428 at most"),
        ({"placement": "fast"}, "is not a placement profile of this installation, which has: none"),
        ({"broker_persistent": "maybe"}, "must be true or false"),
        ({"max_connection_rate": "5"}, "no router limits max_connection_rate"),
        ({"max_user_rate": "5"}, "no router limits max_user_rate"),
    ],
)
def test_figures_of_a_space_plan_that_do_not_fit(changes: dict[str, str], part: str) -> None:
    assert part in refusal("space_plans", "standard-small", **changes)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"max_users": "500"}, "sells 100 addresses with 500 users"),
        ({"max_user_rate": "0"}, "from 1"),
        ({"max_source_connections": "5"}, "no broker limits max_source_connections"),
        ({"max_source_connections": "5"}, "or sell a standard space"),
        ({"broker_memory_mb": "256"}, "sells 2000 connections to a broker with a heap of 256 MiB"),
        ({"broker_memory_mb": "256"}, "write 1264 at most"),
    ],
)
def test_figures_of_a_brokered_plan_that_do_not_fit(changes: dict[str, str], part: str) -> None:
    assert part in refusal("space_plans", "brokered-medium", **changes)


def test_a_profile_that_the_installation_defines_is_accepted(settings: Settings) -> None:
    settings.PLACEMENTS = ("fast",)
    text = publishing.default_yaml().replace("max_brokers: 1,", "max_brokers: 1, placement: fast,")

    assert parsing.parse(text).space_plans[0].placement == "fast"


def test_a_plan_of_before_these_sizes_keeps_its_files() -> None:
    plan = parsing.parse(publishing.default_yaml()).document["space_plans"]["standard-small"]
    new = ("broker_", "placement", "max_message", "max_user_", "max_connection_")
    old = {
        name: value
        for name, value in plan.items()
        if not name.startswith(new) or name == "broker_credit"
    }

    found = definitions.space_plan("standard-small", {**old, "broker_memory_mb": 128})

    assert (found.broker_message_memory_mb, found.broker_journal) == (48, "nio")
    assert (found.broker_disk_gb, found.max_message_kb, found.broker_persistent) == (
        None,
        None,
        True,
    )
