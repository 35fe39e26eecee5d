"""The scheduled backup on a real API server: its pod is admitted, its rights are enough."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiClient

from tests.support.kubernetes import chart, foreign_kinds, look
from tests.support.waiting import eventually
from workers.infra.backup_port import VolumeId
from workers.infra.base import InfraError
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.volume_snapshots import VOLUME_SNAPSHOT, VolumeSnapshots

NAMESPACE, RELEASE = "waypost-backups", "backed"
SPACE = "wp-orders-0123456789ab"
VALUES = "backup.enabled=true,backup.lakehouse=snapshot,backup.brokers=true"
OLD, NEW = "20261123t021500z", "20261124t021500z"
LAKEHOUSE = VolumeId(NAMESPACE, f"{RELEASE}-lakehouse")


@pytest.fixture(scope="module")
def account(kubeconfig: Path, admin: ApiClient) -> Iterator[ApiClient]:
    """The account of the backup's pod, of an installed chart."""
    chart.make_namespace(admin, NAMESPACE)
    chart.make_namespace(admin, SPACE)
    foreign_kinds.make(admin)
    chart.install(kubeconfig, RELEASE, NAMESPACE, "--set", VALUES)
    yield chart.as_account(admin, NAMESPACE, f"{RELEASE}-backup")
    chart.helm(kubeconfig, "uninstall", RELEASE, "-n", NAMESPACE)


@pytest.fixture
def snapshots(account: ApiClient) -> VolumeSnapshots:
    return VolumeSnapshots(Api(account), f"{NAMESPACE}.{RELEASE}", "fast")


def found(admin: ApiClient) -> list[str]:
    rows = look.listed(Api(admin), VOLUME_SNAPSHOT, None, {})
    return sorted(look.name_of(row) for row in rows)


def say(admin: ApiClient, name: str, status: dict[str, Any]) -> None:
    """Say of a snapshot what the CSI driver's sidecar would."""
    path = f"{VOLUME_SNAPSHOT.path(NAMESPACE, name)}/status"
    answered, answer = Api(admin)._request(
        "PATCH", path, body={"status": status}, content_type="application/merge-patch+json"
    )
    assert answered == 200, answer


def make_claim(admin: ApiClient, namespace: str, name: str, component: str) -> None:
    core: Any = client.CoreV1Api(admin)
    carried = {
        "app.kubernetes.io/part-of": "waypost",
        "app.kubernetes.io/managed-by": "waypost",
        "app.kubernetes.io/component": component,
    }
    core.create_namespaced_persistent_volume_claim(
        namespace,
        {
            "metadata": {"name": name, "labels": carried},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )


def test_a_snapshot_is_requested_seen_and_deleted_by_the_backups_account(
    snapshots: VolumeSnapshots, admin: ApiClient
) -> None:
    for backup in (OLD, NEW):
        snapshots.request(backup, LAKEHOUSE)
    snapshots.request(NEW, LAKEHOUSE)  # idempotent
    name = f"{LAKEHOUSE.claim}-{NEW}"
    live = look.find(Api(admin), VOLUME_SNAPSHOT, NAMESPACE, name)
    assert live is not None
    assert live["spec"]["source"]["persistentVolumeClaimName"] == LAKEHOUSE.claim
    assert live["spec"]["volumeSnapshotClassName"] == "fast"
    assert snapshots.status(NEW, LAKEHOUSE).created_at == ""

    say(admin, name, {"error": {"message": "no class fast"}})
    assert snapshots.status(NEW, LAKEHOUSE).trouble == "no class fast"
    say(admin, name, {"error": None, "creationTime": "2026-11-24T02:15:03Z", "readyToUse": False})
    status = snapshots.status(NEW, LAKEHOUSE)
    assert (status.created_at, status.trouble) == ("2026-11-24T02:15:03Z", "")

    other = VolumeSnapshots(Api(admin), "another.release")
    other.request(OLD, VolumeId(SPACE, "data-broker-0-0"))
    snapshots.delete_others([NEW])
    eventually(lambda: found(admin) == [name, f"data-broker-0-0-{OLD}"])
    other.delete_others([])
    snapshots.delete_others([])
    eventually(lambda: found(admin) == [])
    assert snapshots.status(NEW, LAKEHOUSE).trouble == "somebody deleted it"


def test_only_volumes_of_brokers_of_known_spaces_are_found(
    snapshots: VolumeSnapshots, admin: ApiClient
) -> None:
    make_claim(admin, SPACE, "data-broker-0-0", "broker")
    make_claim(admin, SPACE, "cache", "something")
    make_claim(admin, NAMESPACE, "data-broker-0-0", "broker")

    assert snapshots.broker_volumes([SPACE]) == [VolumeId(SPACE, "data-broker-0-0")]
    snapshots.request(NEW, VolumeId(SPACE, "data-broker-0-0"))
    snapshots.delete_others([])


@pytest.mark.parametrize("resource", [resources.SECRET, resources.POD, resources.CONFIG_MAP])
def test_it_has_no_right_to_anything_else(account: ApiClient, resource: Any) -> None:
    with pytest.raises(InfraError, match="forbidden"):
        Api(account).list(resource, NAMESPACE, {})


def test_its_pod_meets_the_restricted_pod_security_standard(
    account: ApiClient, admin: ApiClient
) -> None:
    batch: Any = client.BatchV1Api(admin)
    core: Any = client.CoreV1Api(admin)
    job = batch.read_namespaced_cron_job(f"{RELEASE}-backup", NAMESPACE)
    template = job.spec.job_template.spec.template
    plain = admin.sanitize_for_serialization(template)
    plain["metadata"] = {**plain["metadata"], "name": "tried"}

    made = core.create_namespaced_pod(NAMESPACE, plain, dry_run="All")

    (dump,) = [one for one in made.spec.init_containers if one.name == "dump"]
    assert dump.restart_policy == "Always"
