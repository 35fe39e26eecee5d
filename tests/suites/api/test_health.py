"""/healthz, /readyz and /metrics."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from redis import Redis

from controlplane import gauges
from tenants.models import AddressSpace, Tenant
from workers.metering import sampling


class AwayRedis:
    def ping(self) -> bool:
        raise ConnectionError

    def close(self) -> None:
        pass


class PresentRedis(AwayRedis):
    def ping(self) -> bool:
        return True


SetQueue = Callable[[type], None]


@pytest.fixture
def client(client: Client, settings: Settings) -> Client:
    """A client with the token of /metrics, which is closed without one."""
    settings.METRICS_TOKEN = "let-me-in"
    client.defaults["HTTP_AUTHORIZATION"] = "Bearer let-me-in"
    return client


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> SetQueue:
    """Say whether the queue answers."""

    def set_queue(kind: type) -> None:
        monkeypatch.setattr(Redis, "from_url", lambda *args, **kwargs: kind())

    set_queue(PresentRedis)
    return set_queue


def fail(*args: object, **kwargs: object) -> None:
    raise OperationalError("away")


def test_healthz_touches_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "cursor", fail)

    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.django_db
def test_readyz_is_ready_with_database_and_queue(client: Client, queue: SetQueue) -> None:
    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "database": "ok", "queue": "ok"}


@pytest.mark.django_db
def test_readyz_without_queue_is_degraded_but_serves(client: Client, queue: SetQueue) -> None:
    queue(AwayRedis)

    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json() == {"status": "degraded", "database": "ok", "queue": "away"}


@pytest.mark.django_db
def test_readyz_without_database_is_503(
    client: Client, queue: SetQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "cursor", fail)

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["database"] == "away"


@pytest.mark.django_db
def test_metrics_tell_phases_and_names_nobody(
    client: Client, tenant: Tenant, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    make_spaces(tenant, 3)

    text = client.get("/metrics").content.decode()

    assert 'waypost_spaces{phase="Pending",type="brokered"} 3.0' in text
    assert "waypost_tenants 2.0" in text
    assert tenant.slug not in text


@pytest.mark.django_db
def test_metrics_tell_how_long_the_oldest_change_has_waited(
    client: Client, tenant: Tenant, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    rows = AddressSpace.objects
    real, changed, deleted, fresh = (space.pk for space in make_spaces(tenant, 4))
    now, hour = timezone.now(), timedelta(hours=1)
    rows.filter(pk=real).update(observed_generation=1, updated_at=now - 9 * hour)
    rows.filter(pk=changed).update(updated_at=now - hour)
    rows.filter(pk=deleted).update(
        updated_at=now - 8 * hour, deletion_requested_at=now, deleted_at=now
    )

    waiting = gauge(client, "waypost_space_oldest_unreconciled_seconds")
    rows.filter(pk__in=[changed, fresh]).update(observed_generation=1)
    settled = gauge(client, "waypost_space_oldest_unreconciled_seconds")

    assert 3600 <= waiting < 3700
    assert settled == 0


@pytest.mark.django_db
def test_metrics_count_the_spaces_that_are_sampled(
    client: Client, tenant: Tenant, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    rows, (serving, down, going, _new) = AddressSpace.objects, make_spaces(tenant, 4)
    now = timezone.now()
    rows.filter(pk=serving.pk).update(active_since=now)
    no = [{"type": "Ready", "status": "False"}]
    rows.filter(pk=down.pk).update(active_since=now, conditions=no)
    rows.filter(pk=going.pk).update(active_since=now, deletion_requested_at=now)

    assert gauge(client, "waypost_spaces_sampled") == 2
    assert {space.pk for space in sampling.list_spaces()} == {serving.pk, down.pk}


def gauge(client: Client, name: str) -> float:
    """Return the value of the gauge without labels that /metrics shows."""
    lines = client.get("/metrics").content.decode().splitlines()
    (value,) = [line.split()[1] for line in lines if line.split()[0] == name]
    return float(value)


@pytest.mark.django_db
def test_metrics_stay_bounded(
    client: Client,
    tenant: Tenant,
    make_spaces: Callable[..., list[AddressSpace]],
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    monkeypatch.setattr(gauges, "LARGEST", 2)
    with CaptureQueriesContext(connection) as of_none:
        client.get("/metrics")
    make_spaces(tenant, 5, addresses_each=1)

    with django_assert_num_queries(len(of_none)):
        text = client.get("/metrics").content.decode()

    assert text.count("waypost_space_addresses{") == 2


@pytest.mark.django_db
def test_metrics_ask_for_their_token(client: Client, settings: Settings) -> None:
    without = Client().get("/metrics")
    wrong = client.get("/metrics", headers={"Authorization": "Bearer nonsense"})
    right = client.get("/metrics")
    settings.METRICS_TOKEN = ""
    closed = client.get("/metrics", headers={"Authorization": "Bearer "})

    assert (without.status_code, wrong.status_code, right.status_code) == (401, 401, 200)
    assert closed.status_code == 403


def test_metrics_without_database_are_503(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "cursor", fail)
    monkeypatch.setattr(connection, "ensure_connection", fail)

    assert client.get("/metrics").status_code == 503
