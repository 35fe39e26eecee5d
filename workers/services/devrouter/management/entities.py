"""Create and delete entities, for management and for the configuration file.

As in Dispatch, the core types (address, autoLink, linkRoute) ignore attributes that they do not
know and answer 201. The type connector refuses them, because Dispatch implements it in its Python
agent.
"""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import structlog

from workers.services.devrouter.configuration import Configuration
from workers.services.devrouter.configured import AddressRule, AutoLink, LinkRoute
from workers.services.devrouter.network import Connector, ConnectorSpec, Network
from workers.services.devrouter.router import Router
from workers.services.devrouter.tls import Profile

logger = structlog.get_logger(__name__)

Attributes = Mapping[str, Any]

DISTRIBUTIONS = ("balanced", "closest", "multicast", "unavailable")
# Name in the file -> type of the entity in management.
_FILE_TYPES = {
    "address": "router.config.address",
    "autoLink": "router.config.autoLink",
    "linkRoute": "router.config.linkRoute",
    "connector": "connector",
}
_CONNECTOR_ATTRIBUTES = {
    "name", "host", "port", "role", "cost", "sslProfile", "saslMechanisms", "verifyHostname",
    "maxFrameSize", "idleTimeoutSeconds", "linkCapacity", "saslUsername", "saslPassword",
}  # fmt: skip


class Rejected(Exception):
    """A request is refused; its answer has the status ``status`` (as in HTTP) and this text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Given:
    """Reads the attributes of a new entity as Dispatch does, from a request or from the file."""

    def __init__(self, attributes: Attributes) -> None:
        self._attributes = attributes

    def text(self, name: str) -> str:
        return str(self._attributes.get(name) or "")

    def one_of_two(self, first: str, second: str) -> tuple[str, str]:
        """Return the attributes ``first`` and ``second``, of which one must be empty or missing.

        Raises:
            Rejected: both or none are given.
        """
        values = self.text(first), self.text(second)
        if bool(values[0]) == bool(values[1]):
            raise Rejected(400, f"Bad Request: exactly one of {first} and {second}")
        return values

    def direction(self) -> str:
        direction = self._attributes.get("direction")
        if direction not in ("in", "out"):
            raise Rejected(400, "Bad Request: direction must be in or out")
        return str(direction)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return the attribute ``name`` if it is one of ``choices``, otherwise the first choice."""
        value = self._attributes.get(name)
        return str(value) if value in choices else choices[0]

    def flag(self, name: str) -> bool:
        """Return whether the attribute ``name`` is the boolean true; the text "true" is not."""
        return self._attributes.get(name) is True

    def number(self, name: str, default: int) -> int:
        value = self._attributes.get(name)
        # In Python a boolean is an integer too. In AMQP it is not.
        return int(value) if isinstance(value, int) and not isinstance(value, bool) else default


class Entities:
    """Creates and deletes entities of the running ``router``; holds its connectors by name.

    ``kind`` is always a type without ``org.apache.qpid.dispatch.``. ``profiles`` are the TLS
    profiles that a connector may name.
    """

    def __init__(self, router: Router, network: Network, profiles: Mapping[str, Profile]) -> None:
        self.connectors: dict[str, Connector] = {}
        self._router = router
        self._network = network
        self._profiles = profiles
        self._identities = itertools.count(1)
        self._makers: dict[str, Callable[[str, Attributes], None]] = {
            "router.config.address": self._make_address,
            "router.config.autoLink": self._make_auto_link,
            "router.config.linkRoute": self._make_link_route,
            "connector": self._make_connector,
        }

    def load(self, configuration: Configuration) -> None:
        """Create the entities in ``configuration.live``.

        As in Dispatch, a core entity that cannot be created is skipped and logged.

        Raises:
            Rejected: a connector cannot be created.
        """
        for kind, attributes in configuration.live:
            try:
                self.create(_FILE_TYPES[kind], attributes.get("name", ""), attributes)
            except Rejected as error:
                if kind == "connector":
                    raise
                logger.error(
                    "an entity cannot be created and is skipped",
                    type=kind,
                    reason=str(error),
                    **attributes,
                )

    def create(self, kind: str, name: str, attributes: Attributes) -> str:
        """Create an entity and return its name; generate a name if ``name`` is empty.

        A new autoLink attaches at once if its broker is connected; a connector starts to connect.

        Raises:
            Rejected: the type cannot be created, the name is taken, or an attribute is wrong.
        """
        maker = self._makers.get(kind)
        if maker is None:
            raise Rejected(501, f"Not Implemented: CREATE {kind}")
        unique = name or f"{kind}/{next(self._identities)}"
        if unique in self._names(kind):
            raise Rejected(400, "Bad Request: Name conflicts with an existing entity")
        maker(unique, attributes)
        return unique

    def delete(self, kind: str, name: str) -> None:
        """Delete an entity, which must exist, and end its link or connection.

        Raises:
            Rejected: an entity of this type cannot be deleted.
            KeyError: there is no such entity.
        """
        configured = self._router.configured
        match kind:
            case "router.config.address":
                configured.remove_rule(configured.rules[name])
            case "router.config.autoLink":
                self._router.remove_auto_link(configured.auto_links[name])
            case "router.config.linkRoute":
                configured.remove_route(configured.routes[name])
            case "connector":
                self.connectors.pop(name).stop()
            case _:
                raise Rejected(501, f"Not Implemented: DELETE {kind}")

    def _names(self, kind: str) -> Mapping[str, object]:
        configured = self._router.configured
        by_kind: dict[str, Mapping[str, object]] = {
            "router.config.address": configured.rules,
            "router.config.autoLink": configured.auto_links,
            "router.config.linkRoute": configured.routes,
            "connector": self.connectors,
        }
        return by_kind[kind]

    def _identity(self) -> str:
        return str(next(self._identities))

    def _make_address(self, name: str, attributes: Attributes) -> None:
        given = _Given(attributes)
        prefix, pattern = given.one_of_two("prefix", "pattern")
        is_waypoint = given.flag("waypoint")
        rule = AddressRule(
            name,
            self._identity(),
            prefix,
            pattern,
            given.choice("distribution", DISTRIBUTIONS),
            is_waypoint,
            given.number("ingressPhase", 0),
            # Clients read a waypoint address in the phase that comes from the broker.
            given.number("egressPhase", 1 if is_waypoint else 0),
        )
        if not self._router.configured.add_rule(rule):
            raise Rejected(400, "Bad Request: Address prefix or pattern already exists")

    def _make_auto_link(self, name: str, attributes: Attributes) -> None:
        given = _Given(attributes)
        direction = given.direction()
        if not attributes.get("address"):
            raise Rejected(400, "Bad Request: address is mandatory")
        if attributes.get("connection") and attributes.get("containerId"):
            raise Rejected(400, "Bad Request: both connection and containerId")
        self._router.add_auto_link(
            AutoLink(
                name,
                self._identity(),
                given.text("address"),
                direction,
                given.text("connection"),
                given.number("phase", 1 if direction == "in" else 0),
                given.text("externalAddress"),
            )
        )

    def _make_link_route(self, name: str, attributes: Attributes) -> None:
        given = _Given(attributes)
        prefix, pattern = given.one_of_two("prefix", "pattern")
        self._router.configured.add_route(
            LinkRoute(
                name,
                self._identity(),
                given.direction(),
                given.text("connection"),
                prefix,
                pattern,
                given.text("addExternalPrefix"),
                given.text("delExternalPrefix"),
            )
        )

    def _make_connector(self, name: str, attributes: Attributes) -> None:
        # Unlike the core types above, a connector with an unknown attribute is refused.
        unknown = set(attributes) - _CONNECTOR_ATTRIBUTES
        if unknown:
            raise Rejected(400, f"Bad Request: no attribute {', '.join(sorted(unknown))}")
        profile = self._profiles.get(attributes.get("sslProfile", ""))
        if profile is None or not attributes.get("host") or not attributes.get("port"):
            raise Rejected(400, "Bad Request: host, port and a known sslProfile are mandatory")
        spec = ConnectorSpec(
            name,
            str(attributes["host"]),
            int(attributes["port"]),
            str(attributes.get("role", "normal")),
            profile,
            verifies_name=attributes.get("verifyHostname", True) is True,
            idle_seconds=float(attributes.get("idleTimeoutSeconds", 16)),
            max_frame_size=int(attributes.get("maxFrameSize", 16384)),
        )
        connector = Connector(spec, self._network)
        self.connectors[name] = connector
        connector.start()
