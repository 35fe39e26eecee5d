"""Create a space together with the address that takes its dead letters."""

from django.db import transaction

from controlplane.core.audit import Actor
from controlplane.core.errors import Denied, QuotaExceeded
from controlplane.core.models import Operation
from plans.catalog import publishing
from tenants import admission, dead_letters
from tenants.actions import address_spaces, addresses
from tenants.models import AddressSpace, AddressType, Tenant


class DeadLettersNotSold(Denied):
    """The tenant's plan has no address plan for dead letters in spaces of this type."""

    code = "dead_letters.not_included"


def create(
    *,
    tenant: Tenant,
    name: str,
    type: str,
    space_plan: str,
    by: Actor,
    with_dead_letters: bool | None = None,
) -> tuple[AddressSpace, Operation]:
    """Create a space, and in it the address ``dead-letters``, in one transaction.

    New queues and topics of the space use that address unless they name another target. The address
    ``dead-letters`` has the cheapest plan for dead letters that the tenant's plan includes.
    ``with_dead_letters``: False creates no such address; None creates it if the tenant's plan
    includes one.

    Returns the space and its operation to poll.

    Raises:
        DeadLettersNotSold: ``with_dead_letters`` is True and the tenant's plan includes none.
        QuotaExceeded: a limit would be exceeded, by the space or by the address.
        As ``address_spaces.create`` does.
    """
    with transaction.atomic():
        space, operation = address_spaces.create(
            tenant=tenant, name=name, type=type, space_plan=space_plan, by=by
        )
        if with_dead_letters is not False:
            plan = cheapest_plan(tenant, type)
            if plan:
                _create_target(space, plan, by)
            elif with_dead_letters:
                raise DeadLettersNotSold(
                    f"Your plan includes no address plan for dead letters in {type} spaces. Create "
                    "the space without them, or move to a larger plan."
                )
    return space, operation


def cheapest_plan(tenant: Tenant, space_type: str) -> str:
    """Return the key of the cheapest address plan for dead letters that the tenant may use.

    Empty if there is none for spaces of this type.

    Raises:
        NoPlan: the tenant has no open subscription.
    """
    allowed = admission.plan_of(tenant).address_plans
    # The catalog lists address plans by space type and price.
    found = (
        plan.key
        for plan in publishing.current().address_plans
        if plan.key in allowed
        and plan.space_type == space_type
        and plan.address_type == AddressType.DEADLETTER
    )
    return next(found, "")


def _create_target(space: AddressSpace, plan: str, by: Actor) -> None:
    try:
        addresses.create(
            space=space,
            address=dead_letters.DEFAULT_NAME,
            type=AddressType.DEADLETTER,
            address_plan=plan,
            by=by,
        )
    except QuotaExceeded as error:
        # The caller asked for a space: the message says where the address comes from.
        error.message += (
            f" A new space has the address {dead_letters.DEFAULT_NAME}: create the space without "
            "dead letters, or make space for one more address."
        )
        raise
