"""What the catalog that ships with Waypost sells."""

from plans.catalog import parsing, publishing
from plans.catalog.definitions import Catalog, SpacePlanDefinition


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


def test_no_user_may_take_all_connections_of_a_standard_space() -> None:
    limits = {
        plan.key: (plan.max_user_connections, plan.max_connections)
        for plan in standard(parsing.parse(publishing.default_yaml()))
    }

    assert limits
    assert all(user is not None and user < every for user, every in limits.values()), limits


def test_every_standard_space_limits_sessions_and_links() -> None:
    for plan in standard(parsing.parse(publishing.default_yaml())):
        assert plan.max_connection_sessions and plan.max_connection_senders, plan.key
        assert plan.max_connection_receivers, plan.key


def standard(catalog: Catalog) -> list[SpacePlanDefinition]:
    return [plan for plan in catalog.space_plans if plan.space_type == "standard"]
