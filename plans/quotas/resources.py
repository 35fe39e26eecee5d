"""Names the resources that quotas limit. Plans, overrides, errors and pages use these names."""

from enum import StrEnum


class Resource(StrEnum):
    """A resource with a limit; the value is its stable slug.

    A slug without a dot has a limit per tenant, ``space.*`` per space, ``broker.*`` per broker.
    """

    SPACES = "spaces"
    ADDRESSES = "addresses"
    USERS = "users"  # messaging users
    BROKERS = "brokers"
    MEMBERS = "members"
    API_TOKENS = "api_tokens"
    MESSAGES_PER_MONTH = "messages_per_month"  # in plus out
    SPACE_ADDRESSES = "space.addresses"
    SPACE_USERS = "space.users"
    SPACE_BROKERS = "space.brokers"
    SPACE_ROUTER_CREDIT = "space.router_credit"  # thousandths of a router
    SPACE_BROKER_CREDIT = "space.broker_credit"  # thousandths of a broker
    SPACE_AGGREGATE_CREDIT = "space.aggregate_credit"  # thousandths, both together
    BROKER_BYTES = "broker.bytes"  # that the addresses on one broker may store together
    BROKER_CREDIT = "broker.credit"  # thousandths of the one broker an address must sit on


# Resource -> the meter that counts it over a billing month. All other resources are counted rows or
# credits. Portal, API and alerts iterate this mapping.
METERED = {Resource.MESSAGES_PER_MONTH: "messages"}
TENANT_RESOURCES = tuple(resource for resource in Resource if "." not in resource.value)

WORDS = {
    Resource.SPACES: "address spaces",
    Resource.ADDRESSES: "addresses in all spaces together",
    Resource.USERS: "messaging users in all spaces together",
    Resource.BROKERS: "brokers in all spaces together",
    Resource.MEMBERS: "members",
    Resource.API_TOKENS: "API tokens",
    Resource.MESSAGES_PER_MONTH: "messages a month",
    Resource.SPACE_ADDRESSES: "addresses in this space",
    Resource.SPACE_USERS: "messaging users in this space",
    Resource.SPACE_BROKERS: "brokers in this space",
    Resource.SPACE_ROUTER_CREDIT: "router credits (thousandths) in this space",
    Resource.SPACE_BROKER_CREDIT: "broker credits (thousandths) in this space",
    Resource.SPACE_AGGREGATE_CREDIT: "router and broker credits (thousandths) in this space",
    Resource.BROKER_BYTES: "bytes of stored messages on the broker that must hold it",
    Resource.BROKER_CREDIT: "credits (thousandths) on the broker that must hold it",
}
