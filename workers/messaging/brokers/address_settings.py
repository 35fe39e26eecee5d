"""The broker's address settings that enforce the settings of an address. Pure.

``broker_xml`` writes them into the broker's file, and ``settings_check`` compares them with what a
broker reports. Source of names: Artemis user manual, "Address Settings".
"""

from collections.abc import Mapping

from controlplane.core import address_types
from controlplane.core.address_types import AddressSettings
from controlplane.core.setting_values import Whole
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress

# Bytes in memory that one address may fill before it pages to disk, and the size of a page file.
_MEMORY_BYTES = 1_048_576
_PAGE_BYTES = 131_072
# How much an address stores that blocks its senders when it is full. It never pages to disk.
_BLOCKING_BYTES = 8_388_608
# The address setting that tells the plugin the size of an address for dead letters.
_TARGET_SIZE = "auto-delete-queues-message-count"
_NO_LIMIT = 2**60  # bytes: more than a disk holds


def render(
    limits: AddressSettings,
    address_kind: BrokerAddressKind,
    *,
    in_memory: bool = False,
    takes_all: bool = False,
) -> Mapping[str, str]:
    """Return the address settings that enforce ``limits``: element of ``broker.xml`` -> text.

    ``limits`` are the effective settings of an address. Each becomes the elements that
    ``address_types`` lists; ``max_bytes`` needs further ones. An address that has filled its memory
    pages to disk, up to ``max_bytes``. Then it refuses each message with
    ``amqp:resource-limit-exceeded``. If ``when_full`` is ``block``, the broker stops giving credit
    instead; such an address keeps all its messages in memory. No address ever drops messages.

    * ``in_memory``: the broker stores nothing on disk, so a full address refuses without paging.
    * ``takes_all``: the address refuses nothing, whatever ``max_bytes`` says. If it refused a dead
      letter, the broker would keep that message in delivery, out of everyone's reach, until the
      broker's next start.
    """
    settings = {
        "auto-create-queues": "false",
        "auto-create-addresses": "false",
        "auto-delete-queues": "false",
        "auto-delete-addresses": "false",
        "default-address-routing-type": "MULTICAST"
        if address_kind is BrokerAddressKind.TOPIC
        else "ANYCAST",
        **_unset(),
        **_limits(limits, in_memory=in_memory, takes_all=takes_all),
    }
    for name, value in limits.given().items():
        settings |= dict.fromkeys(address_types.SETTING[name].engine, str(value))
    if takes_all:
        # An address that was full and now has no limit at all would drop messages.
        settings |= {"page-limit-bytes": str(_NO_LIMIT), "page-full-policy": "FAIL"}
        # The broker plugin refuses new messages for the addresses whose dead letters go here, once
        # this many bytes are stored (``Storage.java``). To the broker itself the setting means
        # nothing while it deletes no queue by itself (``auto-delete-queues``).
        settings[_TARGET_SIZE] = str(limits.max_bytes or 0)
    return settings


def _limits(limits: AddressSettings, *, in_memory: bool, takes_all: bool) -> dict[str, str]:
    """Return the address settings for memory, for disk, and for what a full address does.

    The arguments are as in ``render``.
    """
    settings = {
        "address-full-policy": "PAGE",
        "page-size-bytes": str(_PAGE_BYTES),
        "max-size-bytes": str(_MEMORY_BYTES),
    }
    if limits.max_bytes is not None:
        # Less memory than disk, and a page smaller than the memory, also for a small ``max_bytes``.
        memory = max(2, min(_MEMORY_BYTES, limits.max_bytes // 4))
        settings |= {
            "max-size-bytes": str(memory),
            "page-size-bytes": str(min(_PAGE_BYTES, memory // 2)),
            "page-limit-bytes": str(limits.max_bytes),
            "page-full-policy": "FAIL",
        }
    if in_memory and takes_all:
        # The policy blocks only clients that send, and none may send here.
        settings |= {"address-full-policy": "BLOCK", "max-size-bytes": "-1"}
    elif in_memory:
        settings |= {"address-full-policy": "FAIL", "max-size-bytes": str(limits.max_bytes or -1)}
    if limits.when_full == "block":
        settings["address-full-policy"] = "BLOCK"
        settings["max-size-bytes"] = str(min(limits.max_bytes or _BLOCKING_BYTES, _BLOCKING_BYTES))
    return settings


def settings_of(address: DesiredAddress) -> Mapping[str, str]:
    """Return the address settings of ``address``: element of ``broker.xml`` -> text."""
    return render(
        address.limits,
        address.address_kind,
        in_memory=address.in_memory,
        takes_all=address.read_only,
    )


def _unset() -> dict[str, str]:
    """Return the elements that the file must have even where an address sets no value.

    Their text is the setting's ``if_unset``. An address's own value replaces it.
    """
    return {
        engine: str(setting.value.if_unset)
        for setting in address_types.SETTINGS
        if isinstance(setting.value, Whole) and setting.value.if_unset is not None
        for engine in setting.engine
    }
