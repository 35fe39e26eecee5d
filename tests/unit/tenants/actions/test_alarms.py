"""Two requests at once, on two connections to PostgreSQL, never make the same alarm twice."""

from functools import partial

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import WaypostError
from tenants.actions import alarms
from tenants.actions.alarms import Limits
from tenants.models import Address
from tests.support import domain
from tests.support.notifications import notified
from tests.unit.tenants.test_admission_concurrent import race

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
WANTED = Limits(500)


@pytest.fixture
def orders(transactional_db: None) -> Address:
    return domain.address(domain.space(domain.cast().tenant, "brokered"), "orders")


@pytest.mark.parametrize("other", ["update", "create"])
def test_two_alarms_never_get_the_same_limits(
    orders: Address, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    first, second = notified.alarm(orders), notified.alarm(orders, threshold=200)
    actions = {
        "update": partial(alarms.update, alarm=second, limits=WANTED, by=SYSTEM),
        "create": partial(alarms.create, address=orders, metric="depth", limits=WANTED, by=SYSTEM),
    }

    results = race(
        monkeypatch,
        partial(alarms.update, alarm=first, limits=WANTED, by=SYSTEM),
        actions[other],
        meet="_refuse_same",
        where=alarms,
    )

    (refusal,) = [result for result in results if isinstance(result, WaypostError)]
    assert refusal.error_code == "alarm.exists"
