"""Names the resources that quotas limit. Plans, overrides, errors and pages use these names."""

from enum import StrEnum

from plans.usage.meters import BY_SLUG, REGISTRY


class Resource(StrEnum):
    """A resource with a limit; the value is its stable slug.

    A slug without a dot has a limit per tenant, ``space.*`` per space, ``broker.*`` per broker.
    ``<meter>_per_month`` is the use of a meter in a billing month, in the meter's base unit.
    """

    SPACES = "spaces"
    ADDRESSES = "addresses"
    USERS = "users"  # messaging users
    BROKERS = "brokers"
    MEMBERS = "members"
    API_TOKENS = "api_tokens"
    MESSAGES_PER_MONTH = "messages_per_month"  # in plus out
    MESSAGES_IN_PER_MONTH = "messages_in_per_month"
    MESSAGES_OUT_PER_MONTH = "messages_out_per_month"
    CONNECTIONS_OPENED_PER_MONTH = "connections_opened_per_month"
    CONNECTION_MS_PER_MONTH = "connection_ms_per_month"
    STORED_BYTE_MS_PER_MONTH = "stored_byte_ms_per_month"
    BYTES_PER_MONTH = "bytes_per_month"  # in plus out
    BYTES_IN_PER_MONTH = "bytes_in_per_month"
    BYTES_OUT_PER_MONTH = "bytes_out_per_month"
    STEPS_64K_PER_MONTH = "steps_64k_per_month"  # in plus out
    STEPS_64K_IN_PER_MONTH = "steps_64k_in_per_month"
    STEPS_64K_OUT_PER_MONTH = "steps_64k_out_per_month"
    PEAK_CONNECTIONS_PER_MONTH = "peak_connections_per_month"
    SPACE_HOURS_PER_MONTH = "space_hours_per_month"
    ADDRESS_HOURS_PER_MONTH = "address_hours_per_month"
    SPACE_ADDRESSES = "space.addresses"
    SPACE_USERS = "space.users"
    SPACE_BROKERS = "space.brokers"
    SPACE_ROUTER_CREDIT = "space.router_credit"  # thousandths of a router
    SPACE_BROKER_CREDIT = "space.broker_credit"  # thousandths of a broker
    SPACE_AGGREGATE_CREDIT = "space.aggregate_credit"  # thousandths, both together
    BROKER_BYTES = "broker.bytes"  # that the addresses on one broker may store together
    BROKER_CREDIT = "broker.credit"  # thousandths of the one broker an address must sit on


class AtQuota(StrEnum):
    """What happens at 100 % of a monthly quota or of a spend cap; messages are never dropped."""

    NOTIFY = "notify"  # an alert only
    THROTTLE = "throttle"  # fewer connections, and fewer messages in a second
    WITHDRAW_SEND = "withdraw_send"  # clients receive and cannot send
    REFUSE_CONNECTIONS = "refuse_connections"  # clients cannot connect; messages stay stored


# The alerts of a tenant's own spend cap have this resource. Plans and staff do not limit it.
SPEND = "spend"
# Resource -> the meter that counts it over a billing month. All other resources are counted rows or
# credits. Portal, API and alerts iterate this mapping. A meter without a ``Resource`` fails here.
METERED = {Resource(f"{meter.slug}_per_month"): meter.slug for meter in REGISTRY}
TENANT_RESOURCES = tuple(resource for resource in Resource if "." not in resource.value)

WORDS = {
    Resource.SPACES: "address spaces",
    Resource.ADDRESSES: "addresses in all spaces together",
    Resource.USERS: "messaging users in all spaces together",
    Resource.BROKERS: "brokers in all spaces together",
    Resource.MEMBERS: "members",
    Resource.API_TOKENS: "API tokens",
    **{resource: f"{BY_SLUG[meter].plan_text} a month" for resource, meter in METERED.items()},
    Resource.SPACE_ADDRESSES: "addresses in this space",
    Resource.SPACE_USERS: "messaging users in this space",
    Resource.SPACE_BROKERS: "brokers in this space",
    Resource.SPACE_ROUTER_CREDIT: "router credits (thousandths) in this space",
    Resource.SPACE_BROKER_CREDIT: "broker credits (thousandths) in this space",
    Resource.SPACE_AGGREGATE_CREDIT: "router and broker credits (thousandths) in this space",
    Resource.BROKER_BYTES: "bytes of stored messages on the broker that must hold it",
    Resource.BROKER_CREDIT: "credits (thousandths) on the broker that must hold it",
}


def quantity_words(resource: str, amount: int) -> str:
    """Return an amount of ``resource`` as a number that people read, without a unit: ``1,000``.

    Amounts of meters are base units, which this function divides by the meter's ``base_per_unit``:
    5,400,000 ms of connection time are ``1.5``. It rounds down to one decimal; less is ``<0.1``.
    """
    base = unit(resource)[1]
    if base == 1:
        return f"{amount:,}"
    whole, rest = divmod(amount * 10 // base, 10)
    if amount and not whole and not rest:
        return "<0.1"
    return f"{whole:,}.{rest}" if rest else f"{whole:,}"


def unit(resource: str) -> tuple[str, int]:
    """Return the unit of ``quantity_words`` and how many base units it has: ``("GiB", 2**30)``.

    A resource that is no meter has the unit "" of one base unit.
    """
    slug = METERED.get(resource)  # type: ignore[call-overload]
    return (BY_SLUG[slug].unit, BY_SLUG[slug].base_per_unit) if slug else ("", 1)


def words(resource: str) -> str:
    """Return the words for ``resource``, a ``Resource`` or SPEND, in sentences about its limit."""
    return "monthly spend cap" if resource == SPEND else WORDS[Resource(resource)]
