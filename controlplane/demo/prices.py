"""The plans of the demonstration.

On ``PLAN`` every message has a price, so that the invoice is not zero. ``message_charge_minor``
computes the charge for messages independently of Waypost, from what the clients counted.
``STARTER`` allows so few messages a month that the demonstration uses them up.
"""

import copy
import json
from collections.abc import Iterable

from controlplane.rest_client import Api, Json
from workers.messaging.counting_client import Tally

PLAN, STARTER = "metered", "starter"
MONTHLY_MESSAGES = 500  # the quota of STARTER: messages in and out together
# Graduated prices: (up to this many messages, minor units for each); the last tier has no end.
TIERS: tuple[tuple[int | None, int], ...] = ((500, 2), (None, 1))


def publish(api: Api) -> Json:
    """Publish the present catalog with ``PLAN`` and ``STARTER`` added; return the API's answer.

    ``api`` must be logged in as the operator. The answer has the new catalog version's ``number``
    and ``changes``: what it does to each plan, unchanged ones included.
    """
    document = copy.deepcopy(api.get("/staff/catalog")["document"])
    for plan in document["plans"].values():
        # The API returns the canonical form, in which each plan has the seller's currency. The
        # parser refuses a currency in a plan.
        plan.pop("currency")
    plan = {**document["plans"]["team"], "title": "Metered", "monthly_fee_minor": 0}
    plan["included"] = {}
    plan["prices"] = {
        "messages": {
            "model": "graduated",
            "unit": "message",
            "base_per_unit": 1,
            "tiers": [[end and str(end), f"{minor / 100:.2f}"] for end, minor in TIERS],
        },
        "connection_ms": {
            "model": "unit",
            "unit": "connection-hour",
            "base_per_unit": 3_600_000,
            "tiers": [[None, "2.00"]],
        },
    }
    starter = {**copy.deepcopy(document["plans"]["free"]), "title": "Starter"}
    starter["quotas"]["messages_per_month"] = MONTHLY_MESSAGES
    starter["at_quota"] = "withdraw_send"
    document["plans"].update({PLAN: plan, STARTER: starter})
    return api.post("/staff/catalog", {"yaml": json.dumps(document, ensure_ascii=False)})


def message_charge_minor(tallies: Iterable[Tally]) -> int:
    """Return the charge on ``PLAN`` for the counted messages, in and out, in minor units."""
    left = sum(tally.accepted + tally.received for tally in tallies)
    charge, begin = 0, 0
    for end, minor in TIERS:
        taken = left if end is None else min(left, end - begin)
        charge, left, begin = charge + taken * minor, left - taken, end or 0
    return charge
