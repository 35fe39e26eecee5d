"""Rates an ended billing month of a tenant again: as it was billed, and under a draft catalog.

A month has one part for each approved or issued invoice, with the inputs that the invoice pins, and
one for each time between or after these invoices, with the rows of now. The parts are rated in
order of time. Each part continues the state of the month after the part before, as invoices do. So
a catalog that changes nothing gives the figures of the invoices, to the cent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from plans.invoicing import (
    corrections,
    document,
    engines,
    facts,
    invoice_verification,
    rated_period,
)
from plans.invoicing.draft_prices import DraftPrices
from plans.invoicing.facts import Facts
from plans.invoicing.rated_period import Reader
from plans.models import Invoice
from plans.rating.month_so_far import MonthSoFar
from plans.rating.periods import Period
from tenants.models import Tenant


@dataclass(frozen=True)
class Part:
    """A part of a month: its facts, and what its invoice charged.

    ``invoiced_net_minor`` is None if no approved invoice covers the part. Facts and amount leave
    out corrections of other months.
    """

    facts: Facts
    invoiced_net_minor: int | None

    def windows(self) -> list[Period]:
        """Return the windows of buckets whose usage ``MonthReplay.rate`` reads."""
        own = rated_period.windows(self.facts)
        earlier = [row.counted for correction in self.facts.corrections
                   for row in correction.before.segments if row.counted]  # fmt: skip
        return [*own, *earlier]


@dataclass(frozen=True)
class Figures:
    """What a month costs: net, and with tax, in minor units."""

    net_minor: int
    total_minor: int


@dataclass(frozen=True)
class MonthReplay:
    """One billing month of a tenant, in parts by time."""

    month: Period
    parts: tuple[Part, ...]

    @property
    def currency(self) -> str:
        return self.parts[0].facts.seller_rule.currency

    @property
    def plan_key(self) -> str:
        """The commercial plan at the end of the month."""
        return self.parts[-1].facts.segments[-1].plan_key

    @property
    def invoiced_net_minor(self) -> int | None:
        """The net amount of the month's invoices; None if a part has none."""
        found = [part.invoiced_net_minor for part in self.parts]
        amounts = [amount for amount in found if amount is not None]
        return sum(amounts) if len(amounts) == len(found) else None

    def rate(self, read: Reader, prices: DraftPrices | None = None) -> Figures:
        """Return what the month costs with the usage that ``read`` returns.

        ``prices`` are those of a draft; None: the prices by which each part was billed.
        """
        net = total = 0
        so_far: MonthSoFar | None = None
        for part in self.parts:
            found = part.facts
            if so_far is not None:
                # The state that the invoice pins has the prices as billed. The part, and what
                # corrects its month, continue what the part before came to by these prices.
                again = tuple(replace(row, before=so_far) for row in found.corrections)
                found = replace(found, so_far=so_far, corrections=again)
            if prices is not None:
                found = prices.priced(found)
            # By the engine that billed the part, so that only prices make a difference.
            rating = engines.BY_VERSION[found.engine].rate(found, read).rating
            so_far = rating.so_far
            net += rating.net_minor
            total += rating.net_minor + rating.tax_minor
        return Figures(net, total)


def of(tenant: Tenant, month: Period, invoices: Sequence[Invoice]) -> MonthReplay | None:
    """Return the month of a tenant; None if it had no plan in any part of it.

    ``invoices`` are those of the month with a final document (``corrections.AGREED``), by time.
    """
    parts = tuple(_parts(tenant, month, invoices))
    return MonthReplay(month, parts) if parts else None


def _parts(tenant: Tenant, month: Period, invoices: Sequence[Invoice]) -> Iterator[Part]:
    begins = month.starts_at
    for invoice in invoices:
        if begins < invoice.starts_at:
            yield from _live(tenant, Period(begins, invoice.starts_at))
        yield _billed(invoice)
        begins = invoice.ends_at
    if begins < month.ends_at:
        yield from _live(tenant, Period(begins, month.ends_at))


def _live(tenant: Tenant, period: Period) -> Iterator[Part]:
    try:
        yield Part(facts.gather(tenant, period), None)
    except facts.NoSubscription:
        return  # time without a plan costs nothing


def _billed(invoice: Invoice) -> Part:
    stored = document.loaded(invoice.document)
    manifest, month = stored["manifest"], document.month_of(stored)
    own = tuple(
        row for row in corrections.pinned(manifest, stored["currency"]) if row.month == month
    )
    numbers = {row.number for row in own}
    of_other_months = sum(
        line["amount_minor"]
        for line in stored["lines"]
        if line["kind"] == "correction" and line["detail"]["corrects"] not in numbers
    )
    net = stored["net_minor"] - of_other_months
    return Part(invoice_verification.pinned_facts(invoice, stored, own), net)
