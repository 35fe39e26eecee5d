"""`waypost plans`: the plans on offer, of tenants, spaces and addresses, with their prices."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Annotated, Any

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client.api import address_plans, plan_subscription, plans, space_plans
from controlplane.client.models import PlanChoiceRequest
from controlplane.client.types import Response
from controlplane.core.errors import Denied, Missing
from controlplane.rest_client import Api, Json
from plans.catalog import price_texts
from plans.catalog.definitions import MeterPrice
from plans.rating import money
from plans.usage.meters import BY_SLUG

app = typer.Typer(no_args_is_help=True, help="Plans on offer, with their prices.")


@app.command("list")
@slow.change
def list_plans(*, how: listing.Rows) -> None:
    """List the plans of tenants, with the monthly fee in each currency."""
    columns = ["key", "title", "monthly_fee_minor", "fee_in_other_currencies"]
    listing.show_shared(how, calls.shared_list(plans.list_plans.sync_detailed), columns, _flat)


@app.command("prices")
@slow.change
def list_prices(plan: str, *, how: listing.Rows) -> None:
    """List what each part of a month's usage costs on a plan of tenants, before tax."""
    columns = ["currency", "meter", "usage", "price"]
    listing.show_shared(how, lambda api: _prices(api, plan), columns)


@app.command("spaces")
@slow.change
def list_space_plans(*, how: listing.Rows) -> None:
    """List the plans of spaces, with the price of an hour in each currency."""
    columns = ["key", "title", "space_type", "hour_price"]
    listing.show_shared(how, space_offers, columns, _flat)


@app.command("addresses")
@slow.change
def list_address_plans(
    space_type: Annotated[str, typer.Option(help="Only those for spaces of this type.")] = "",
    type: Annotated[str, typer.Option(help="Only those for addresses of this type.")] = "",
    *,
    how: listing.Rows,
) -> None:
    """List the plans of addresses, with the price of an hour in each currency."""
    columns = ["key", "title", "space_type", "address_type", "hour_price"]
    wanted = {"space_type": space_type, "address_type": type}
    listing.show_shared(how, lambda api: _matching(_address_offers(api), wanted), columns, _flat)


@app.command()
def follow(
    stay: Annotated[bool, typer.Option("--stay", help="Stay with the present version.")] = False,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Follow new versions of the tenant's plan, or stay with the present one.

    A newer version that exists already counts from the next billing month on, later ones after
    notice.
    """
    api, tenant = login_store.connect(tenant)

    def write(present: Json, tag: str) -> Response[Any]:
        return plan_subscription.change_plan.sync_detailed(
            tenant,
            client=api.client,
            # With the present plan only the choice changes, and the subscription keeps its version.
            body=PlanChoiceRequest(plan=present["plan"], follows=not stay),
            if_match=tag,
        )

    read = partial(plan_subscription.get_plan_subscription.sync_detailed, tenant, client=api.client)
    output.show_one(calls.change(api, read, write), form)


def default_space_plan(api: Api, tenant: str, space_type: str) -> str:
    """Return the plan with the lowest price of an hour for spaces of ``space_type``.

    ``tenant`` is the slug of the tenant whose plan must include the result.

    Raises:
        Missing: ``plan.none``: no plan is offered for them. Denied: ``plan.not_included``: the
            tenant's plan includes none of those.
    """
    return _cheapest(api, tenant, "space_plans", space_offers(api), {"space_type": space_type})


def default_address_plan(api: Api, tenant: str, space_type: str, address_type: str) -> str:
    """Return the plan with the lowest price of an hour for such addresses in such spaces.

    ``tenant`` and what is raised: see ``default_space_plan``.
    """
    wanted = {"space_type": space_type, "address_type": address_type}
    return _cheapest(api, tenant, "address_plans", _address_offers(api), wanted)


def space_offers(api: Api) -> Iterator[Json]:
    """Yield the plans of spaces."""
    return calls.rows(api, partial(space_plans.list_space_plans.sync_detailed, client=api.client))


def _address_offers(api: Api) -> Iterator[Json]:
    return calls.rows(
        api, partial(address_plans.list_address_plans.sync_detailed, client=api.client)
    )


def _cheapest(
    api: Api, tenant: str, part: str, every: Iterable[Json], wanted: dict[str, str]
) -> str:
    kind = " ".join(f"{name.replace('_', ' ')} {value}" for name, value in wanted.items())
    offers = _matching(every, wanted)
    if not offers:
        raise Missing(f"No plan is offered for {kind}: see `waypost plans`.", code="plan.none")
    answer = plan_subscription.get_plan_subscription.sync_detailed(tenant, client=api.client)
    subscription = calls.body(api, answer)
    # A server of an older version does not say what the plan includes, and refuses the others.
    included = subscription.get(part, [offer["key"] for offer in offers])
    offers = [offer for offer in offers if offer["key"] in included]
    if not offers:
        raise Denied(
            f"Your plan {subscription['title']} includes no plan for {kind}: `waypost plans list` "
            "shows larger ones.",
            code="plan.not_included",
        )
    # The key too, so that the choice does not depend on the order of the list.
    found = min(offers, key=lambda one: (float(one["definition"]["hour_price"]), one["key"]))
    return str(found["key"])


def _matching(every: Iterable[Json], wanted: dict[str, str]) -> list[Json]:
    return [
        offer
        for offer in every
        # An empty value of ``wanted`` matches every plan.
        if all(offer[name] == value for name, value in wanted.items() if value)
    ]


def hour_price(definition: Json, currency: str) -> str:
    """Return the price of an hour of a space or address plan in a currency, as a decimal text.

    If the catalog has one currency, or the server is older, ``definition`` has only one price. Then
    the result is this price.
    """
    return str(definition.get("hour_prices", {}).get(currency, definition["hour_price"]))


def _prices(api: Api, key: str) -> Iterator[Json]:
    """Yield a row for each tier of each price of the plan ``key``, in each currency.

    Raises:
        Missing: ``plan.none``: no such plan is on offer.
    """
    offers = calls.rows(api, partial(plans.list_plans.sync_detailed, client=api.client))
    found = next((offer["definition"] for offer in offers if offer["key"] == key), None)
    if found is None:
        raise Missing(f"No plan {key} is on offer: see `waypost plans list`.", code="plan.none")
    by_currency = {found["currency"]: found, **found.get("currencies", {})}
    for currency, part in by_currency.items():
        for meter, entry in part["prices"].items():
            included = found["included"].get(meter, 0)
            # A newer server may have meters that this command does not know.
            steps = (
                price_texts.steps(meter, MeterPrice.of(entry), included, currency)
                if meter in BY_SLUG
                else [price_texts.Step("", "`waypost plans list -o json` has it")]
            )
            for step in steps:
                yield {"currency": currency, "meter": meter, **step._asdict()}


def _flat(offer: Json) -> dict[str, Any]:
    row = {**offer["definition"], **offer}
    fees = row.get("currencies", {})
    row["fee_in_other_currencies"] = ", ".join(
        money.display(fees[currency]["monthly_fee_minor"], currency) for currency in sorted(fees)
    )
    if prices := row.get("hour_prices"):
        row["hour_price"] = ", ".join(f"{prices[one]} {one}" for one in sorted(prices))
    return row
