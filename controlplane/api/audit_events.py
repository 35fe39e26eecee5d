"""/tenants/{tenant}/audit-events: the audit log of a tenant, which says who did what to what."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.listing import Kind
from controlplane.api.views import TenantView
from tenants import queries, shown_actors
from tenants.permissions import Permission

# The id too, because several events can have the same time.
_LISTING = listing.Listing(
    sorts={"at": ("at", "id")},
    default="-at",
    filters=(
        listing.Filter(
            "actor", "Events of this actor, such as user:a@example.org.", ("shown_actor",)
        ),
        listing.Filter("action", "Events of this action, such as address.delete."),
        listing.Filter("subject_type", "Events about this type of subject, such as address."),
        listing.Filter("subject_id", "Events about the subject with this id."),
        listing.Filter("subject_name", "Events about subjects of this name."),
        listing.Filter("since", "Events at or after this instant.", ("at__gte",), (), Kind.INSTANT),
        listing.Filter("until", "Events before this instant.", ("at__lt",), (), Kind.INSTANT),
    ),
)


class AuditEventSerializer(serializers.Serializer[Any]):
    """One recorded change: who (`actor`) did what (`action`) to what (`subject_…`).

    `before` and `after` have the values that changed; secrets in them are masked. What the operator
    did has the actor `operator`; what an account did that is gone has `deleted-account`. Events of
    both, and of Waypost itself, have no `source_ip`, and most have no `reason`.
    """

    at = serializers.DateTimeField()
    actor = serializers.CharField()
    action = serializers.CharField()
    subject_type = serializers.CharField()
    subject_id = serializers.CharField()
    subject_name = serializers.CharField()
    before = serializers.DictField()
    after = serializers.DictField()
    reason = serializers.CharField(allow_blank=True)
    source_ip = serializers.CharField(allow_blank=True)


class AuditEventsView(TenantView):
    """Lists the audit events of a tenant (GET)."""

    needs = {"GET": Permission.VIEW_AUDIT}

    @schema.describe(
        "List audit events",
        response=schema.page_of(AuditEventSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the audit events of the tenant."""
        rows = queries.list_audit(self.tenant)
        actor = _LISTING.asked(request, "actor")
        # A stored actor may be an operator's email, which no tenant reads. So this adds the column
        # ``shown_actor``, and the filter compares with what is shown.
        if actor is not None:
            rows = shown_actors.acted_by(self.tenant, rows, actor)
        page = _LISTING.page(request, rows)
        # On the rows of the page alone; they are not saved.
        shown_actors.hide(self.tenant, page.rows)
        return Response(pagination.body(page, AuditEventSerializer))
