"""/tenants/{tenant}/notification-preferences: who gets which events by mail, and the budget."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, pagination, schema
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import TenantView, person
from tenants import admission, queries
from tenants.actions import notification_preferences
from tenants.models import Membership
from tenants.notifications import preferences
from tenants.notifications.models import SpendBudget
from tenants.permissions import Permission

_CHOICES_HELP = "By kind: true, false, or null to have no choice of one's own."


class ChoiceSerializer(serializers.Serializer[Any]):
    """What a member gets of one kind: `by_mail` results from `own`, `default` and the role."""

    kind = serializers.CharField(source="kind.key")
    by_mail = serializers.BooleanField()
    own = serializers.BooleanField(source="person", allow_null=True)
    default = serializers.BooleanField(allow_null=True)
    is_fixed = serializers.BooleanField()


# One object: each call of ``page_of`` makes another schema.
_PAGE = schema.page_of(ChoiceSerializer)


class ChoicesChangeSerializer(StrictSerializer):
    """Choices to change; kinds that are not named stay as they are."""

    choices = serializers.DictField(
        child=serializers.BooleanField(allow_null=True), help_text=_CHOICES_HELP
    )


class DefaultsSerializer(serializers.Serializer[Any]):
    """The tenant's own defaults by kind, and its monthly budget in minor units (null: none)."""

    choices = serializers.DictField(child=serializers.BooleanField())
    budget_minor = serializers.IntegerField(allow_null=True)
    currency = serializers.CharField(allow_blank=True, help_text="Of the budget; empty: no plan.")


class DefaultsChangeSerializer(StrictSerializer):
    """Defaults to change; absent fields and kinds stay as they are."""

    choices = serializers.DictField(
        child=serializers.BooleanField(allow_null=True), required=False, help_text=_CHOICES_HELP
    )
    budget_minor = serializers.IntegerField(required=False, allow_null=True)


class OwnPreferencesView(TenantView):
    """Shows and changes what the caller, a person, gets by mail (GET, PATCH)."""

    needs = {"GET": Permission.VIEW, "PATCH": Permission.VIEW}

    @schema.describe("Get my notification preferences", response=_PAGE)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the caller's own choices, for each kind that the caller's role may get.

        All are on one page. A tenant's token is refused (403).
        """
        return etags.tagged(_choices(self._membership(request)))

    @schema.describe(
        "Change my notification preferences",
        request=ChoicesChangeSerializer,
        response=_PAGE,
        parameters=[schema.MUST_MATCH],
    )
    def patch(self, request: Request, tenant: str) -> Response:
        """Change the caller's own choices."""
        serializer = ChoicesChangeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        membership = self._membership(request)
        etags.change(
            request,
            self.tenant,
            lambda: _choices(membership),
            lambda: notification_preferences.set_own(
                membership=membership, choices=serializer.validated_data["choices"]
            ),
        )
        return etags.tagged(_choices(membership))

    def _membership(self, request: Request) -> Membership:
        # A token gets no mails, so ``person`` refuses it.
        return queries.membership(person(request), self.tenant.slug)


class DefaultPreferencesView(TenantView):
    """Shows and changes the tenant's defaults and budget (GET, PATCH)."""

    needs = {
        "GET": Permission.MANAGE_NOTIFICATIONS,
        "PATCH": Permission.MANAGE_NOTIFICATIONS,
    }

    @schema.describe("Get notification defaults", response=DefaultsSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the kinds for which the tenant has a default of its own, and its budget."""
        return etags.tagged(self._shown())

    @schema.describe(
        "Change notification defaults",
        request=DefaultsChangeSerializer,
        response=DefaultsSerializer,
        parameters=[schema.MUST_MATCH],
    )
    def patch(self, request: Request, tenant: str) -> Response:
        """Change the defaults of members who chose nothing themselves, or the budget."""
        serializer = DefaultsChangeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data

        # Both in the transaction of ``etags.change``: a refused budget keeps the defaults too.
        def change() -> None:
            if "choices" in values:
                notification_preferences.set_defaults(
                    tenant=self.tenant, choices=values["choices"], by=self.actor
                )
            if "budget_minor" in values:
                notification_preferences.set_budget(
                    tenant=self.tenant, amount_minor=values["budget_minor"], by=self.actor
                )

        etags.change(request, self.tenant, self._shown, change)
        return etags.tagged(self._shown())

    def _shown(self) -> Any:
        budget = SpendBudget.objects.filter(tenant=self.tenant).first()
        plan = admission.open_plan(self.tenant)
        body = {
            "choices": preferences.of_tenant(self.tenant),
            "budget_minor": budget.amount_minor if budget else None,
            "currency": plan.currency if plan else "",
        }
        return DefaultsSerializer(body).data


def _choices(membership: Membership) -> Any:
    chosen: Any = ChoiceSerializer(preferences.choices(membership), many=True).data
    return pagination.whole(chosen)
