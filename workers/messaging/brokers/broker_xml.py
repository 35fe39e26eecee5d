"""``broker.xml``: the whole of one broker's configuration, rendered from desired values. Pure.

Every tenant-made text passes through the XML writer and has its ``$`` written as a character
reference, because the broker replaces ``${…}`` by system properties before it parses the file.
Source of elements: Artemis user manual, "Configuration Reference" and "Address Settings".
"""

from collections.abc import Mapping
from xml.etree import ElementTree

from workers.messaging.brokers import desired, permissions
from workers.messaging.brokers.desired import DesiredBroker, Holds, Limits, Place

PUBLIC = "public"  # the acceptor that clients connect to
# Replaced by the broker itself: the boot script gives each start of the process its own value.
_BOOT = "BOOT-PLACE"
_BOOT_PROPERTY = "${waypost.boot:unknown}"
# Memory one address may fill before it pages to disk, and the size of one page file.
_MEMORY_BYTES = 1_048_576
_PAGE_BYTES = 131_072

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
    # A full disk refuses new messages; a share of the host's disk would make them hang.
    "min-disk-free": "200M",
    "critical-analyzer": "false",
    "message-counter-enabled": "false",
    "address-queue-scan-period": "5000",
    "message-expiry-scan-period": "1000",
    "connection-ttl-override": "60000",
    "graceful-shutdown-enabled": "true",
    "graceful-shutdown-timeout": "5000",
}


def render(broker: DesiredBroker, place: Place) -> str:
    """Return the file's text for a broker that listens and stores where ``place`` says."""
    root = ElementTree.Element("configuration", xmlns="urn:activemq")
    core = ElementTree.SubElement(root, "core", xmlns="urn:activemq:core")
    _text(core, "name", _BOOT)
    for name, value in _FIXED.items():
        _text(core, name, value)
    for name in ("journal", "bindings", "paging", "large-messages"):
        _text(core, f"{name}-directory", f"{place.data_dir}/{name}")
    _add_wildcards(core)
    _add_acceptors(core, broker, place)
    _add_security(core, broker)
    _add_address_settings(core, broker)
    _add_plugin(core)
    _add_addresses(core, broker)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    text = text.replace("$", "&#36;")
    # The element, for no other text can hold its brackets: an address may have the same name.
    return text.replace(f"<name>{_BOOT}</name>", f"<name>{_BOOT_PROPERTY}</name>") + "\n"


def address_settings(limits: Limits, holds: Holds) -> Mapping[str, str]:
    """Return the address settings that make ``limits`` real.

    A full address pages to disk up to its limit and then refuses each message with
    ``amqp:resource-limit-exceeded``; it never blocks a sender and never drops.
    """
    settings = {
        "auto-create-queues": "false",
        "auto-create-addresses": "false",
        "auto-delete-queues": "false",
        "auto-delete-addresses": "false",
        "default-address-routing-type": "MULTICAST" if holds is Holds.TOPIC else "ANYCAST",
        "max-delivery-attempts": str(
            -1 if limits.max_delivery_attempts is None else limits.max_delivery_attempts
        ),
        "redelivery-delay": str(limits.redelivery_delay_ms),
        "address-full-policy": "PAGE",
        "page-size-bytes": str(_PAGE_BYTES),
        "max-size-bytes": str(_MEMORY_BYTES),
    }
    if limits.max_bytes is not None:
        memory = max(2, min(_MEMORY_BYTES, limits.max_bytes // 4))
        settings |= {
            "max-size-bytes": str(memory),
            "page-size-bytes": str(min(_PAGE_BYTES, memory // 2)),
            "page-limit-bytes": str(limits.max_bytes),
            "page-full-policy": "FAIL",
        }
    if limits.message_ttl_ms is not None:
        # ``expiry-delay`` is for messages without a time to live, the maximum caps those with one.
        settings |= {
            "expiry-delay": str(limits.message_ttl_ms),
            "max-expiry-delay": str(limits.message_ttl_ms),
        }
    if limits.dead_letter:
        settings |= {
            "dead-letter-address": limits.dead_letter,
            "expiry-address": limits.dead_letter,
        }
    return settings


def _add_wildcards(core: ElementTree.Element) -> None:
    wildcards = ElementTree.SubElement(core, "wildcard-addresses")
    _text(wildcards, "routing-enabled", "false")
    _text(wildcards, "delimiter", "/")


def _add_acceptors(core: ElementTree.Element, broker: DesiredBroker, place: Place) -> None:
    acceptors = ElementTree.SubElement(core, "acceptors")
    common = "protocols=AMQP;amqpCredits=1000;amqpLowCredits=300;supportAdvisory=false"
    internal = (
        f"{common};{_tls(place, 'server')};needClientAuth=true;trustStoreType=PEMCA;"
        f"trustStorePath={place.config_dir}/authority.pem;saslMechanisms=EXTERNAL;"
        # Routers forward large messages in parts; in one piece they survive a leaving consumer.
        "amqpMinLargeMessageSize=-1"
    )
    where = f"tcp://{place.bind_host}"
    _text(acceptors, "acceptor", f"{where}:{place.internal_port}?{internal}", name="internal")
    if broker.public:
        # SCRAM works here, but the broker does not tell of its refusals: they would be billed as
        # connections. PLAIN is offered inside TLS only.
        limit = f"connectionsAllowed={broker.max_connections}"
        tls = _tls(place, "server" if broker.presented is None else "public")
        public = f"{common};{tls};saslMechanisms=PLAIN;{limit}"
        _text(acceptors, "acceptor", f"{where}:{place.public_port}?{public}", name=PUBLIC)


def _tls(place: Place, name: str) -> str:
    """Return the options of a listener that presents the key pair in ``<name>.pemcfg``."""
    return (
        "sslEnabled=true;sslAutoReload=true;keyStoreType=PEMCFG;"
        f"keyStorePath={place.config_dir}/{name}.pemcfg;enabledProtocols=TLSv1.2,TLSv1.3"
    )


def _add_security(core: ElementTree.Element, broker: DesiredBroker) -> None:
    settings = ElementTree.SubElement(core, "security-settings")
    anything = permissions.internal_roles() if broker.public else permissions.router_roles()
    _add_setting(settings, "#", anything)
    for address in (desired.MANAGEMENT_ADDRESS, desired.NOTIFICATIONS_ADDRESS):
        _add_setting(settings, address, permissions.internal_roles())
    if broker.public:
        for each in broker.addresses:
            _add_setting(settings, each.address, permissions.roles_of(broker, each))


def _add_setting(parent: ElementTree.Element, match: str, roles: permissions.Roles) -> None:
    setting = ElementTree.SubElement(parent, "security-setting", match=match)
    for kind, holders in roles.items():
        ElementTree.SubElement(setting, "permission", type=kind, roles=",".join(holders))


def _add_address_settings(core: ElementTree.Element, broker: DesiredBroker) -> None:
    parent = ElementTree.SubElement(core, "address-settings")
    matches = {"#": address_settings(Limits(), Holds.QUEUE)}
    for each in (*desired.probe_twins(), *broker.addresses):
        matches[each.address] = address_settings(each.limits, each.holds)
    for match, settings in matches.items():
        setting = ElementTree.SubElement(parent, "address-setting", match=match)
        for name, value in settings.items():
            _text(setting, name, value)


def _add_plugin(core: ElementTree.Element) -> None:
    """Tell of each connection by notification; internal queues count them (driver, snapshot)."""
    plugins = ElementTree.SubElement(core, "broker-plugins")
    plugin = ElementTree.SubElement(
        plugins,
        "broker-plugin",
        attrib={
            "class-name": "org.apache.activemq.artemis.core.server.plugin.impl."
            "NotificationActiveMQServerPlugin"
        },
    )
    ElementTree.SubElement(plugin, "property", key="SEND_CONNECTION_NOTIFICATIONS", value="true")


def _add_addresses(core: ElementTree.Element, broker: DesiredBroker) -> None:
    parent = ElementTree.SubElement(core, "addresses")
    _add_counting_queues(parent)
    for each in (*desired.probe_twins(), *broker.addresses):
        address = ElementTree.SubElement(parent, "address", name=each.address)
        if each.holds is Holds.QUEUE:
            routing = ElementTree.SubElement(address, "anycast")
            _add_queue(routing, each.address)
        else:
            routing = ElementTree.SubElement(address, "multicast")
            for name in each.subscriptions:
                _add_queue(routing, name)


def _add_queue(parent: ElementTree.Element, name: str) -> None:
    queue = ElementTree.SubElement(parent, "queue", name=name)
    _text(queue, "durable", "true")


def _add_counting_queues(parent: ElementTree.Element) -> None:
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
        # A ring of one: the queue's counter is what we want, not its messages.
        queue = ElementTree.SubElement(routing, "queue", attrib={"name": name, "ring-size": "1"})
        # Whoever brings one of our certificates is internal; clients bring none.
        clients = f"_AMQ_NotifType = '{kind}' AND _AMQ_CertSubjectDN NOT LIKE '%O=waypost%'"
        ElementTree.SubElement(queue, "filter", string=clients)
        _text(queue, "durable", "false")


def _text(parent: ElementTree.Element, tag: str, text: str, **attributes: str) -> None:
    ElementTree.SubElement(parent, tag, attrib=attributes).text = text
