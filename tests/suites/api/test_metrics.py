"""A tenant's own metrics, and the operators' gauges of brokers and routers."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from controlplane import engine_gauges, tenant_metrics
from plans.catalog import publishing
from plans.models import SpacePlan
from tenants.models import AddressReading, AddressSpace, SpaceReading
from tests.suites.api.conftest import Cast
from workers.models import MeteredSource


@pytest.fixture
def client(client: Client, settings: Settings) -> Client:
    """A client with the token of /metrics, which is closed without one."""
    settings.METRICS_TOKEN = "let-me-in"
    client.defaults["HTTP_AUTHORIZATION"] = "Bearer let-me-in"
    return client


@pytest.fixture
def space(cast: Cast, make_spaces: Callable[..., list[AddressSpace]]) -> AddressSpace:
    """A space with three addresses and one broker, which was sampled."""
    (row,) = make_spaces(cast.tenant, 1, addresses_each=3)
    now = timezone.now()
    SpaceReading.objects.create(space=row, answered={"broker-0": now.isoformat()})
    for address in row.addresses.all():
        parts = {"broker-0": {"depth": 7, "stored_bytes": 70, "consumers": 2, "dead_lettered": 3}}
        AddressReading.objects.create(address=address, parts=parts, messages_in=12, messages_out=5)
    MeteredSource.objects.create(
        source=f"{row.pk}/broker-0",
        boot_id="b",
        space_id=row.pk,
        tenant_id=row.tenant_id,
        sampled_at=now - timedelta(minutes=5),
        integrals={"connections": 4},
    )
    return row


@pytest.mark.django_db
def test_a_token_reads_the_metrics_of_its_tenant_only(cast: Cast, space: AddressSpace) -> None:
    address = space.addresses.order_by("address").first()
    assert address is not None
    text = cast.call("token").get(cast.path("/metrics")).content.decode()

    named = f'{{address="{address.address}",space="{space.name}"}}'
    assert f"waypost_address_depth{named} 7.0" in text
    assert f"waypost_address_messages_in_total{named} 12.0" in text
    assert f'waypost_space_connections{{space="{space.name}"}} 4.0' in text
    assert 'waypost_quota_used{resource="spaces"} 1.0' in text
    assert "waypost_addresses_left_out 0.0" in text
    statuses = {
        who: cast.call(who).get(cast.path("/metrics")).status_code
        for who in ("other_token", "outsider", "anonymous", "owner")
    }
    # A person is refused: a scraper must not hold a person's login.
    assert statuses == {"other_token": 404, "outsider": 404, "anonymous": 401, "owner": 403}


@pytest.mark.django_db
def test_a_tenants_metrics_are_bounded_and_say_so(
    cast: Cast,
    space: AddressSpace,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    monkeypatch.setattr(tenant_metrics, "MOST_ADDRESSES", 2)
    client, path = cast.call("token"), cast.path("/metrics")
    with django_assert_max_num_queries(21):
        text = client.get(path).content.decode()

    assert text.count("waypost_address_depth{") == 2
    assert "waypost_addresses_left_out 1.0" in text


@pytest.mark.django_db
def test_addresses_without_a_reading_take_no_place_of_others(
    cast: Cast,
    make_spaces: Callable[..., list[AddressSpace]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tenant_metrics, "MOST_ADDRESSES", 2)
    spaces = sorted(make_spaces(cast.tenant, 2, addresses_each=3), key=lambda space: space.name)
    for space in spaces:
        SpaceReading.objects.create(space=space, answered={"broker-0": timezone.now().isoformat()})
    # Of the first space one address has an empty reading, and the others have none.
    AddressReading.objects.create(address=spaces[0].addresses.all()[0], parts={})
    for address in spaces[1].addresses.all():
        AddressReading.objects.create(address=address, parts={"broker-0": {"depth": 7}})

    text = cast.call("token").get(cast.path("/metrics")).content.decode()

    assert text.count("waypost_address_depth{") == 2
    assert "waypost_addresses_left_out 4.0" in text


@pytest.mark.django_db
def test_operators_see_full_addresses_and_an_old_probe(client: Client, space: AddressSpace) -> None:
    name, now = "waypost_addresses_full", timezone.now()
    before = client.get("/metrics").content.decode()
    own, sold, _ = space.addresses.order_by("address")
    type(own).objects.filter(pk=own.pk).update(max_bytes=75)  # it stores 70
    limit = publishing.address_plan_definition(sold.address_plan).max_bytes or 0
    parts = {"broker-0": {"stored_bytes": 1}, "broker-1": {"stored_bytes": limit * 95 // 100}}
    AddressReading.objects.filter(address=sold).update(parts=parts)
    probed = AddressSpace.objects.filter(pk=space.pk)
    probed.update(phase="Active", probed_at=now - timedelta(hours=1))

    after = client.get("/metrics").content.decode()
    probed.update(phase="Configuring")  # other alerts tell of a space that is not Active
    later = client.get("/metrics").content.decode()

    assert f"{name}{{" not in before
    assert f'{name}{{plan="{space.space_plan.key}"}} 2.0' in after
    (age,) = re.findall(r"^waypost_oldest_probe_age_seconds (\S+)", after, re.M)
    assert 3600 <= float(age) < 3700
    assert "waypost_oldest_probe_age_seconds 3" not in later


def instance(space: AddressSpace, name: str, **health: float) -> None:
    """Store the newest sample of one more instance."""
    MeteredSource.objects.create(
        source=f"{space.pk}/{name}",
        boot_id="b",
        space_id=space.pk,
        tenant_id=space.tenant_id,
        sampled_at=timezone.now(),
        integrals={"connections": 0, "health": health},
    )


def series(text: str, name: str) -> dict[str, float]:
    """Return the values of a gauge by its label ``instance``; "" without labels."""
    found = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.M)
    named = {re.sub(r'.*instance="([^"]+)".*', r"\1", labels): value for labels, value in found}
    return {label: float(value) for label, value in named.items()}


@pytest.mark.django_db
def test_operators_see_the_fullest_brokers_and_count_all(
    client: Client, space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, used in enumerate((89, 95, 10, 90), start=1):
        instance(
            space,
            f"broker-{number}",
            memory_used=used,
            memory_limit=100,
            disk_used=used / 200,
            disk_limit=0.5,
        )
    instance(space, "broker-5")  # an older version of Waypost sampled it
    limited = {
        name: getattr(engine_gauges, name).replace("LIMIT 50", "LIMIT 2")
        for name in ("_FULLEST", "_LEAST_MESHED", "_BUSIEST")
    }
    assert engine_gauges.LARGEST == 50
    for name, query in limited.items():
        monkeypatch.setattr(engine_gauges, name, query)

    text = client.get("/metrics").content.decode()

    assert series(text, "waypost_broker_memory_used_bytes") == {"broker-2": 95, "broker-4": 90}
    assert series(text, "waypost_broker_memory_limit_bytes") == {"broker-2": 100, "broker-4": 100}
    assert series(text, "waypost_broker_disk_used_ratio") == {"broker-2": 0.475, "broker-4": 0.45}
    assert series(text, "waypost_brokers_memory_nearly_full") == {"": 2}
    assert series(text, "waypost_brokers_disk_nearly_full") == {"": 2}
    for named in re.findall(r"^waypost_(?:broker|router)_.*$", text, re.M):
        assert "address=" not in named


@pytest.mark.django_db
def test_operators_see_a_router_that_misses_another_one(
    client: Client, space: AddressSpace
) -> None:
    large = SpacePlan.objects.get(key="standard-large")
    AddressSpace.objects.filter(pk=space.pk).update(space_plan=large, type="standard")
    instance(space, "router-0", neighbors=1, links=9, undelivered=4)
    before = client.get("/metrics").content.decode()
    instance(space, "router-1", neighbors=0, links=3, undelivered=0)
    after = client.get("/metrics").content.decode()

    assert series(before, "waypost_routers_mesh_incomplete") == {"": 0}
    assert series(after, "waypost_routers_mesh_incomplete") == {"": 1}
    assert series(after, "waypost_router_neighbors") == {"router-0": 1, "router-1": 0}
    assert series(after, "waypost_router_neighbors_expected") == {"router-0": 1, "router-1": 1}
    assert series(after, "waypost_router_undelivered") == {"router-0": 4, "router-1": 0}
    assert series(after, "waypost_router_links") == {"router-0": 9, "router-1": 3}


@pytest.mark.django_db
def test_operators_see_spaces_whose_probe_fails(client: Client, space: AddressSpace) -> None:
    probed = timezone.now() - timedelta(minutes=10)
    AddressSpace.objects.filter(pk=space.pk).update(phase="Active", probed_at=probed)
    active = client.get("/metrics").content.decode()
    failed = [{"type": "Ready", "status": "False", "reason": "ProbeFailed"}]
    AddressSpace.objects.filter(pk=space.pk).update(phase="Configuring", conditions=failed)
    failing = client.get("/metrics").content.decode()

    (age,) = series(active, "waypost_probe_age_seconds").values()
    assert 600 <= age < 700
    assert series(active, "waypost_spaces_probe_failing") == {"": 0}
    assert series(failing, "waypost_spaces_probe_failing") == {"": 1}
    assert series(failing, "waypost_probe_age_seconds") == {}


@pytest.mark.django_db
def test_operators_see_a_silent_broker_and_the_depth_of_a_plan(
    client: Client, space: AddressSpace
) -> None:
    not_ready = [{"type": "Ready", "status": "False", "reason": "BrokerDown"}]
    AddressSpace.objects.filter(pk=space.pk).update(conditions=not_ready)

    text = client.get("/metrics").content.decode()

    assert 'waypost_instances{kind="broker"} 1.0' in text
    assert 'waypost_instances_late{kind="broker"} 1.0' in text
    assert 'waypost_connections{kind="broker"} 4.0' in text
    assert 'waypost_spaces_not_ready{reason="BrokerDown"} 1.0' in text
    assert f'waypost_stored_messages{{plan="{space.space_plan.key}"}} 21.0' in text
