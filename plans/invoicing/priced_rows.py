"""Digests of the prices that an invoice was made with, by plan version. Pure.

The manifest stores them. A verification compares them with the prices that the rows have now, and
so names the plan whose row was changed, and not only the lines that differ because of it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from plans.invoicing.facts import Facts
from plans.rating.billable import Segment
from plans.rating.month_so_far import digits
from plans.rating.price_rules import PriceRule


def digests(facts: Facts) -> dict[str, str]:
    """Return {name of a plan version: SHA-256 of its prices} of all plans that ``facts`` price.

    Names are ``plan team/1``, ``space_hours standard-small/2`` and so on. The seller is one more:
    ``seller wp/4``, where 4 is the number of the catalog.
    """
    so_far = [facts.so_far, *(correction.before for correction in facts.corrections)]
    segments = [*facts.segments, *(segment for state in so_far for segment in state.segments)]
    seller = {
        "currency": facts.seller_rule.currency,
        "rounding": facts.seller_rule.rounding.value,
        "printed": dict(facts.seller),
    }
    name = f"seller {facts.legal_entity}/{facts.catalogue_number}"
    hours = {
        f"{row.meter} {row.plan_key}/{row.plan_version}": _digest({"price": digits(row.hour_price)})
        for row in facts.lifetimes
    }
    return {name: _digest(seller), **_of_plans(segments), **hours}


def _of_plans(segments: Iterable[Segment]) -> dict[str, str]:
    return {
        f"plan {segment.plan_key}/{segment.plan_version}": _digest(
            {
                "fee": segment.monthly_fee_minor,
                "hours": dict(segment.included_hours),
                "rules": [_rule(rule) for rule in segment.rules],
            }
        )
        for segment in segments
    }


def _rule(rule: PriceRule) -> list[Any]:
    # Written out, because digests are stored: a field that is added to the class changes none.
    tiers = [[digits(t.up_to) if t.up_to else None, digits(t.unit_price)] for t in rule.tiers]
    return [rule.meter, rule.model.value, rule.base_per_unit, tiers, rule.included]


def _digest(prices: Mapping[str, Any]) -> str:
    text = json.dumps(prices, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
