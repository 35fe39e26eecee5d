"""What the catalog that ships with Waypost sells."""

from plans.catalog import parsing, publishing


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
