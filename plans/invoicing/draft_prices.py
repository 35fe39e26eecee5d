"""Puts the prices of a draft catalog in place of those that the facts of a period have.

Only plans that the draft changes are replaced. Tenants, spaces and addresses on any version of such
a plan are priced as if they had been on the draft's version for the whole period. Seller, tax,
terms, spaces and quantities stay as they were, so that a difference comes from prices alone. A new
commercial plan of the draft has no subscribers, so nothing is priced by it. ``back_testing`` calls
this module.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from plans.catalog import definitions, publishing
from plans.invoicing import billing_inputs
from plans.invoicing.billing_inputs import KnownLifetimes, PriceOf
from plans.invoicing.facts import Facts
from plans.models import Plan
from plans.rating.billable import Lifetime, Segment
from plans.usage.meters import SPACE_HOURS

_TITLES = {True: "Space hours", False: "Address hours"}


@dataclass(frozen=True)
class DraftPrices:
    """The changed plans of a draft, by key.

    ``plans`` are unsaved rows with the version that a publication would give them. ``sizes`` has
    (definition, version) by kind (True: a space plan) and key. ``price_of`` returns the price of an
    hour on any other plan.
    """

    plans: Mapping[str, Plan]
    sizes: Mapping[tuple[bool, str], tuple[Mapping[str, Any], int]]
    price_of: PriceOf = billing_inputs.hour_price

    @classmethod
    def of(cls, document: Mapping[str, Any], price_of: PriceOf) -> "DraftPrices":
        """Return the prices of a canonical document, compared with the plans that are published."""
        latest = publishing.PLANS.latest()
        plans = {
            key: Plan(
                key=key,
                version=latest[key].version + 1,
                title=definition["title"],
                definition=definition,
            )
            for key, definition in document["plans"].items()
            if publishing.PLANS.change(latest.get(key), definition) == "changed"
        }
        sizes: dict[tuple[bool, str], tuple[Mapping[str, Any], int]] = {}
        for kind in (publishing.SPACE_PLANS, publishing.ADDRESS_PLANS):
            newest = kind.latest()
            for key, definition in document[kind.section].items():
                if kind.change(newest.get(key), definition) == "changed":
                    is_space = kind is publishing.SPACE_PLANS
                    sizes[is_space, key] = definition, newest[key].version + 1
        return cls(plans, sizes, price_of)

    def priced(self, facts: Facts) -> Facts:
        """Return the facts with the draft's fees, included amounts and prices.

        Raises:
            NotPriced: a changed plan has no prices in the currency of the facts.
        """
        currency = facts.seller_rule.currency
        return replace(
            facts,
            segments=tuple(self.segment(row, currency) for row in facts.segments),
            lifetimes=self.lifetimes(facts.known_lifetimes, currency),
        )

    def segment(self, row: Segment, currency: str) -> Segment:
        """Return the segment on the draft's version of its plan, without usage."""
        plan = self.plans.get(row.plan_key)
        if plan is None:
            return row
        made = billing_inputs.segment(plan, row.period, currency, runs_on=row.runs_on)
        # A trial belongs to the subscription, so the draft cannot change it.
        return replace(made, trial_seconds=row.trial_seconds)

    def lifetimes(self, known: KnownLifetimes, currency: str) -> tuple[Lifetime, ...]:
        """Return the lifetimes, with the draft's prices of hours on changed plans."""
        found: dict[Any, tuple[int, int]] = {}
        for plan, (seconds, count) in known.seconds.items():
            changed = self.sizes.get((plan.meter == SPACE_HOURS, plan.plan))
            moved = plan._replace(plan_version=changed[1]) if changed else plan
            before = found.get(moved, (0, 0))
            # A space that left a version for the next one counts once on the draft's version.
            found[moved] = before[0] + seconds, max(before[1], count)
        return replace(known, seconds=found).lifetimes(currency, self._hour_price)

    def _hour_price(self, meter: str, key: str, version: int, currency: str) -> tuple[str, Decimal]:
        is_space = meter == SPACE_HOURS
        changed = self.sizes.get((is_space, key))
        if changed is None:
            return self.price_of(meter, key, version, currency)
        definition, _ = changed
        typed = definitions.space_plan if is_space else definitions.address_plan
        price = definitions.hour_price_in(typed(key, definition), currency)
        return f"{_TITLES[is_space]}, {definition['title']}", price
