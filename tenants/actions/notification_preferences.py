"""Change who gets which events by mail, and the budget at which a tenant is warned.

Each action locks the row of the tenant, so that the API can compare an ETag and change in one step.
"""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid
from tenants import admission
from tenants.actions import tenants
from tenants.models import Membership, Tenant
from tenants.notifications.event_kinds import CHOOSABLE
from tenants.notifications.models import PersonPreference, SpendBudget, TenantPreference
from tenants.notifications.preferences import may_get

# Kind -> by mail; None: no choice of one's own.
Choices = Mapping[str, bool | None]


def set_own(*, membership: Membership, choices: Choices) -> None:
    """Store what a member gets by mail. Kinds that ``choices`` does not name stay as they are.

    Raises:
        Invalid: there is no such kind, nobody can turn it off, or the member may not get it.
    """
    _check(choices, {kind.key for kind in CHOOSABLE if may_get(membership.role, kind)})
    with transaction.atomic():
        admission.locked_tenant(membership.tenant)
        for kind, by_mail in choices.items():
            key: dict[str, Any] = {
                "tenant": membership.tenant,
                "user": membership.user,
                "kind": kind,
            }
            if by_mail is None:
                PersonPreference.objects.filter(**key).delete()
            else:
                PersonPreference.objects.update_or_create(**key, defaults={"by_mail": by_mail})


def set_defaults(*, tenant: Tenant, choices: Choices, by: Actor) -> None:
    """Store what those members get by mail who have chosen nothing themselves; audit the change.

    Raises:
        Invalid: there is no such kind, or nobody can turn it off.
    """
    _check(choices, {kind.key for kind in CHOOSABLE})
    with transaction.atomic():
        admission.locked_tenant(tenant)
        for kind, by_mail in choices.items():
            rows = TenantPreference.objects.filter(tenant=tenant, kind=kind)
            if by_mail is None:
                rows.delete()
            else:
                TenantPreference.objects.update_or_create(
                    tenant=tenant, kind=kind, defaults={"by_mail": by_mail}
                )
        audit.record(by, "notifications.defaults", tenants.subject(tenant), after=dict(choices))


def set_budget(*, tenant: Tenant, amount_minor: int | None, by: Actor) -> None:
    """Store the monthly budget in minor units; None removes it. It warns and stops nothing.

    Raises:
        Invalid: the amount is not positive, or is too large.
    """
    if amount_minor is not None and not 1 <= amount_minor < 10**12:
        reason = "A positive amount in minor units."
        raise Invalid(reason, code="budget.invalid", budget_minor=[reason])
    with transaction.atomic():
        admission.locked_tenant(tenant)
        if amount_minor is None:
            SpendBudget.objects.filter(tenant=tenant).delete()
        else:
            SpendBudget.objects.update_or_create(
                tenant=tenant, defaults={"amount_minor": amount_minor}
            )
        after = {"amount_minor": amount_minor}
        audit.record(by, "notifications.budget", tenants.subject(tenant), after=after)


def set_defaults_and_budget(
    *, tenant: Tenant, choices: Choices, amount_minor: int | None, by: Actor
) -> None:
    """Store both, as ``set_defaults`` and ``set_budget`` do, or neither.

    Raises:
        Invalid: as for ``set_defaults`` and ``set_budget``.
    """
    with transaction.atomic():
        set_defaults(tenant=tenant, choices=choices, by=by)
        set_budget(tenant=tenant, amount_minor=amount_minor, by=by)


def _check(choices: Choices, possible: set[str]) -> None:
    fixed = {kind.key for kind in CHOOSABLE if kind.is_required}
    for kind in choices:
        if kind in fixed:
            reason = "Nobody can turn this kind off."
        elif kind not in possible:
            reason = "There is no such kind, or your role may not get it."
        else:
            continue
        raise Invalid(f"{kind[:60]}: {reason}", code="preference.invalid", choices=[reason])
