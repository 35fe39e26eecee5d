"""A change of a pod makes its space due at once, on a real API server that may restart."""

import contextlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from kubernetes import client, config
from kubernetes.client import ApiClient, ApiException

from controlplane.core import enqueue, leases
from tenants.models import AddressSpace
from tests.suites.kubernetes.test_rights import CONTROL, described
from tests.suites.kubernetes.test_rollouts import Site
from tests.support.kubernetes import chart
from tests.support.kubernetes.node import Node
from tests.support.kubernetes.server import build, cluster
from tests.support.reconcile import rows
from tests.support.waiting import eventually
from workers import pod_watcher
from workers.infra import names
from workers.infra.kubernetes import labels
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Images
from workers.infra.kubernetes.pod_changes import PodChanges
from workers.pod_watcher import SHORTEST_INTERVAL, PodWatcher
from workers.reconcile.outcome import Done

__all__ = ["described"]

# The watcher is a thread, so it has a database connection of its own.
pytestmark = pytest.mark.django_db(transaction=True)
LATER = timedelta(hours=1)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The spaces whose passes were enqueued."""
    spaces: list[str] = []
    monkeypatch.setattr(enqueue, "after_commit", lambda _task, space_id: spaces.append(space_id))
    monkeypatch.setattr(pod_watcher, "_RETRY_SECONDS", 0.05)
    return spaces


@contextmanager
def watching(api: ApiClient) -> Iterator[PodWatcher]:
    """Run a watcher that holds the lease."""
    watcher = PodWatcher(PodChanges(Api(api)), watch_seconds=1)
    watcher.start()
    try:
        yield watcher
    finally:
        watcher.stop()
        watcher.join(120)
        assert not watcher.is_alive()


def settled(space: AddressSpace) -> None:
    """Make the next pass due in an hour."""
    AddressSpace.objects.filter(id=space.id).update(next_attempt_at=timezone.now() + LATER)


def due_at(space: AddressSpace) -> datetime:
    space.refresh_from_db()
    assert space.next_attempt_at is not None
    return space.next_attempt_at


def is_due_soon(space: AddressSpace) -> bool:
    return due_at(space) <= timezone.now() + SHORTEST_INTERVAL


@pytest.fixture
def site(api: Api, wanted_cluster: Cluster, fake_node: Node, tmp_path: Path) -> Iterator[Site]:
    images = Images(broker="localhost/broker:1")
    made = Site(api, replace(wanted_cluster, images=images), tmp_path)
    assert isinstance(made.settle(), Done)
    settled(made.space)
    yield made
    fake_node.withheld.clear()
    fake_node.missing.clear()


@pytest.fixture
def bare(own_cluster: cluster.Cluster) -> ApiClient:
    """The administrator of the cluster without a node."""
    return client_of(own_cluster)


@pytest.fixture
def space(sent: list[str]) -> AddressSpace:
    made = rows.make_space(rows.make_tenant())
    settled(made)
    sent.clear()
    return made


class Pods:
    """The pod of a space's broker, made and changed without a node."""

    def __init__(self, admin: ApiClient, space: AddressSpace) -> None:
        self._core: Any = client.CoreV1Api(admin)
        self.namespace = names.namespace(space.tenant_id, space.id, space.name)
        self._space = space

    def make(self, namespace: str = "") -> str:
        """Make the pod of ``broker-0``, ready; return its boot."""
        place = namespace or self.namespace
        self._core.create_namespace({"metadata": {"name": place}})
        account = {"metadata": {"name": "default"}}
        with contextlib.suppress(ApiException):  # its controller may have made it already
            self._core.create_namespaced_service_account(place, account)
        carried = {**labels.OURS, labels.SPACE: self._space.id, labels.INSTANCE: "broker-0"}
        made = self._core.create_namespaced_pod(
            place,
            {
                "metadata": {"name": "broker-0-0", "labels": carried},
                "spec": {
                    "automountServiceAccountToken": False,
                    "containers": [{"name": "broker", "image": "broker"}],
                },
            },
        )
        self.report(ready=True, namespace=place)
        return f"{made.metadata.uid}-0"

    def report(self, *, ready: bool, restarts: int = 0, namespace: str = "", **state: Any) -> None:
        container = {
            "name": "broker",
            "image": "broker",
            "imageID": "",
            "ready": ready,
            "restartCount": restarts,
            "state": state,
        }
        status = {
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "containerStatuses": [container],
        }
        self._core.patch_namespaced_pod_status(
            "broker-0-0", namespace or self.namespace, {"status": status}
        )

    def delete(self) -> None:
        self._core.delete_namespaced_pod("broker-0-0", self.namespace, grace_period_seconds=0)


def client_of(running: cluster.Cluster) -> ApiClient:
    new_client: Any = config.new_client_from_config
    found: ApiClient = new_client(str(running.kubeconfig))
    return found


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[cluster.Cluster]:
    """An API server that a test may kill, with no node that changes pods."""
    with tempfile.TemporaryDirectory(prefix="wpk-") as folder:
        with cluster.running(Path(folder), build.ensure()) as running:
            yield running


def test_a_pod_that_ends_is_a_condition_of_its_space_at_once(
    site: Site, admin: ApiClient, fake_node: Node, sent: list[str]
) -> None:
    core: Any = client.CoreV1Api(admin)
    with watching(admin) as watcher:
        eventually(lambda: watcher._changes.find_boots().get(site.namespace))
        assert not is_due_soon(site.space)  # a worker that begins to watch makes nothing due
        assert sent == []
        fake_node.withheld.add("broker-1-0")
        core.delete_namespaced_pod("broker-1-0", site.namespace)

        eventually(lambda: is_due_soon(site.space))
    assert sent[:1] == [site.space.id]
    site.reconcile(0)
    assert site.ready["status"] == "False"
    assert site.space.phase != "Active"


def test_the_workers_account_may_watch(
    described: Cluster, admin: ApiClient, site: Site, sent: list[str]
) -> None:
    worker = chart.as_account(admin, CONTROL, described.worker_account)
    core: Any = client.CoreV1Api(admin)
    with watching(worker):
        core.delete_namespaced_pod("broker-0-0", site.namespace)
        eventually(lambda: is_due_soon(site.space))


STATES: dict[str, dict[str, Any]] = {
    "out of memory": {
        "restarts": 1,
        "terminated": {"exitCode": 137, "reason": "OOMKilled"},
    },
    "no image": {"waiting": {"reason": "ImagePullBackOff"}},
    "not ready": {"running": {}},
}


@pytest.mark.parametrize("what", STATES)
def test_each_trouble_of_a_pod_makes_its_space_due(
    what: str, bare: ApiClient, space: AddressSpace, sent: list[str]
) -> None:
    pods = Pods(bare, space)
    boot = pods.make()
    AddressSpace.objects.filter(id=space.id).update(known_boots={"broker-0": boot})
    with watching(bare) as watcher:
        eventually(lambda: watcher._changes.find_boots().get(pods.namespace))
        assert not is_due_soon(space)
        pods.report(ready=False, **STATES[what])
        eventually(lambda: is_due_soon(space))
    assert sent == [space.id]


def test_the_watch_survives_the_restart_of_the_api_server(
    own_cluster: cluster.Cluster, bare: ApiClient, space: AddressSpace, sent: list[str]
) -> None:
    other = rows.make_space(rows.make_tenant())
    settled(other)
    sent.clear()
    pods, others = Pods(bare, space), Pods(bare, other)
    for of, among in ((space, pods), (other, others)):
        AddressSpace.objects.filter(id=of.id).update(known_boots={"broker-0": among.make()})
        settled(of)
    with watching(bare) as watcher:
        eventually(lambda: len(watcher._changes.find_boots()) == 2)
        own_cluster.kill_api()
        own_cluster.start_api_again()
        pods.delete()
        eventually(lambda: is_due_soon(space))
    # The watch has ended: it writes when the space is due before it sends the task.
    assert sent == [space.id]
    assert not is_due_soon(other)


def test_what_changed_while_nobody_watched_is_found_by_the_next_listing(
    bare: ApiClient, space: AddressSpace, sent: list[str]
) -> None:
    pods = Pods(bare, space)
    AddressSpace.objects.filter(id=space.id).update(known_boots={"broker-0": pods.make()})
    pods.report(ready=True, restarts=1)  # killed, and back before anybody looked
    with watching(bare):
        eventually(lambda: is_due_soon(space))
    assert sent == [space.id]


def test_a_pod_that_only_looks_like_one_of_the_space_makes_nothing_due(
    bare: ApiClient, space: AddressSpace, sent: list[str]
) -> None:
    pods = Pods(bare, space)
    with watching(bare) as watcher:
        pods.make(namespace="somebody-else")
        eventually(lambda: watcher._changes.find_boots().get("somebody-else"))
    assert not is_due_soon(space)
    assert sent == []


def test_one_worker_watches_and_another_one_takes_over(
    bare: ApiClient, space: AddressSpace, sent: list[str]
) -> None:
    pods = Pods(bare, space)
    pods.make()
    assert leases.acquire(pod_watcher.LEASE, "another worker", 60)
    with watching(bare) as watcher:
        pods.report(ready=False)
        # What the watcher cannot see gives no state to wait for: it tries for the lease instead.
        eventually(lambda: watcher._attempts > 2)
        assert not is_due_soon(space)
        leases.release(pod_watcher.LEASE, "another worker")
        eventually(lambda: watcher._changes.find_boots() or watcher._changes._known)
        pods.report(ready=True)
        eventually(lambda: is_due_soon(space))
