"""The estimate of a broker's file is never below the file, and a full one is refused."""

from datetime import UTC, datetime
from typing import Any

import pytest

from controlplane.core.address_types import BY_SLUG, AddressSettings
from controlplane.core.audit import SYSTEM
from plans.catalog import sold_sizes
from tenants import configuration_size
from tenants.actions import addresses, messaging_users
from tenants.configuration_size import ConfigurationFull
from tests.support import domain
from workers.messaging.brokers import broker_xml, permissions, render
from workers.messaging.brokers.desired import (
    BrokerAddressKind,
    DesiredAddress,
    DesiredBroker,
    DesiredUser,
    EngineLayout,
    Permission,
)
from workers.messaging.certificates import KeyPair

_EVERY_SETTING = AddressSettings(
    max_bytes=10**15, message_ttl_ms=10**11, max_delivery_attempts=10**6, redelivery_delay_ms=10**11
)
KINDS = {
    "queue": BrokerAddressKind.QUEUE,
    "topic": BrokerAddressKind.TOPIC,
    "deadletter": BrokerAddressKind.QUEUE,
}
GRANTS: list[dict[str, Any]] = [{"addresses": ["a/*", "b&/#"], "operations": ["send", "recv"]}]


def rendered(names: list[tuple[str, str]], users: list[str]) -> int:
    """Return how many bytes the addresses and users add to the file."""
    granted = [Permission(entry["addresses"], entry["operations"]) for entry in GRANTS]

    def size(names: list[tuple[str, str]], users: list[str]) -> int:
        broker = DesiredBroker(
            public=True,
            addresses=[
                DesiredAddress(
                    name, KINDS[kind], _EVERY_SETTING, read_only=BY_SLUG[kind].is_read_only
                )
                for name, kind in names
            ],
            users=[DesiredUser(user, {}, granted, datetime.now(UTC)) for user in users],
            send_withdrawn=False,
            server=KeyPair("", ""),
            authority_pem="",
        )
        xml = broker_xml.render(broker, EngineLayout("/etc", "/data", "h", 1, 2))
        roles = {role: ",".join(users) for role, users in permissions.readers(broker.users).items()}
        return len((xml + render.properties(roles)).encode())

    return size(names, users) - size([], [])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_users", [0, 1, 30])
def test_the_estimate_covers_the_file(kind: str, n_users: int) -> None:
    names = [(f"{prefix}/{n}{'x' * n}", kind) for n in range(40) for prefix in ("a", "b&", "c")]
    users = [f"user-{n}" for n in range(n_users)]

    real = rendered(names, users)
    found = configuration_size.estimate(names, [(user, GRANTS) for user in users])

    assert real <= found <= real * 1.3


def test_the_estimate_covers_patterns_that_filters_are_compared_with() -> None:
    """Also where no two users share one and no address has a role."""
    wide = [f"ä-{n} €/*/{'𝄞' * n}/#" for n in range(20)]
    users = [DesiredUser("u", {}, [Permission(wide, ["recv"])], datetime.now(UTC))]
    roles = {role: ",".join(names) for role, names in permissions.readers(users).items()}

    real = len(render.properties(roles))
    found = configuration_size.estimate([], [("u", [{"addresses": wide, "operations": ["recv"]}])])

    assert len(roles) == len(wide)
    assert real <= found


@pytest.mark.django_db
def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    space = domain.space(domain.cast("business").tenant, "brokered", "small")
    domain.address(space, "orders")
    monkeypatch.setattr(configuration_size, "OBJECT_BYTES", 2_100)

    with pytest.raises(ConfigurationFull, match=r"about 3,9\d\d bytes"):
        addresses.create(
            space=space,
            address="more",
            type="queue",
            address_plan="brokered-small-queue",
            by=SYSTEM,
        )
    monkeypatch.setattr(configuration_size, "OBJECT_BYTES", 1_980)
    everything = [{"addresses": ["#"], "operations": ["recv"]}]
    with pytest.raises(ConfigurationFull):
        messaging_users.create(
            space=space, name="alice", password="long enough", permissions=everything, by=SYSTEM
        )
    assert list(space.addresses.values_list("address", flat=True)) == ["orders"]
    assert sold_sizes.OBJECT_BYTES < 2**20


@pytest.mark.django_db
def test_a_space_that_is_too_large_already_may_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    space = domain.space(domain.cast("business").tenant, "brokered", "small")
    domain.address(space, "orders")
    domain.address(space, "bills")
    wide = [{"addresses": ["#"], "operations": ["recv"]}]
    user, _ = messaging_users.create(
        space=space, name="alice", password="long enough", permissions=wide, by=SYSTEM
    )
    monkeypatch.setattr(configuration_size, "OBJECT_BYTES", 2_100)

    narrow = [{"addresses": ["orders"], "operations": ["recv"]}]
    user, _ = messaging_users.update(user=user, permissions=narrow, by=SYSTEM)

    assert user.permissions == narrow
    with pytest.raises(ConfigurationFull):
        messaging_users.update(user=user, permissions=wide, by=SYSTEM)
