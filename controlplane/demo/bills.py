"""The other side: what Waypost metered and billed, set against what the clients counted."""

from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.core.errors import Conflict
from controlplane.demo import prices
from controlplane.demo.comparisons import Comparisons
from controlplane.demo.customers import Customer, Operator, Space
from controlplane.demo.exchanges import SpaceCount, metered_name
from controlplane.rest_client import Json

Metered = Mapping[tuple[str, str, str], int]  # (space id, address, meter) -> quantity


@dataclass(frozen=True)
class Sampling:
    """How often connections are looked at, and how late a look may be."""

    interval_seconds: int
    slack_seconds: float = 2.0

    def bound_hours(self, connections: int) -> float:
        """Return how far connection-hours may be off.

        A connection is seen from the first look after it opened to the last one before it closed,
        so it is off by at most one interval.
        """
        return connections * (self.interval_seconds + self.slack_seconds) / 3600


def metered(customer: Customer) -> Metered:
    """Return the tenant's usage of the running month as the API tells it."""
    usage = customer.api.get(customer.path("/usage"))
    return {
        (item["space_id"], item["address"], item["meter"]): item["quantity"]
        for item in usage["items"]
    }


def issue(operator: Operator, customer: Customer, invoice: str) -> Json:
    """Approve and issue a closed invoice; the invoice with its document.

    Raises:
        Conflict: ``demo.held``: the close gate holds it; the message says why.
    """
    row = customer.api.get(customer.path(f"/invoices/{invoice}"))
    if row["state"] == "held":
        reasons = "; ".join(reason["message"] for reason in row["held_reasons"])
        raise Conflict(f"the invoice is held: {reasons}", code="demo.held")
    operator.approve_and_issue(invoice)
    return customer.api.get(customer.path(f"/invoices/{invoice}"))


def compare_space(
    comparisons: Comparisons, space: Space, count: SpaceCount, found: Metered, sampling: Sampling
) -> None:
    """Compare one space: messages per address, connections opened, their peak and their hours."""
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
    """Compare an invoice's totals with the clients', and its bytes with a recomputation."""
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
    if customer.plan == prices.PLAN:
        charged = sum(line["amount_minor"] for line in lines if line["meter"] == "messages")
        label = f"invoice {number} charge for messages, {invoice['currency']}"
        comparisons.add(label, prices.message_charge_minor(tallies) / 100, charged / 100)
    net = sum(line["amount_minor"] for line in lines)
    label = f"invoice {number} lines and tax, {invoice['currency']}"
    comparisons.add(label, (net + invoice["tax_minor"]) / 100, invoice["total_minor"] / 100)
    comparisons.add(f"invoice {number} recomputed", "same bytes", recompute(customer, invoice))


def recompute(customer: Customer, invoice: Json) -> str:
    """Have the invoice recomputed from its pinned samples; ``same bytes`` or what differs."""
    operation = customer.api.post(customer.path(f"/invoices/{invoice['id']}/verify"))
    ended = customer.follow(operation, timeout_seconds=180)
    return "same bytes" if ended["state"] == "Succeeded" else str(ended["error_message"])
