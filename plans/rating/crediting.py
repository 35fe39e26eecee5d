"""Computes what a credit note takes back from an issued invoice. Pure: no database and no clock.

A credit note names lines of one invoice. The notes of an invoice together never take back more than
the invoice charged. Tax is rounded over everything that was credited so far, so the taxes of all
notes add up to the tax of the invoice once all of it is credited.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.core.errors import Conflict, Invalid
from plans.rating import pricing
from plans.rating.pricing import SellerRule


class NothingLeft(Conflict):
    """Nothing is left to take back: earlier credit notes did, or the net amount is not positive."""

    code = "credit_note.nothing_left"


class TooMuch(Conflict):
    """The credit note would take back more than is left of a line or of the invoice."""

    code = "credit_note.too_much"


@dataclass(frozen=True)
class Credited:
    """What one credit note takes back, in minor units; ``net_minor`` is positive.

    ``lines`` is {position of the invoice's line: amount}; of a negative line it is negative.
    ``is_rest`` is True if nothing of the invoice is left afterwards.
    """

    lines: Mapping[int, int]
    net_minor: int
    tax_minor: int
    is_rest: bool

    @property
    def total_minor(self) -> int:
        return self.net_minor + self.tax_minor


def credit(
    charged: Mapping[int, int],
    before: Mapping[int, int],
    wanted: Mapping[int, int] | None,
    seller: SellerRule,
) -> Credited:
    """Return what a credit note takes back of an invoice.

    ``charged`` is {position: amount} of the invoice's lines, ``before`` the same of everything that
    earlier credit notes took back. ``wanted`` is the same of this note; None: all that is left.
    ``seller`` has the tax and the rounding of the invoice.

    Raises:
        Invalid: ``wanted`` is empty, names a position that the invoice lacks, or has an amount that
            is not positive.
        TooMuch: more is wanted than is left of a line, or of the whole invoice.
        NothingLeft: nothing of the invoice is left.
    """
    left = {n: amount - before.get(n, 0) for n, amount in charged.items()}
    net_left, net_before = sum(left.values()), sum(before.values())
    if net_left <= 0:
        raise NothingLeft("Nothing of this invoice is left that a credit note could take back.")
    parts = {n: amount for n, amount in left.items() if amount} if wanted is None else dict(wanted)
    if wanted is not None:
        _check(wanted, left, net_left)
    net = sum(parts.values())
    taxes = [pricing.tax_on(n, seller).tax_minor for n in (net_before, net_before + net)]
    return Credited(parts, net, taxes[1] - taxes[0], net == net_left)


def _check(wanted: Mapping[int, int], left: Mapping[int, int], net_left: int) -> None:
    if not wanted or any(n not in left for n in wanted) or min(wanted.values()) <= 0:
        raise Invalid(
            "Name lines of the invoice by their positions, each with a positive amount.",
            code="credit_note.lines",
        )
    for position, amount in wanted.items():
        if amount > left[position]:
            raise TooMuch(
                f"Of line {position} only {left[position]} is left: take back at most that.",
                position=position,
                left_minor=left[position],
            )
    # A discount may make the invoice smaller than the sum of its positive lines.
    if sum(wanted.values()) > net_left:
        raise TooMuch(
            f"Of the invoice only {net_left} before tax is left: take back at most that.",
            left_minor=net_left,
        )
