"""Read the sizes of messages that a broker's clients sent and acknowledged, from its plugin.

The broker itself counts messages and no bytes. ``Traffic.java`` counts the sizes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from workers.messaging.management import ManagementClient, Refused, Request
from workers.messaging.observed import NO_SIZES, Sizes

_RESOURCE = "waypost.traffic"  # the name in Guard.java
_PAGE = 1_000  # queues and topics of one answer, about 40 KB


@dataclass(frozen=True)
class Sized:
    """The sizes of the messages in and out of one queue or topic since the broker's start."""

    sizes_in: Sizes = NO_SIZES
    sizes_out: Sizes = NO_SIZES


UNSIZED = Sized()


def read(client: ManagementClient) -> Mapping[str, Sized]:
    """Return the sizes by the broker's id of a queue or topic; one without messages is missing.

    Empty for a broker whose plugin does not count sizes, because it has run since before an
    upgrade.

    Raises:
        Unreachable: the broker stopped answering.
    """
    found: dict[str, Sized] = {}
    after = 0
    while True:
        (answer,) = client.try_all([Request(_RESOURCE, "counted", [after, _PAGE])])
        if isinstance(answer, Refused):
            return {}
        rows = json.loads(answer) if isinstance(answer, str) else answer
        for id_, row in rows.items():
            found[id_] = Sized(Sizes(*row[:2]), Sizes(*row[2:]))
        if len(rows) < _PAGE:
            return found
        after = max(map(int, rows))
