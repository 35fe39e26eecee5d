"""Compares what Waypost metered and billed with what the clients counted."""

from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.core.errors import Conflict
from controlplane.demo import prices
from controlplane.demo.comparisons import Comparisons
from controlplane.demo.customers import Customer, Operator, Space
from controlplane.demo.exchanges import SpaceCount, metered_name
from controlplane.rest_client import Json
from plans.rating import money

# (space id, address or '', meter) -> quantity in base units.
Metered = Mapping[tuple[str, str, str], int]


@dataclass(frozen=True)
class Sampling:
    """How often Waypost samples connections, and how late a sample may be, both in seconds."""

    interval_seconds: int
    slack_seconds: float = 2.0

    def bound_hours(self, connections: int) -> float:
        """Return by how many connection-hours Waypost may differ from the clients' count.

        A connection counts from the first sample after it opened to the last one before it closed,
        so each of ``connections`` differs by at most one interval and the delay of a sample.
        """
        return connections * (self.interval_seconds + self.slack_seconds) / 3600


def metered(customer: Customer) -> Metered:
    """Return the tenant's usage of the current month: {(space id, address, meter): quantity}.

    Quantities are in base units. The address is '' for meters of the whole space.
    """
    usage = customer.api.get(customer.path("/usage"))
    return {
        (item["space_id"], item["address"], item["meter"]): item["quantity"]
        for item in usage["items"]
    }


def issue(operator: Operator, customer: Customer, invoice: str) -> Json:
    """Approve and issue an invoice; return the issued invoice as its tenant reads it.

    ``invoice`` is the id. The invoice's close must have ended.

    Raises:
        Conflict: ``demo.held``: the close validation holds the invoice; the message says why.
    """
    row = customer.api.get(customer.path(f"/invoices/{invoice}"))
    if row["state"] == "held":
        reasons = "; ".join(reason["message"] for reason in row["held_reasons"])
        raise Conflict(f"the invoice is held: {reasons}", code="demo.held")
    operator.approve_and_issue(invoice)
    return customer.api.get(customer.path(f"/invoices/{invoice}"))


def table(invoice: Json) -> list[list[str]]:
    """Return the rows of a table that shows an invoice: headings, lines, taxes and the total."""
    currency, document = invoice["currency"], invoice["document"]
    rows = [["line", "quantity", "unit", "amount"]]
    for line in document["lines"]:
        quantity = f"{float(line['quantity']):,.4f}".rstrip("0").rstrip(".")
        amount = money.display(line["amount_minor"], currency)
        rows.append([line["description"], quantity, line["unit"], amount])
    for tax in document["taxes"]:
        on = f"tax {tax['percent']} % on {money.display(tax['taxable_minor'], currency)}"
        rows.append([on, "", "", money.display(tax["tax_minor"], currency)])
    return [*rows, ["total", "", "", money.display(invoice["total_minor"], currency)]]


def compare_space(
    comparisons: Comparisons, space: Space, count: SpaceCount, found: Metered, sampling: Sampling
) -> None:
    """Add comparisons for a space: messages by address, connections, their peak and their hours.

    ``count`` is what the clients counted, ``found`` what Waypost metered. Only the connection-hours
    may differ, within the bound of ``sampling``.
    """
    # Clients name a subscription with its topic; usage has the name alone.
    types = {metered_name(address): type_ for address, type_ in space.addresses.items()}
    for address, tally in sorted(count.by_address.items()):
        label = f"{space.name}/{address} ({types.get(address, '?')})"
        for meter, counted in (("in", tally.accepted), ("out", tally.received)):
            quantity = found.get((space.id, address, f"messages_{meter}"), 0)
            comparisons.add(f"{label} messages {meter}", counted, quantity)
    for meter, counted in (
        ("connections_opened", count.connections),
        ("peak_connections", count.peak),
    ):
        label = f"{space.name} {meter.replace('_', ' ')}"
        comparisons.add(label, counted, found.get((space.id, "", meter), 0))
    hours = found.get((space.id, "", "connection_ms"), 0) / 3_600_000
    comparisons.add(
        f"{space.name} connection-hours",
        count.connection_seconds / 3600,
        hours,
        sampling.bound_hours(count.connections),
    )


def compare_invoice(
    comparisons: Comparisons, customer: Customer, invoice: Json, counts: Mapping[str, SpaceCount]
) -> None:
    """Add comparisons of an invoice with the clients' counts, its own sums and a recomputation.

    ``counts`` are those of the tenant's spaces, by name. The charge for messages is compared only
    on the plan ``prices.PLAN``.
    """
    number = invoice["number"]
    billed = [row["meters"] for row in invoice["document"]["usage"]]
    tallies = [tally for count in counts.values() for tally in count.by_address.values()]
    for meter, counted in (
        ("messages_in", sum(tally.accepted for tally in tallies)),
        ("messages_out", sum(tally.received for tally in tallies)),
    ):
        label = f"invoice {number} {meter.replace('_', ' ')}"
        comparisons.add(label, counted, sum(meters.get(meter, 0) for meters in billed))
    lines = invoice["document"]["lines"]
    # ``prices`` can compute the charge for messages of this plan only.
    if customer.plan == prices.PLAN:
        charged = sum(line["amount_minor"] for line in lines if line["meter"] == "messages")
        label = f"invoice {number} charge for messages, {invoice['currency']}"
        comparisons.add(label, prices.message_charge_minor(tallies) / 100, charged / 100)
    # Both sides of this comparison are from the invoice: its own sums must agree.
    net = sum(line["amount_minor"] for line in lines)
    label = f"invoice {number} lines and tax, {invoice['currency']}"
    comparisons.add(label, (net + invoice["tax_minor"]) / 100, invoice["total_minor"] / 100)
    comparisons.add(f"invoice {number} recomputed", "same bytes", recompute(customer, invoice))


def recompute(customer: Customer, invoice: Json) -> str:
    """Let Waypost recompute the invoice and check all files that it comes from.

    Returns ``same bytes``, or what the operation reports.
    """
    operation = customer.api.post(customer.path(f"/invoices/{invoice['id']}/verify?files=true"))
    ended = customer.follow(operation)
    return "same bytes" if ended["state"] == "Succeeded" else str(ended["error_message"])
