"""The chapters of the demonstration: what tenants, clients and the operator do.

Each function of ``story.STORY`` takes the state of the run (``Cast``), acts, prints, and may add
comparisons to that state. Later chapters use what earlier ones have stored there.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from controlplane.core.accounts import OPERATOR_EMAIL
from controlplane.demo import bills, comparisons, exchanges, first_usage, prices
from controlplane.demo.cast import Cast
from controlplane.demo.customers import CLIENT, EVERYTHING, Customer, Space
from controlplane.rest_client import Json, Refused
from plans.rating import money
from workers.messaging import traffic

MESSAGES = 200  # sent on each address
SpacePlans = Mapping[str, tuple[str, Mapping[str, str]]]
# (text to print when the operation has ended, tenant, operation)
Requested = tuple[str, Customer, Json]
# (organization, plan, spaces: name -> (type, addresses: address -> type)). A subscription is named
# ``<topic>::<name>``, as clients name it, and comes after its topic.
CUSTOMERS: tuple[tuple[str, str, SpacePlans], ...] = (
    (
        "Nordwind Freight",
        prices.PLAN,
        {
            "orders": (
                "brokered",
                {"invoices": "queue", "prices": "topic", "prices::archive": "subscription"},
            ),
            "fleet": (
                "standard",
                {
                    "jobs": "queue",
                    "events": "topic",
                    "events::log": "subscription",
                    "quotes": "anycast",
                    "alerts": "multicast",
                },
            ),
        },
    ),
    (
        "Silver Bakery",
        prices.STARTER,
        {
            "shop": ("brokered", {"orders": "queue"}),
        },
    ),
)
READER = "reader"  # a messaging user who may only receive, and who is revoked later


def publish_prices(cast: Cast) -> None:
    """Publish the demonstration's two plans as the operator, and print which plans changed.

    On one of the plans every message has a price.
    """
    cast.narrator.chapter("The operator publishes a plan")
    published = prices.publish(cast.operator().api)
    changed = [change for change in published["changes"] if change["kind"] != "same"]
    cast.narrator.line(
        f"catalog {published['number']}: "
        + (", ".join(f"{change['key']} is {change['kind']}" for change in changed) or "no changes")
    )


def sign_up(cast: Cast) -> None:
    """Sign up the two tenants of ``CUSTOMERS``, each on its plan, and store them in ``cast``."""
    cast.narrator.chapter("Two tenants sign up")
    for organization, plan, _spaces in CUSTOMERS:
        customer = Customer(cast.up.url, organization, cast.up.run_dir)
        customer.sign_up(plan)
        cast.customers.append(customer)
        cast.narrator.line(f"{organization} signed up to the {plan} plan as {customer.email}")


def create_spaces(cast: Cast) -> None:
    """Create the spaces, addresses and messaging users of each tenant, and wait for all."""
    cast.narrator.chapter("They create messaging spaces, addresses and users")
    wanted = [
        (customer, space, kind, addresses)
        for customer, (_organization, _plan, spaces) in zip(cast.customers, CUSTOMERS, strict=True)
        for space, (kind, addresses) in spaces.items()
    ]
    # All spaces are requested before the first is waited for, so they are created at the same time.
    requests = []
    for customer, space, kind, _ in wanted:
        operation = customer.request_space(space, kind, f"{kind}-small")
        text = f"{customer.organization}: {kind} space {space} is ready"
        requests.append((text, customer, operation))
    _follow(cast, requests)
    _follow(
        cast,
        [
            requested
            for customer, space, _kind, addresses in wanted
            for requested in _fill(customer, customer.spaces[space], addresses)
        ],
    )


def _fill(customer: Customer, space: Space, addresses: Mapping[str, str]) -> list[Requested]:
    """Request all addresses and the messaging user of a space; return the requests.

    ``addresses`` are {name: type}. They are added to those of ``space``. Waits for nothing.
    """
    requested = []
    for address, type_ in addresses.items():
        plan = f"{space.type}-small-{type_}"
        topic, _, name = address.rpartition("::")
        operation = customer.request_address(space.name, name, type_, plan, topic)
        space.addresses[address] = type_
        requested.append((f"{space.name}: {type_} {address} carries messages", customer, operation))
    operation = customer.request_user(space.name, CLIENT, EVERYTHING)
    return [*requested, (f"{space.name}: user {CLIENT} may log in", customer, operation)]


def _follow(cast: Cast, requests: list[Requested]) -> None:
    """Wait for each operation in turn; print its text and the time since this call began."""
    began = time.monotonic()
    for text, customer, operation in requests:
        customer.finish(operation)
        cast.narrator.line(f"{text} ({time.monotonic() - began:.1f} s)")


def exchange_messages(cast: Cast) -> None:
    """Let clients send and receive on every address, stay connected for some samples, and leave.

    Stores what they counted in ``cast.counts``.
    """
    cast.narrator.chapter("Real AMQP clients exchange messages over TLS")
    for customer in cast.customers:
        for space in customer.spaces.values():
            plans = [
                exchanges.plan_for(address, type_, MESSAGES)
                for address, type_ in space.addresses.items()
            ]
            exchange = exchanges.Exchange(customer.login(space.name, CLIENT), plans)
            cast.exchanges[customer.slug, space.name] = exchange
            exchange.open()
            with cast.narrator.timed(f"{space.name}: every message was confirmed"):
                exchange.run()
    # Two intervals and some slack, so that at least one sample sees all connections: the peak.
    seconds = 2 * cast.interval_seconds + 3
    cast.narrator.line(f"The clients stay connected for {seconds} s, so that samples see them")
    exchanges.hold(seconds, time.monotonic())
    for key, exchange in cast.exchanges.items():
        cast.counts[key] = exchange.close()
    for customer in cast.customers:
        for name, count in cast.counts_of(customer).items():
            sent = sum(tally.accepted for tally in count.by_address.values())
            got = sum(tally.received for tally in count.by_address.values())
            cast.narrator.line(
                f"{name}: {sent} sent, {got} received over {count.connections} connections"
            )


def refuse_strangers(cast: Cast) -> None:
    """Try wrong logins and missing permissions over AMQP, and another tenant's objects over REST.

    Compares each answer with the refusal that must come. Creates the messaging user ``READER``.
    """
    cast.narrator.chapter("Strangers are refused")
    first, second = cast.customers
    space, other = next(iter(first.spaces.values())), next(iter(second.spaces.values()))
    address = next(iter(space.addresses))
    mine, foreign = first.login(space.name, CLIENT), second.login(other.name, CLIENT)
    first.create_user(space.name, READER, [{"addresses": [address], "operations": ["recv"]}])
    tries = {
        "a wrong password": traffic.with_password(mine, "not-the-password"),
        "another tenant's user": replace(mine, user=foreign.user, password=foreign.password),
        "a user without the permission": first.login(space.name, READER),
    }
    # Refused clients connect too, and Waypost meters that, so it is added to the space's counts.
    count = cast.counts[first.slug, space.name]
    for who, login in tries.items():
        tried = traffic.attempt(login, address, sends=True)
        count.others += tried.tally
        cast.comparisons.add(f"{who} sends", exchanges.UNAUTHORIZED, tried.condition)
        cast.narrator.line(f"{who}: {tried.refusal or 'LET IN'}")
    # "missing", not "denied": the API does not reveal whether another tenant's objects exist.
    answer = "let in"
    try:
        second.api.get(f"/tenants/{first.slug}/address-spaces")
    except Refused as refused:
        answer = refused.error_code
    cast.comparisons.add("another tenant's objects over REST", "missing", answer)
    cast.narrator.line(f"another tenant's objects over REST: {answer}")


def revoke_a_user(cast: Cast) -> None:
    """Revoke the user ``READER`` while it is connected; compare that its connection is closed."""
    cast.narrator.chapter("A user is revoked")
    customer = cast.customers[0]
    space = next(iter(customer.spaces.values()))
    address = next(iter(space.addresses))
    listener = traffic.listen(customer.login(space.name, READER), address)
    began = time.monotonic()
    customer.revoke_user(space.name, READER)
    is_closed = listener.ended.wait(15)
    listener.leave()
    cast.counts[customer.slug, space.name].others += listener.tally
    cast.comparisons.add("revoked user's connection", "closed", "closed" if is_closed else "open")
    cast.narrator.line(
        f"its open connection was closed {time.monotonic() - began:.1f} s after the request: "
        f"{listener.error or 'without an error'}"
    )
    connections = cast.counts[customer.slug, space.name].connections
    cast.narrator.line(
        f"{space.name}: {connections} connections so far, with those of the refused clients and of "
        f"the revoked {READER}"
    )


def show_usage(cast: Cast) -> None:
    """Wait until the first tenant's usage has every message that its clients received.

    Then print the tenant's whole usage of the month.

    Raises:
        Unavailable: ``demo.no_usage``: the pipeline ran, and messages are still missing.
    """
    cast.narrator.chapter("Samples land in Delta tables; Spark aggregates them")
    customer = cast.customers[0]
    with cast.narrator.timed("the first usage is available"):
        tallies = (count.by_address.values() for count in cast.counts_of(customer).values())
        received = sum(tally.received for counted in tallies for tally in counted)
        found = first_usage.wait(customer, cast.operator(), received, cast.narrator)
    names = {space.id: space.name for space in customer.spaces.values()}
    rows = [["space", "address", "meter", "quantity"]]
    for (space, address, meter), quantity in sorted(found.items()):
        rows.append([names.get(space, space), address, meter, f"{quantity:,}"])
    cast.narrator.table(rows)


def reach_a_quota(cast: Cast) -> None:
    """Request addresses for the tenant on the smaller plan until the plan's limit refuses one.

    Adds a comparison: the refusal must be ``quota_exceeded``.
    """
    cast.narrator.chapter("A quota is reached")
    customer = cast.customers[1]
    space = next(iter(customer.spaces.values()))
    refusal = "never refused"
    # More than the plan allows, and bounded: a missing refusal must not loop for ever.
    for number in range(1, 50):
        try:
            customer.request_address(
                space.name, f"extra-{number}", "queue", f"{space.type}-small-queue"
            )
        except Refused as refused:
            refusal = refused.error_code
            cast.narrator.line(f"one address too many: {refused.message}")
            break
    cast.comparisons.add("refusal over the quota", "quota_exceeded", refusal)


def delete_things(cast: Cast) -> None:
    """Delete an address of the first tenant and a space of the second; both are still billed."""
    cast.narrator.chapter("An address and a space are deleted")
    first, second = cast.customers
    space = next(space for space in first.spaces.values() if space.type == "brokered")
    address = next(iter(space.addresses))
    with cast.narrator.timed(f"address {space.name}/{address} is gone"):
        first.delete_address(space.name, address)
    gone = next(iter(second.spaces))
    with cast.narrator.timed(f"space {gone} is gone"):
        second.delete_space(gone)


def close_and_issue(cast: Cast) -> None:
    """Close both tenants' periods as the operator, issue the invoices and record a payment.

    Prints each invoice. The payment is for the first tenant's invoice, which must then be paid.

    Raises:
        Conflict: ``demo.held``: the close validation holds an invoice.
    """
    cast.narrator.chapter("The periods are closed and the invoices are issued")
    operator = cast.operator()
    # Both closes are started before the first is waited for.
    operations = {customer.slug: operator.close_now(customer) for customer in cast.customers}
    for customer in cast.customers:
        operation = operations[customer.slug]
        with cast.narrator.timed(f"{customer.organization}: closed and issued"):
            # A close takes last samples, for up to 7 minutes, and then runs the Spark pipeline.
            customer.follow(operation, 600, cast.narrator.steps_of(customer.organization))
            invoice = bills.issue(operator, customer, operation["subject_id"])
        cast.invoices[customer.slug] = invoice
        total = money.display(invoice["total_minor"], invoice["currency"])
        cast.narrator.line(f"invoice {invoice['number']} over {total}")
        cast.narrator.table(bills.table(invoice))
    first = cast.invoices[cast.customers[0].slug]
    operator.record_payment(first, f"transfer {first['number']}", f"{datetime.now(UTC):%Y-%m-%d}")
    paid = cast.customers[0].api.get(cast.customers[0].path(f"/invoices/{first['id']}"))
    cast.comparisons.add(f"invoice {first['number']} after its payment", "paid", paid["state"])
    cast.narrator.line(f"invoice {first['number']} was paid by bank transfer")


def compare(cast: Cast) -> None:
    """Compare usage and invoices with the clients' counts; print all comparisons of the run.

    Those that earlier chapters added are printed too.
    """
    cast.narrator.chapter("Everything is compared with what the clients counted")
    for customer in cast.customers:
        found = bills.metered(customer)
        counts = cast.counts_of(customer)
        for name, count in counts.items():
            space = customer.spaces[name]
            bills.compare_space(cast.comparisons, space, count, found, cast.sampling)
        bills.compare_invoice(cast.comparisons, customer, cast.invoices[customer.slug], counts)
    cast.narrator.table([comparisons.HEADER, *(row.row() for row in cast.comparisons.rows)])
    cast.narrator.line(
        f"Connection-hours are sampled every {cast.interval_seconds} s: the bound is one interval "
        "per connection. Everything else is exact, also the connections of refused and revoked "
        "clients."
    )


def show_logins(cast: Cast) -> None:
    """Print the portal's URL, and the logins of the operator, of tenants and through Keycloak."""
    cast.narrator.chapter("Look around")
    cast.narrator.line(f"portal: {cast.up.url}")
    rows = [["operator", OPERATOR_EMAIL, cast.up.secrets.operator_password]]
    for customer in cast.customers:
        rows.append([customer.organization, customer.email, customer.password])
    if cast.person:
        rows.append(["through Keycloak", cast.person.email, cast.person.password])
    cast.narrator.table(rows)
