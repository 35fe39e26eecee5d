"""How many addresses plans admit, exactly; and plans that come and go while a space lives."""

import pytest

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Invalid, QuotaExceeded
from plans.catalog import parsing, publishing
from plans.models import AddressPlan, SpacePlan
from tenants import admission
from tenants.actions import addresses, plan_subscriptions
from tenants.models import AddressSpace
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db

# Thousandths of a broker and a router for each type.
CREDITS = {"queue": (600, 0), "topic": (400, 200), "anycast": (0, 300)}
LIMITS = {"broker_credit": 2000, "router_credit": 1000, "aggregate_credit": 2000, "max_brokers": 2}


@pytest.fixture
def space(cast: Cast) -> AddressSpace:
    """A space with room for two brokers and one router, and plans that cost fractions of them."""
    made = domain.space(cast.tenant)
    plan = SpacePlan.objects.get(pk=made.space_plan_id)
    plan.definition |= LIMITS
    plan.save()
    for kind, (broker, router) in CREDITS.items():
        row = AddressPlan.objects.get(key=f"standard-small-{kind}")
        row.definition |= {"broker_credit": broker, "router_credit": router, "max_bytes": None}
        row.save()
    made.refresh_from_db()
    return made


@pytest.mark.parametrize(
    ("kinds", "resource"),
    [
        (["anycast"] * 3, "space.router_credit"),
        (["topic"] * 3, "space.aggregate_credit"),
        # Two brokers have 400 left each: less than one more queue needs, and no third may start.
        (["queue"] * 2, "space.brokers"),
        (["queue", "queue", "topic"], "space.aggregate_credit"),
    ],
)
def test_exactly_as_many_are_admitted_as_the_plan_holds(
    space: AddressSpace, kinds: list[str], resource: str
) -> None:
    for number, kind in enumerate(kinds):
        domain.address(space, f"{kind}-{number}", kind)
    held = admission.credit_use(space)

    with pytest.raises(QuotaExceeded) as refusal:
        domain.address(space, "one-more", kinds[-1])

    assert refusal.value.fields["resource"] == resource
    assert (admission.credit_use(space), space.addresses.count()) == (held, len(kinds))
    # Whatever goes makes room for the same again.
    leaves = space.addresses.get(address=f"{kinds[-1]}-{len(kinds) - 1}")
    leaves.placements.all().delete()
    domain.gone(leaves)
    domain.address(space, "one-more", kinds[-1])


def test_a_plan_comes_and_goes_and_stays_with_who_has_it(cast: Cast) -> None:
    """An unknown plan is refused; the space works on, and the plan works once it is there.

    A tenant gets what was published with the next version of its own plan.
    """
    space = domain.space(cast.tenant)
    with pytest.raises(Invalid):
        ask(space, "early", "standard-tiny-queue")

    publish(with_another("standard-small-queue", "standard-tiny-queue"))
    plan_subscriptions.change(tenant=cast.tenant, plan_key="team", by=SYSTEM)
    ask(space, "tiny", "standard-tiny-queue")

    publish(publishing.default_yaml())
    with pytest.raises(Invalid):
        ask(space, "late", "standard-tiny-queue")
    tiny = space.addresses.get(address="tiny")
    addresses.update(address=tiny, settings=AddressSettings(message_ttl_ms=5), by=SYSTEM)
    assert tiny.address_plan.key == "standard-tiny-queue"
    ask(space, "usual", "standard-small-queue")


def with_another(key: str, other: str) -> str:
    """Return the default catalog with a plan ``other`` wherever ``key`` is, and the same."""
    lines = []
    for line in publishing.default_yaml().splitlines():
        lines.append(line)
        if line.strip() == f"- {key}":
            lines.append(line.replace(key, other))
        elif "title: Standard small queue" in line:
            lines += [f"  {other}:", line.replace("small queue", "tiny queue")]
    return "\n".join(lines)


def publish(text: str) -> None:
    publishing.publish(parsing.parse(text), by=SYSTEM)


def ask(space: AddressSpace, name: str, plan: str) -> None:
    addresses.create(space=space, address=name, type="queue", address_plan=plan, by=SYSTEM)
