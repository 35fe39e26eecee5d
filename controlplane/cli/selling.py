"""`waypost seller` and `waypost tax`: who sells to a tenant, and what decides its tax.

Their counterparts for operators are `waypost staff seller` and `waypost staff tax`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Annotated, Any

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import seller, sellers, staff, tax_details
from controlplane.client.types import Response
from controlplane.core.errors import Invalid
from controlplane.rest_client import Api, Json

seller_app = typer.Typer(no_args_is_help=True, help="Legal entities that sell.")
tax_app = typer.Typer(no_args_is_help=True, help="What decides the tax of the tenant.")
staff_seller_app = typer.Typer(no_args_is_help=True, help="From which seller tenants buy.")
staff_tax_app = typer.Typer(no_args_is_help=True, help="What decides the tax of tenants.")
Slug = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant's short name.")]
Reason = Annotated[str, typer.Option(help="Why, for the audit log.")]


@seller_app.command("list")
@slow.change
def list_sellers(*, how: listing.Rows) -> None:
    """List the legal entities from which a new tenant may buy, with their currencies."""

    def read(api: Api) -> Iterator[Json]:
        yield from calls.body(api, sellers.list_sellers.sync_detailed(client=api.client))["items"]

    listing.show_shared(how, read, ["legal_entity", "name", "country", "currencies"])


@seller_app.command("show")
def show_seller(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show from which legal entity, and in which currency, the tenant buys."""
    api, tenant = login_store.connect(tenant)
    answer = seller.get_seller.sync_detailed(tenant, client=api.client)
    output.show_one(calls.body(api, answer), form)


@tax_app.command("show")
def show_tax(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Show what is known of the tenant's tax id, and its certificates of exemption."""
    api, tenant = login_store.connect(tenant)
    answer = tax_details.get_tax_details.sync_detailed(tenant, client=api.client)
    output.show_one(calls.body(api, answer), form)


@staff_seller_app.command("show")
def show_seller_of_tenant(slug: Slug, form: Output = Format.TABLE) -> None:
    """Show from which legal entity, and in which currency, a tenant buys."""
    api = login_store.connect_staff()
    answer = staff.get_seller_tenant.sync_detailed(calls.named(slug), client=api.client)
    output.show_one(calls.body(api, answer), form)


@staff_seller_app.command("set")
def set_seller(
    slug: Slug,
    legal_entity: Annotated[str, typer.Argument(help="Its key, as `waypost seller list` shows.")],
    currency: Annotated[str, typer.Argument(help="Such as EUR.")],
    reason: Reason,
    form: Output = Format.TABLE,
) -> None:
    """Let a tenant buy from another seller or in another currency, before its first invoice."""
    body = models.SellerChoiceRequest(legal_entity=legal_entity, currency=currency, reason=reason)
    _run(staff.change_seller_tenant.sync_detailed, slug, body, form)


@staff_tax_app.command("show")
def show_tax_of_tenant(slug: Slug, form: Output = Format.TABLE) -> None:
    """Show a tenant's tax id with its checks, and its certificates of exemption."""
    api = login_store.connect_staff()
    answer = staff.get_tax_details_tenant.sync_detailed(calls.named(slug), client=api.client)
    output.show_one(calls.body(api, answer), form)


@dataclass(frozen=True)
class Certificate:
    """What a certificate says."""

    text: Annotated[str, typer.Option(help="By which law; invoices print it.")]
    starts: Annotated[str, typer.Option("--from", help="The first day, such as 2026-01-01.")]
    until: Annotated[str, typer.Option(help="The last day; without it: no end.")] = ""
    zero: Annotated[bool, typer.Option("--zero", help="Zero rate, in place of exempt.")] = False


@staff_tax_app.command()
@slow.change
def exempt(
    slug: Slug,
    number: Annotated[str, typer.Argument(help="The number of the certificate.")],
    form: Output = Format.TABLE,
    *,
    certificate: Annotated[Any, Certificate],
) -> None:
    """Store a certificate by which a tenant pays no tax."""
    calls.named(slug)
    body = models.ExemptionCreateRequest.from_dict(
        {
            "category": "Z" if certificate.zero else "E",
            "certificate": number,
            "text": certificate.text,
            "starts_on": _day(certificate.starts),
            "ends_on": _day(certificate.until) if certificate.until else None,
        }
    )
    _run(staff.set_tax_exemption.sync_detailed, slug, body, form)


@staff_tax_app.command("end")
def end_exemption(
    slug: Slug,
    exemption: Annotated[str, typer.Argument(help="Its id, as `show` prints it.")],
    day: Annotated[str, typer.Argument(help="The last day on which it counts.")],
    reason: Reason,
    form: Output = Format.TABLE,
) -> None:
    """End a certificate. The day before its first one: it never counts."""
    calls.named(slug)
    # By name: ``_run`` passes the tenant as the first argument.
    end = partial(staff.end_tax_exemption.sync_detailed, exemption=calls.named(exemption))
    body = models.ExemptionEndRequest.from_dict({"ends_on": _day(day), "reason": reason})
    _run(end, slug, body, form)


@staff_tax_app.command()
def register(
    slug: Slug,
    reference: Annotated[str, typer.Option(help="Identifies the answer.")],
    unknown: Annotated[
        bool, typer.Option("--unknown", help="The register does not know the id.")
    ] = False,
    form: Output = Format.TABLE,
) -> None:
    """Record what the register of VAT ids answered about a tenant's tax id."""
    body = models.RegisterAnswerRequest(is_registered=not unknown, reference=reference)
    _run(staff.record_answer_register.sync_detailed, slug, body, form)


def _day(text: str) -> str:
    """Return a day as the API takes it.

    Raises:
        Invalid: ``day.invalid``: it is no day.
    """
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise Invalid(f"{text!r} is no day: write it as 2026-01-31.", code="day.invalid") from None


def _run(call: Callable[..., Response[Any]], slug: str, body: object, form: Format) -> None:
    api = login_store.connect_staff()
    answer = call(calls.named(slug), client=api.client, body=body, idempotency_key=calls.new_key())
    output.show_one(calls.body(api, answer), form)
