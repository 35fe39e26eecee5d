"""The erasure of closed tenants: it waits for the last invoice, and leaves no message."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from plans.invoicing import invoice_closing, issuing, open_periods
from plans.models import Invoice, PlanSubscription
from tenants.actions import address_spaces, closures
from tenants.models import AddressSpace, KeptVolumes, Membership, Role, Tenant
from tenants.notifications.models import Channel
from tests.support import domain
from tests.support.domain import Cast
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF, STARTS_AT
from workers import tasks

pytestmark = pytest.mark.django_db
CLOSED_AT = STARTS_AT + timedelta(days=20)


def erase(now: Any = AFTER_GRACE) -> int:
    return closures.erase_due(now, is_settled=open_periods.is_settled)


def due(tenant: Tenant) -> Tenant:
    """Return the tenant as its owner closed it long ago."""
    Tenant.objects.filter(pk=tenant.pk).update(erase_at=CLOSED_AT)
    tenant.refresh_from_db()
    return tenant


def test_people_stay_until_the_last_usage_is_in_an_issued_invoice() -> None:
    owner = due(rows.tenant())
    space = rows.space(owner)
    cells = rows.used(rows.cell(space, "messages_in", 5_000_000))
    AddressSpace.objects.update(deletion_requested_at=CLOSED_AT, deleted_at=CLOSED_AT)
    person = domain.person("olga@example.test")
    Membership.objects.create(tenant=owner, user=person, role=Role.OWNER)
    Channel.objects.create(tenant=owner, name="ops", kind="chat")

    def left() -> tuple[int, bool, bool]:
        n_erased = erase()
        has_people = Membership.objects.filter(tenant=owner).exists()
        return n_erased, has_people, Channel.objects.filter(tenant=owner).exists()

    unbilled = closures.erase_due(CLOSED_AT, is_settled=open_periods.is_settled), *left()[1:]
    open_plans = PlanSubscription.objects.filter(tenant=owner, ends_at__isnull=True).exists()
    (invoice,) = rows.requested(AFTER_GRACE)
    closing = left()
    drafted = invoice_closing.close(invoice=invoice, evidence=rows.evidence(cells), by=STAFF)
    draft = left()
    issued = issuing.issue(invoice=issuing.approve(invoice=drafted, by=STAFF), by=STAFF)

    assert not open_plans
    assert [unbilled, closing, draft] == [(0, True, True)] * 3
    assert issued.total_minor > 0
    assert [left(), left()] == [(1, False, False), (0, False, False)]
    assert rows.requested(AFTER_GRACE + timedelta(days=99)) == []


def test_the_task_waits_for_invoices_too(cast: Cast) -> None:
    billed, never_billed = due(cast.tenant), due(cast.other)
    PlanSubscription.objects.filter(tenant=never_billed).delete()

    tasks.erase_tenants()

    erased = Tenant.objects.filter(erased_at__isnull=False)
    assert list(erased) == [never_billed]
    assert Membership.objects.filter(tenant=billed).exists()
    assert not Invoice.objects.exists()


def test_kept_volumes_of_spaces_deleted_before_are_released(cast: Cast) -> None:
    for tenant in (cast.tenant, cast.other):
        space = domain.space(tenant)
        address_spaces.delete(space=space, by=cast.by, keep_volumes=True)
        domain.gone(space)
    domain.space(due(cast.tenant))  # not deleted yet: the rest of the erasure waits

    erase(timezone.now())

    released = KeptVolumes.objects.filter(released_at__isnull=False)
    assert [kept.space.tenant for kept in released] == [cast.tenant]


def test_volumes_that_are_kept_while_a_space_is_deleted_are_released_after_it(cast: Cast) -> None:
    space = domain.space(due(cast.tenant))
    address_spaces.delete(space=space, by=cast.by, keep_volumes=True)

    erase(timezone.now())
    early = KeptVolumes.objects.get().released_at
    domain.gone(space)
    erase(timezone.now())

    assert early is None
    assert KeptVolumes.objects.get().released_at is not None


def test_one_faulty_tenant_does_not_stop_the_erasure_of_others(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenants = sorted((due(cast.tenant), due(cast.other)), key=lambda tenant: tenant.pk)
    spaces = [domain.space(tenant) for tenant in tenants]
    real: Callable[..., Any] = address_spaces.delete

    def refuse_the_first(*, space: AddressSpace, **more: Any) -> Any:
        if space == spaces[0]:
            raise ValueError("a faulty row")
        return real(space=space, **more)

    monkeypatch.setattr(address_spaces, "delete", refuse_the_first)
    erase(timezone.now())

    asked = AddressSpace.objects.filter(deletion_requested_at__isnull=False)
    assert list(asked) == spaces[1:]
