"""Link routes of one pattern: their connections take turns, as Dispatch lets them."""

from workers.services.devrouter.configured import Configured, LinkRoute


def route(name: str, connection: str, prefix: str = "orders") -> LinkRoute:
    return LinkRoute(name, name, "in", connection, prefix=prefix)


def configured(*routes: LinkRoute) -> Configured:
    made = Configured("unavailable")
    for one in routes:
        made.add_route(one)
    return made


def found(of: Configured, n: int, up: frozenset[str] = frozenset({"a", "b"})) -> list[str]:
    """Return the connections of ``n`` links of clients, one after the other."""
    routes = (of.find_route("in", "orders/1", up.__contains__) for _ in range(n))
    return [one.connection if one else "" for one in routes]


def test_routes_of_one_pattern_take_turns() -> None:
    made = configured(route("one", "a"), route("two", "b"))

    assert found(made, 4) == ["a", "b", "a", "b"]


def test_a_route_whose_broker_is_away_is_left_out_while_another_has_one() -> None:
    made = configured(route("one", "a"), route("two", "b"))

    assert found(made, 3, frozenset({"b"})) == ["b", "b", "b"]
    # The client is refused then, because of a route without a broker.
    assert found(made, 1, frozenset()) != [""]


def test_a_deleted_route_leaves_the_others_of_its_pattern() -> None:
    first, second = route("one", "a"), route("two", "b")
    made = configured(first, second)

    made.remove_route(first)
    assert found(made, 2) == ["b", "b"]
    made.remove_route(second)
    assert found(made, 1) == [""]


def test_only_routes_of_the_most_specific_pattern_take_turns() -> None:
    made = configured(route("one", "a"), route("two", "b", "orders/1"))

    assert found(made, 2) == ["b", "b"]
