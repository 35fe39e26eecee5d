"""Render ``broker.xml``, the main configuration file of one broker, from desired values. Pure.

The broker replaces ``${…}`` by system properties before it parses the file. So every ``$`` of a
value is written as a character reference. The XML writer escapes all other special characters in
names that tenants choose. Source of elements: Artemis user manual, "Configuration Reference" and
"Address Settings".
"""

from xml.etree import ElementTree

from controlplane.core.address_types import AddressSettings
from workers.messaging import tls_policy
from workers.messaging.brokers import address_settings, desired, permissions, queue_settings
from workers.messaging.brokers.desired import (
    BrokerAddressKind,
    ClientLimits,
    DesiredBroker,
    EngineLayout,
)
from workers.messaging.observed import MANAGEMENT_ADDRESS

PUBLIC = "public"  # the acceptor that clients connect to
# The broker's name identifies its incarnation: the boot script (``infra.engines``) sets the
# property to a new value at each start of the process. ``render`` escapes every ``$``. So it first
# writes placeholders such as _BOOT, and replaces them by the properties afterwards.
_BOOT = "BOOT-PLACE"
_BOOT_PROPERTY = "${waypost.boot:unknown}"
# The broker plugin (docs/adr/0017). The command of a broker with the plugin sets properties. A
# broker without it uses their defaults: Artemis's own plugin, which announces each connection for
# metering, and Artemis's own limit, which counts also connections that have not logged in. There,
# clients cannot create temporary queues for replies.
_GUARD = "GUARD-PLACE"
_GUARD_PROPERTY = (
    "${waypost.guard:"
    "org.apache.activemq.artemis.core.server.plugin.impl.NotificationActiveMQServerPlugin}"
)
_UNGUARDED = "UNGUARDED-PLACE"
_REPLIES = "REPLIES-PLACE"
_REPLIES_PROPERTY = f"${{waypost.replies:{desired.INTERNAL_ROLE}}}"
# Connections that have not logged in: how many in all, and how many from one IPv4 address or one
# IPv6 /64; and how long each may take to log in.
_WAITING = 400
WAITING_PER_SOURCE = 200
SECONDS_TO_LOG_IN = 10
# The broker keeps buffers of these sizes for each connection as long as it lasts. A connection
# takes 310 KiB of heap with the broker's defaults of 128 KiB, and 130 KiB with these
# (``sold_sizes``).
_FRAMES = "maxFrameSize=32768;initialRemoteMaxFrameSize=8192"
# The same for every broker; ``render`` replaces what a space plan decides.
_FIXED = {
    "persistence-enabled": "true",
    "journal-type": "NIO",
    "journal-datasync": "true",
    "journal-min-files": "2",
    "journal-pool-files": "4",
    "journal-file-size": "1M",
    "journal-buffer-timeout": "200000",
    "page-sync-timeout": "200000",
    "scheduled-thread-pool-max-size": "3",
    "thread-pool-max-size": "20",
    "configuration-file-refresh-period": "1000",
    "security-invalidation-interval": "1000",
    "populate-validated-user": "true",
    "global-max-size": "48M",
    # An absolute limit makes the broker refuse messages on a full disk. A percentage of the host's
    # disk would make senders hang.
    "min-disk-free": "200M",
    "critical-analyzer": "false",
    "message-counter-enabled": "false",
    "address-queue-scan-period": "5000",
    "message-expiry-scan-period": "1000",
    "connection-ttl-override": "60000",
    "graceful-shutdown-enabled": "true",
    "graceful-shutdown-timeout": "5000",
}


def render(broker: DesiredBroker, engine_layout: EngineLayout) -> str:
    """Return the text of ``broker.xml``, with all addresses and permissions of ``broker``.

    ``engine_layout`` has the folders, host and ports that the broker's process uses.
    """
    root = ElementTree.Element("configuration", xmlns="urn:activemq")
    core = ElementTree.SubElement(root, "core", xmlns="urn:activemq:core")
    _text(core, "name", _BOOT)
    sized = {
        "persistence-enabled": "true" if broker.sizes.persistent else "false",
        "journal-type": broker.sizes.journal.upper(),
        "global-max-size": f"{broker.sizes.message_memory_mb}M",
    }
    for name, value in {**_FIXED, **sized}.items():
        _text(core, name, value)
    for name in ("journal", "bindings", "paging", "large-messages"):
        _text(core, f"{name}-directory", f"{engine_layout.data_dir}/{name}")
    document = _Document(core, broker)
    document.add_wildcards()
    document.add_acceptors(engine_layout)
    document.add_security()
    document.add_address_settings()
    document.add_plugin()
    document.add_addresses()
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return _with_properties(text.replace("$", "&#36;"), broker) + "\n"


def _with_properties(text: str, broker: DesiredBroker) -> str:
    # Each searched text contains ``<``, ``>`` or ``"``. These are escaped in names, so an address
    # that is named like a placeholder is not replaced.
    unguarded = f"${{waypost.unguarded-connections:{broker.max_connections}}}"
    return (
        text.replace(f"<name>{_BOOT}</name>", f"<name>{_BOOT_PROPERTY}</name>")
        .replace(
            f'<broker-plugin class-name="{_GUARD}">',
            f'<broker-plugin class-name="{_GUARD_PROPERTY}">',
        )
        .replace(
            f";connectionsAllowed={_UNGUARDED}</acceptor>",
            f";connectionsAllowed={unguarded}</acceptor>",
        )
        .replace(
            f'roles="{desired.INTERNAL_ROLE},{_REPLIES}"',
            f'roles="{desired.INTERNAL_ROLE},{_REPLIES_PROPERTY}"',
        )
    )


class _Document:
    """Adds the structured parts of ``broker.xml`` to the element ``core``.

    Each ``add_…`` method adds one child; ``render`` calls them in the order of the file.
    """

    def __init__(self, core: ElementTree.Element, broker: DesiredBroker) -> None:
        self._core = core
        self._broker = broker

    def add_wildcards(self) -> None:
        wildcards = ElementTree.SubElement(self._core, "wildcard-addresses")
        _text(wildcards, "routing-enabled", "false")
        _text(wildcards, "delimiter", "/")

    def add_acceptors(self, engine_layout: EngineLayout) -> None:
        acceptors = ElementTree.SubElement(self._core, "acceptors")
        common = "protocols=AMQP;amqpCredits={0};amqpLowCredits={1};supportAdvisory=false"
        internal = (
            f"{common.format(*ClientLimits().credits)};{_tls(engine_layout, 'server')};"
            "needClientAuth=true;trustStoreType=PEMCA;"
            f"trustStorePath={engine_layout.config_dir}/authority.pem;saslMechanisms=EXTERNAL;"
            # -1: the broker stores large messages in one piece too. A router forwards a large
            # message in parts. A message that was stored in parts would not survive a consumer that
            # leaves during the transfer.
            "amqpMinLargeMessageSize=-1"
        )
        base_url = f"tcp://{engine_layout.bind_host}"
        _text(
            acceptors,
            "acceptor",
            f"{base_url}:{engine_layout.internal_port}?{internal}",
            name="internal",
        )
        if self._broker.public:
            # PLAIN only, always inside TLS. SCRAM works too, but the broker does not notify us of a
            # failed SCRAM login: metering would bill it as a connection.
            limit = f"connectionsAllowed={_UNGUARDED}"
            tls = _tls(
                engine_layout, "server" if self._broker.public_certificate is None else "public"
            )
            given = common.format(*self._broker.client_limits.credits)
            public = f"{given};{tls};saslMechanisms=PLAIN;{_FRAMES};{limit}"
            _text(
                acceptors,
                "acceptor",
                f"{base_url}:{engine_layout.public_port}?{public}",
                name=PUBLIC,
            )

    def add_security(self) -> None:
        settings = ElementTree.SubElement(self._core, "security-settings")
        internal = [MANAGEMENT_ADDRESS, desired.NOTIFICATIONS_ADDRESS]
        if self._broker.public:
            anything = permissions.reply_roles(self._broker, _REPLIES)
            internal.append(desired.RESTORED_QUEUE)
            internal += [twin.address for twin in desired.probe_twins()]
        else:
            anything = permissions.router_roles()
        self._add_setting(settings, "#", anything)
        for name in internal:
            self._add_setting(settings, name, permissions.internal_roles())
        for address in (
            self._broker.addresses if self._broker.public else desired.topics(self._broker)
        ):
            self._add_setting(
                settings, address.address, permissions.roles_of(self._broker, address)
            )

    def add_address_settings(self) -> None:
        parent = ElementTree.SubElement(self._core, "address-settings")
        matches = {
            "#": address_settings.render(
                AddressSettings(),
                BrokerAddressKind.QUEUE,
                in_memory=not self._broker.sizes.persistent,
            )
        }
        for address in (*desired.probe_twins(), *self._broker.addresses):
            matches[address.address] = address_settings.settings_of(address)
        if self._broker.users:
            revision = desired.users_revision(self._broker)
            matches[desired.USERS_MATCH] = {"expiry-delay": str(revision)}
        if self._broker.throttle_percent is not None:
            percent = self._broker.throttle_percent
            matches[desired.THROTTLE_MATCH] = {"expiry-delay": str(percent)}
        for match, settings in matches.items():
            setting = ElementTree.SubElement(parent, "address-setting", match=match)
            for name, value in settings.items():
                _text(setting, name, value)

    def add_plugin(self) -> None:
        """Add the broker plugin, which limits and announces the connections of clients.

        It limits connections before and after the login, and sends a notification of each one. An
        internal queue counts the notifications (``_add_counting_queues``); ``snapshot`` reads the
        queue's counter.
        """
        plugins = ElementTree.SubElement(self._core, "broker-plugins")
        plugin = ElementTree.SubElement(plugins, "broker-plugin", attrib={"class-name": _GUARD})
        properties = {
            "acceptor": PUBLIC,
            "connections": str(self._broker.max_connections),
            "waiting": str(_WAITING),
            "waiting-per-source": str(WAITING_PER_SOURCE),
            "seconds-to-log-in": str(SECONDS_TO_LOG_IN),
            **self._broker.client_limits.properties(),
            # Read by the default plugin only.
            "SEND_CONNECTION_NOTIFICATIONS": "true",
        }
        for key, value in properties.items():
            ElementTree.SubElement(plugin, "property", key=key, value=value)

    def add_addresses(self) -> None:
        parent = ElementTree.SubElement(self._core, "addresses")
        self._add_counting_queues(parent)
        for address in (*desired.probe_twins(), *self._broker.addresses):
            element = ElementTree.SubElement(parent, "address", name=address.address)
            if address.address_kind is BrokerAddressKind.QUEUE:
                routing = ElementTree.SubElement(element, "anycast")
                _add_queue(routing, address.address, address.limits)
            else:
                routing = ElementTree.SubElement(element, "multicast")
                for name in address.subscriptions:
                    _add_queue(routing, name, address.limits_of(name))

    @staticmethod
    def _add_setting(parent: ElementTree.Element, match: str, roles: permissions.Roles) -> None:
        setting = ElementTree.SubElement(parent, "security-setting", match=match)
        for kind, holders in roles.items():
            ElementTree.SubElement(setting, "permission", type=kind, roles=",".join(holders))

    @staticmethod
    def _add_counting_queues(parent: ElementTree.Element) -> None:
        """Add the internal queues that ``snapshot`` reads; none of them is durable.

        Two count notifications of connections and of failed logins. One holds the record of
        restored messages (``restored``).
        """
        address = ElementTree.SubElement(parent, "address", name=desired.NOTIFICATIONS_ADDRESS)
        routing = ElementTree.SubElement(address, "multicast")
        kinds = {
            desired.CONNECTIONS_QUEUE: "CONNECTION_CREATED",
            desired.REFUSALS_QUEUE: "SECURITY_AUTHENTICATION_VIOLATION",
        }
        restored = ElementTree.SubElement(parent, "address", name=desired.RESTORED_QUEUE)
        queue = ElementTree.SubElement(
            ElementTree.SubElement(restored, "anycast"), "queue", name=desired.RESTORED_QUEUE
        )
        _text(queue, "durable", "false")
        for name, kind in kinds.items():
            # Only the queue's counter is read, so a ring of one message is enough.
            queue = ElementTree.SubElement(
                routing, "queue", attrib={"name": name, "ring-size": "1"}
            )
            # Connections with one of our certificates are internal; clients present none.
            clients = f"_AMQ_NotifType = '{kind}' AND _AMQ_CertSubjectDN NOT LIKE '%O=waypost%'"
            ElementTree.SubElement(queue, "filter", string=clients)
            _text(queue, "durable", "false")


def _tls(engine_layout: EngineLayout, name: str) -> str:
    """Return the TLS options of an acceptor that presents the key pair in ``<name>.pemcfg``."""
    return (
        "sslEnabled=true;sslAutoReload=true;keyStoreType=PEMCFG;"
        f"keyStorePath={engine_layout.config_dir}/{name}.pemcfg;{tls_policy.of_acceptor()}"
    )


def _add_queue(parent: ElementTree.Element, name: str, limits: AddressSettings) -> None:
    own = queue_settings.attributes(limits)
    queue = ElementTree.SubElement(parent, "queue", attrib={"name": name, **own})
    _text(queue, "durable", "true")


def _text(parent: ElementTree.Element, tag: str, text: str, **attributes: str) -> None:
    ElementTree.SubElement(parent, tag, attrib=attributes).text = text
