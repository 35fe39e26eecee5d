"""Hold the entities that management creates and deletes: addresses, autoLinks, linkRoutes.

``router`` and ``routed`` apply these entities to links. As in Dispatch, messages for a waypoint
address go to the broker in phase 0 and come from the broker in phase 1.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proton import Link

from workers.services.devrouter import matching
from workers.services.devrouter.matching import PatternTable

if TYPE_CHECKING:
    from workers.services.devrouter.engine import Connection
    from workers.services.devrouter.links import RouterLink

RETRY_SECONDS = 2.0  # delay before a refused autoLink is attached again


@dataclass
class AddressRule:
    """An entity of type router.config.address: how addresses under a prefix or pattern behave.

    Either ``prefix`` or ``pattern`` is empty.
    """

    name: str
    identity: str
    prefix: str = ""
    pattern: str = ""
    distribution: str = "balanced"
    waypoint: bool = False
    ingress_phase: int = 0
    egress_phase: int = 0

    @property
    def tokens(self) -> tuple[str, ...]:
        return matching.of_prefix(self.prefix) if self.prefix else matching.tokens(self.pattern)


@dataclass
class LinkRoute:
    """An entity of type router.config.linkRoute: clients' links to some names go to a broker.

    Either ``prefix`` or ``pattern`` gives the names; the other one is empty. ``direction``: "in"
    for links of clients that send, "out" for those that receive. ``connection``: the name of the
    connector to the broker.
    """

    name: str
    identity: str
    direction: str
    connection: str
    prefix: str = ""
    pattern: str = ""
    add_prefix: str = ""
    del_prefix: str = ""

    @property
    def tokens(self) -> tuple[str, ...]:
        return matching.of_prefix(self.prefix) if self.prefix else matching.tokens(self.pattern)

    @property
    def key(self) -> str:
        """The key of the route in the column ``owningAddr`` of rows of links.

        As in Dispatch, it begins with C (in) or D (out) for a prefix, E or F for a pattern.
        """
        letters = "CD" if self.prefix else "EF"
        return letters[self.direction == "out"] + (self.prefix or self.pattern)

    def external_name(self, name: str | None) -> str:
        """Return a client's ``name`` of a node as the broker knows it.

        That is without the prefix ``del_prefix``, and with ``add_prefix`` before it. None counts as
        empty.
        """
        return self.add_prefix + (name or "").removeprefix(self.del_prefix)


@dataclass(eq=False)
class AutoLink:
    """An entity of type router.config.autoLink: the router's own link to a queue of a broker.

    * ``direction``: "in" if the router receives from the broker.
    * ``connection``: the name of the connector.
    * ``state``: inactive (no connection) -> attaching -> active, or failed; then ``retry`` is
      called after ``RETRY_SECONDS``.
    * ``link``: None while it has no link.
    """

    name: str
    identity: str
    address: str
    direction: str
    connection: str
    phase: int
    external_address: str = ""
    state: str = "inactive"
    last_error: str = ""
    link: "RouterLink | None" = None
    _on_active: Callable[[], None] | None = field(default=None, repr=False)
    retry: "Callable[[AutoLink], None] | None" = field(default=None, repr=False)

    @property
    def key(self) -> str:
        return f"M{self.phase}{self.address}"

    def attach(self, connection: "Connection") -> Link:
        """Open a link on ``connection``, which leads to the broker; return proton's link.

        The caller wraps it in a ``RouterLink`` and calls ``follow``.
        """
        session = connection.own_session()
        external = self.external_address or self.address
        name = f"autoLink.{self.identity}.{connection.identity}"
        proton: Link
        if self.direction == "in":
            proton = session.receiver(name)
            proton.source.address = external
        else:
            proton = session.sender(name)
            proton.target.address = external
        self.state, self.last_error = "attaching", ""
        proton.open()
        return proton

    def follow(self, link: "RouterLink", on_active: Callable[[], None]) -> None:
        """Set ``state`` by the events of ``link`` from now on.

        The state is active, and ``on_active`` is called, when the broker accepts ``link``. The
        state is failed, and ``retry`` is called later, when the broker refuses or ends ``link``.
        For a lost connection call ``deactivate``.
        """
        self.link = link
        self._on_active = on_active
        link.on_confirmed = self._confirmed
        link.on_gone = self._gone

    def deactivate(self, connection: "Connection") -> None:
        """Become inactive because ``connection`` was lost, unless the link is on another one."""
        if self.link is None or self.link.connection is connection:
            self.link, self.state = None, "inactive"

    def _confirmed(self) -> None:
        assert self.link is not None
        remote = self.link.proton
        terminus = remote.remote_source if self.direction == "in" else remote.remote_target
        # A broker that refuses attaches without an address, then detaches with the reason.
        if terminus.address:
            self.state = "active"
            if self._on_active is not None:
                self._on_active()

    def _gone(self, _: bool) -> None:
        # ``link`` is None if the entity was deleted; ``deactivate`` handles a lost connection.
        link, self.link = self.link, None
        if link is None or link.connection.is_gone:
            return
        condition = link.proton.remote_condition
        self.state = "failed"
        self.last_error = f"{condition.name}: {condition.description}" if condition else "detached"
        if self.retry is not None:
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self.retry, self)


class Configured:
    """Holds all entities of this module by name, with the look-ups that ``router`` needs.

    ``default_distribution``: the distribution of addresses without a rule. "unavailable" means that
    the router has no address without a rule.
    """

    def __init__(self, default_distribution: str) -> None:
        self._default = default_distribution
        self.rules: dict[str, AddressRule] = {}
        self.auto_links: dict[str, AutoLink] = {}
        self.routes: dict[str, LinkRoute] = {}
        self._by_address: PatternTable[AddressRule] = PatternTable()
        self._by_route: dict[str, PatternTable[list[LinkRoute]]] = {
            "in": PatternTable(),
            "out": PatternTable(),
        }

    def add_rule(self, rule: AddressRule) -> bool:
        """Add a rule; return False, and add nothing, if another has the same prefix or pattern."""
        if not self._by_address.add(rule.tokens, rule):
            return False
        self.rules[rule.name] = rule
        return True

    def remove_rule(self, rule: AddressRule) -> None:
        del self.rules[rule.name]
        self._by_address.remove(rule.tokens)

    def add_route(self, route: LinkRoute) -> None:
        self.routes[route.name] = route
        table = self._by_route[route.direction]
        table.add(route.tokens, [])
        table.get(route.tokens).append(route)

    def remove_route(self, route: LinkRoute) -> None:
        del self.routes[route.name]
        table = self._by_route[route.direction]
        same = table.get(route.tokens)
        same.remove(route)
        if not same:
            table.remove(route.tokens)

    def find_route(
        self, direction: str, name: str, is_connected: Callable[[str], bool]
    ) -> LinkRoute | None:
        """Return the route of the most specific pattern for a client's link; None without one.

        Routes of one pattern take turns, those with a connection first, as in Dispatch:
        ``is_connected`` says whether there is one to the connector of this name. Source: Qpid
        Dispatch, ``forwarder.c``, ``qdr_forward_link_balanced_CT``.
        """
        same = self._by_route[direction].find(name) if name else None
        if not same:
            return None
        found = next((route for route in same if is_connected(route.connection)), same[0])
        same.remove(found)
        same.append(found)
        return found

    def auto_links_of(self, connector: str) -> Iterator[AutoLink]:
        """Yield the autoLinks that use the connector of this name."""
        return (
            auto_link
            for auto_link in list(self.auto_links.values())
            if connector == auto_link.connection
        )

    def key(self, name: str, phase: int) -> str | None:
        """Return the key of the address ``name`` in the router's address table.

        ``phase``: 0 for producers, 1 for consumers; a waypoint address has a key for each. None if
        no rule matches ``name`` and the default distribution is "unavailable".
        """
        rule = self._by_address.find(name)
        if rule is None:
            return None if self._default == "unavailable" else f"M0{name}"
        return f"M{rule.egress_phase if phase else rule.ingress_phase}{name}"

    def distribution(self, key: str) -> str:
        # Keys of mobile addresses begin with ``M`` and the phase; others have no rule.
        rule = self._by_address.find(key[2:]) if key.startswith("M") else None
        if rule is not None:
            return rule.distribution
        return "balanced" if self._default == "unavailable" else self._default
