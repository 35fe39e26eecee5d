"""Spark on Kubernetes: the chart's settings and rights, a real driver, executors as processes here.

The driver asks the API server for executors under its own account; a node of the test runs each of
them with the image's own entrypoint.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
import yaml
from kubernetes import client
from kubernetes.client import ApiClient

from lakehouse import session
from tests.support.charts import rendered
from tests.support.kubernetes import chart, node
from tests.support.kubernetes.node import Node

NAMESPACE, RELEASE, DRIVER = "waypost-spark", "lake", "driver"
SPARK = ("--set", "pipeline.runs=cronjob,pipeline.spark=kubernetes,pipeline.executors=1")
ENTRYPOINT = rendered.CHART.parents[1] / "charts" / "images" / "spark" / "entrypoint"
PLACES = {
    "SPARK_HOME": str(Path(pyspark.__file__).parent),
    "WAYPOST_JARS_DIR": str(session.jars()[0].parent),
}
_OUTSIDE = dict(os.environ)  # as it was: pytest changes it while the node's thread reads
# Executors compute, and write and read Delta's files, with the session that the jobs use.
JOB = """
import sys
from lakehouse import session
spark = session.start("probe")
spark.range(1000).write.format("delta").save(sys.argv[1])
print(spark.read.format("delta").load(sys.argv[1]).selectExpr("sum(id)").first()[0])
spark.stop()
"""


class ExecutorNode(Node):
    """Runs the executors of a driver on this machine; other pods are only said to run."""

    def __init__(self, api: ApiClient, folder: Path) -> None:
        super().__init__(api)
        self.folder = folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.ran: list[Any] = []

    def start(self, pod: Any) -> bool:
        name = pod.metadata.name
        if pod.metadata.namespace != NAMESPACE or "-exec-" not in name or name in self.processes:
            return True
        (container,) = pod.spec.containers
        self.ran.append(pod)
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                ["/bin/sh", str(ENTRYPOINT), *container.args],
                env={**_OUTSIDE, **PLACES, **_environment(container, name)},
                stdout=log,
                stderr=log,
            )
        return True

    def end(self, pod: Any) -> None:
        process = self.processes.pop(pod.metadata.name, None)
        if process:
            process.terminate()
            process.wait(20)


def _environment(container: Any, name: str) -> dict[str, str]:
    fields = {"status.podIP": "127.0.0.1", "metadata.name": name}
    return {
        variable.name: variable.value or fields[variable.value_from.field_ref.field_path]
        if variable.value or variable.value_from
        else ""
        for variable in container.env
    }


@pytest.fixture
def executors(admin: ApiClient, tmp_path: Path) -> Iterator[ExecutorNode]:
    made = ExecutorNode(admin, tmp_path)
    try:
        with node.running(made):
            yield made
    finally:
        for process in made.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def environment(
    kubeconfig: Path, admin: ApiClient, tmp_path: Path, executors: ExecutorNode
) -> Iterator[dict[str, str]]:
    """What the cron job's pod would see, with the paths of this machine.

    The node stays until the release is gone: it takes the namespaces of its pods away.
    """
    chart.make_namespace(admin, NAMESPACE)
    chart.install(kubeconfig, RELEASE, NAMESPACE, *SPARK)
    objects = chart.manifests(chart.helm(kubeconfig, "get", "manifest", RELEASE, "-n", NAMESPACE))
    held = rendered.find(objects, "ConfigMap", f"{RELEASE}-spark")["data"]
    for name, text in held.items():
        (tmp_path / name).write_text(text.replace("/etc/waypost/spark", str(tmp_path)))
    _make_driver_pod(admin)
    account = chart.as_account(admin, NAMESPACE, f"{RELEASE}-spark")
    yield {
        "WAYPOST_SPARK_MASTER": f"k8s://{account.configuration.host}",
        "SPARK_CONF_DIR": str(tmp_path),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "HOSTNAME": DRIVER,
        "KUBECONFIG": str(_kubeconfig(account, tmp_path)),
        **PLACES,
    }
    chart.helm(kubeconfig, "uninstall", RELEASE, "-n", NAMESPACE)


@pytest.mark.spark
def test_executors_run_in_pods_of_their_own(
    environment: dict[str, str], executors: ExecutorNode, tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", JOB, str(tmp_path / "table")],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr[:6000]
    assert ran.stdout.splitlines()[-1] == str(sum(range(1000)))
    assert executors.ran
    for pod in executors.ran:
        _check_executor(pod)


def _check_executor(pod: Any) -> None:
    assert pod.metadata.labels["app.kubernetes.io/component"] == "executor"
    assert [owner.name for owner in pod.metadata.owner_references] == [DRIVER]
    assert pod.spec.automount_service_account_token is False
    assert pod.spec.security_context.run_as_non_root is True
    (container,) = pod.spec.containers
    assert container.security_context.read_only_root_filesystem is True
    assert container.image == "waypost/spark:0.1.0"
    mounted = {volume_mount.mount_path for volume_mount in container.volume_mounts}
    assert "/var/lib/waypost/lakehouse" in mounted


def _make_driver_pod(admin: ApiClient) -> None:
    core: Any = client.CoreV1Api(admin)
    container = {
        "name": "pipeline",
        "image": "waypost/spark:0.1.0",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    core.create_namespaced_pod(
        NAMESPACE, {"metadata": {"name": DRIVER}, "spec": {"containers": [container]}}
    )


def _kubeconfig(account: ApiClient, folder: Path) -> Path:
    known = account.configuration
    _, _, token = known.api_key["authorization"].partition(" ")
    path = folder / "kubeconfig"
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "test",
                "clusters": [
                    {
                        "name": "test",
                        "cluster": {
                            "server": known.host,
                            "certificate-authority": known.ssl_ca_cert,
                        },
                    }
                ],
                "users": [{"name": "spark", "user": {"token": token}}],
                "contexts": [{"name": "test", "context": {"cluster": "test", "user": "spark"}}],
            }
        )
    )
    return path
