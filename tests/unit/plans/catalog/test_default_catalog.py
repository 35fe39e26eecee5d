"""What the catalog that ships with Waypost sells."""

import re
from decimal import Decimal

from plans.catalog import parsing, publishing
from tests.support.plans.worked_examples import PAGE


def test_a_plan_that_sells_a_medium_queue_sells_its_dead_letters_and_partitions() -> None:
    catalog = parsing.parse(publishing.default_yaml())

    for plan in catalog.plans:
        sold = set(plan.address_plans)
        if "standard-medium-queue" in sold:
            assert {
                "standard-medium-partitioned-queue",
                "standard-medium-deadletter",
                "brokered-medium-deadletter",
            } <= sold
    spread = {row.key: row.partitions for row in catalog.address_plans if row.partitions > 1}
    assert spread == {"standard-medium-partitioned-queue": 2}


def test_no_user_may_take_all_connections_of_a_space() -> None:
    limits = {
        plan.key: (plan.max_user_connections, plan.max_connections)
        for plan in parsing.parse(publishing.default_yaml()).space_plans
    }

    assert limits
    assert all(user is not None and user < every for user, every in limits.values()), limits


def test_every_space_limits_sessions_links_and_the_size_of_messages() -> None:
    for plan in parsing.parse(publishing.default_yaml()).space_plans:
        limits = [
            plan.max_connection_sessions,
            plan.max_connection_senders,
            plan.max_connection_receivers,
            plan.max_message_kb,
        ]
        assert all(limits), plan.key


def test_brokered_spaces_sell_rates_and_others_none() -> None:
    rates = {
        plan.key: (plan.max_connection_rate, plan.max_user_rate)
        for plan in parsing.parse(publishing.default_yaml()).space_plans
    }

    assert rates["brokered-small"] == (2000, 4000)
    assert {rate for key, rate in rates.items() if key.startswith("standard")} == {(None, None)}


def test_the_page_of_examples_has_these_prices() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.M)
    stated = {row[0]: row[1:] for row in rows}
    stated.pop("---")
    wanted: dict[str, list[str]] = {name: [] for name in stated}
    for plan in parsing.parse(publishing.default_yaml()).plans:
        tiers = {
            meter: [tier.unit_price for tier in price.tiers] for meter, price in plan.prices.items()
        }
        messages: list[Decimal | str] = [*tiers.get("messages", [])]
        messages = [*messages, *messages[-1:]][:3]  # the last tier of Team has no upper end
        cells = [
            f"{Decimal(plan.monthly_fee_minor) / 100:.2f}",
            _shown(plan.included.get("messages", 0) // 10**6),
            *(messages or ["none"] * 3),
            _shown(plan.included.get("connection_ms", 0) // 3_600_000),
            *(tiers.get(meter, ["none"])[0] for meter in ("connection_ms", "stored_byte_ms")),
            *(_shown(plan.included.get(f"{what}_hours", 0)) for what in ("space", "address")),
        ]
        for name, cell in zip(wanted, cells, strict=True):
            wanted[name].append(str(cell))

    assert {name: list(cells) for name, cells in stated.items()} == wanted


def test_the_page_of_examples_has_the_prices_of_hours() -> None:
    catalog = parsing.parse(publishing.default_yaml())
    _, *rest = PAGE.split("| An hour of | Price |")
    stated = dict(re.findall(r"^\| ([^|]+) \| ([\d.]+) \|$", rest[0].split("## ")[0], re.M))
    spaces = {plan.key: str(plan.hour_price) for plan in catalog.space_plans}
    addresses = {
        ("a medium queue on two brokers" if plan.partitions > 1
         else f"an address of a {plan.key.split('-')[1]} plan", str(plan.hour_price))
        for plan in catalog.address_plans
    }  # fmt: skip

    assert stated == spaces | dict(addresses)
    assert len(stated) == len(spaces) + len(addresses)


def _shown(number: int) -> str:
    return f"{number:,}" if number else "none"
