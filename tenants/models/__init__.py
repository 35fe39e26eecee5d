"""Models of tenants and of their desired and observed state.

Other code imports the names from this package, not from its modules.
"""

from tenants.models.address import Address, AddressType, Placement
from tenants.models.address_space import (
    AddressSpace,
    Broker,
    Endpoint,
    FormerSpacePlan,
    SpaceSecret,
    SpaceType,
)
from tenants.models.client_connection import (
    ClientConnection,
    Disconnection,
    InstanceConnections,
)
from tenants.models.identity_provider import (
    PROVIDER_ROLES,
    IdentityProvider,
    LoginDomain,
    TenantIdentity,
)
from tenants.models.kept_volumes import KeptVolumes
from tenants.models.message_request import MessageRequest, MessageRequestKind
from tenants.models.messaging_user import MessagingUser
from tenants.models.operator_records import SupportConsent, TenantNote
from tenants.models.readings import (
    AddressMinutes,
    AddressQuarters,
    AddressReading,
    SpaceReading,
)
from tenants.models.rollout import EngineRelease, MaintenanceWindow, Rollout
from tenants.models.tenant import (
    ApiToken,
    Invitation,
    Membership,
    Role,
    Tenant,
    UnpaidStage,
    User,
)

__all__ = [
    "PROVIDER_ROLES",
    "Address",
    "AddressMinutes",
    "AddressQuarters",
    "AddressReading",
    "AddressSpace",
    "AddressType",
    "ApiToken",
    "Broker",
    "ClientConnection",
    "Disconnection",
    "Endpoint",
    "EngineRelease",
    "FormerSpacePlan",
    "IdentityProvider",
    "InstanceConnections",
    "Invitation",
    "KeptVolumes",
    "LoginDomain",
    "MaintenanceWindow",
    "Membership",
    "MessageRequest",
    "MessageRequestKind",
    "MessagingUser",
    "Placement",
    "Role",
    "Rollout",
    "SpaceReading",
    "SpaceSecret",
    "SpaceType",
    "SupportConsent",
    "Tenant",
    "TenantIdentity",
    "TenantNote",
    "UnpaidStage",
    "User",
]
