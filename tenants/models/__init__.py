"""Models of tenants and of their desired and observed state. Import the names from this package."""

from tenants.models.address import Address, AddressType, Placement
from tenants.models.address_space import (
    AddressSpace,
    Broker,
    Endpoint,
    FormerSpacePlan,
    SpaceSecret,
    SpaceType,
)
from tenants.models.kept_volumes import KeptVolumes
from tenants.models.messaging_user import MessagingUser
from tenants.models.rollout import EngineRelease, MaintenanceWindow, Rollout
from tenants.models.tenant import ApiToken, Membership, Role, Tenant, User

__all__ = [
    "Address",
    "AddressSpace",
    "AddressType",
    "ApiToken",
    "Broker",
    "Endpoint",
    "EngineRelease",
    "FormerSpacePlan",
    "KeptVolumes",
    "MaintenanceWindow",
    "Membership",
    "MessagingUser",
    "Placement",
    "Role",
    "Rollout",
    "SpaceSecret",
    "SpaceType",
    "Tenant",
    "User",
]
