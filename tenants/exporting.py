"""Settings, people, spaces and audit log of a tenant, as one JSON document for its owner.

The document has no secrets, messages, usage or invoices. Of spaces, addresses, users and tokens it
has those that are not deleted or revoked. This module only reads.
"""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from controlplane.core import address_types
from controlplane.core.models import AuditEvent
from plans.models import PlanSubscription, SpendCap
from tenants import queries, shown_actors
from tenants.models import (
    Address,
    IdentityProvider,
    MaintenanceWindow,
    MessagingUser,
    SupportConsent,
    Tenant,
)
from tenants.notifications import reads
from tenants.notifications.models import PersonPreference, SpendBudget, TenantPreference

_ORGANIZATION = (
    "name", "slug", "created_at", "billing_name", "billing_email", "billing_address",
    "billing_country", "tax_id", "billing_time_zone",
)  # fmt: skip
_TOKEN = (
    "name",
    "role",
    "prefix",
    "spaces",
    "permissions",
    "created_by",
    "created_at",
    "expires_at",
)
_PROVIDER = ("issuer", "client_id", "groups_claim", "group_roles", "default_role")
_PLAN = ("plan__key", "starts_at", "ends_at")
_CONSENT = ("role", "given_by", "created_at", "expires_at", "revoked_at")
_WINDOW = ("weekday", "starts_at", "minutes")
# ``label`` is the part of the target that is no secret.
_CHANNEL = ("name", "kind", "label", "kinds", "created_at", "disabled_at", "disabled_reason")
_SPACE = ("name", "type", "space_plan__key", "labels", "created_at")
_ADDRESS = (
    "space__name", "address", "type", "address_plan__key", "topic__address", "labels", "created_at",
    *(setting.name for setting in address_types.SETTINGS if not setting.is_relation),
)  # fmt: skip
_USER = ("space__name", "name", "permissions", "created_at")
_ALARM = (
    "space__name", "address__address", "metric", "threshold", "clear_below", "for_seconds",
    "created_at",
)  # fmt: skip
_AUDIT = (
    "at", "actor", "action", "subject_type", "subject_id", "subject_name", "before", "after",
    "reason", "source_ip",
)  # fmt: skip


def document(tenant: Tenant) -> dict[str, Any]:
    """Return the document; ``DjangoJSONEncoder`` writes its values."""
    events = AuditEvent.objects.filter(tenant_id=tenant.pk).order_by("id")
    here: dict[str, Any] = {"space__tenant": tenant, "deleted_at__isnull": True}
    return {
        "organization": {name: getattr(tenant, name) for name in _ORGANIZATION},
        "members": _rows(queries.list_members(tenant), ("user__email", "role", "created_at")),
        "invitations": _rows(queries.list_invitations(tenant), ("email", "role", "expires_at")),
        "tokens": _rows(queries.list_tokens(tenant), _TOKEN),
        "spaces": _rows(queries.list_spaces(tenant), _SPACE),
        "addresses": _rows(Address.objects.filter(**here).order_by("id"), _ADDRESS),
        "messaging_users": _rows(MessagingUser.objects.filter(**here).order_by("id"), _USER),
        "alarms": _rows(reads.list_tenant_alarms(tenant), _ALARM),
        "plans": _rows(_of(PlanSubscription, tenant, "starts_at"), _PLAN),
        "maintenance_windows": _rows(_of(MaintenanceWindow, tenant, "id"), _WINDOW),
        "notification_channels": _rows(reads.list_channels(tenant), _CHANNEL),
        "notification_defaults": _rows(_of(TenantPreference, tenant, "kind"), ("kind", "by_mail")),
        "notification_choices": _rows(
            _of(PersonPreference, tenant, "id"), ("user__email", "kind", "by_mail")
        ),
        "spend_cap": _rows(_of(SpendCap, tenant, "id"), ("amount_minor", "currency", "action")),
        "spend_budget": _rows(_of(SpendBudget, tenant, "id"), ("amount_minor",)),
        "support_consents": _rows(_of(SupportConsent, tenant, "id"), _CONSENT),
        "identity_provider": _rows(_of(IdentityProvider, tenant, "id"), _PROVIDER),
        "audit": [
            {name: getattr(event, name) for name in _AUDIT}
            for event in shown_actors.hide(tenant, events)
        ],
    }


def _of(model: type[Any], tenant: Tenant, order: str) -> QuerySet[Any, Any]:
    rows: QuerySet[Any, Any] = model._default_manager.filter(tenant=tenant)
    return rows.order_by(order)


def _rows(rows: QuerySet[Any, Any], names: Iterable[str]) -> list[dict[str, Any]]:
    # ``space__name`` reads as ``space`` in the document.
    return [
        {name.partition("__")[0]: value for name, value in row.items()}
        for row in rows.values(*names)
    ]
