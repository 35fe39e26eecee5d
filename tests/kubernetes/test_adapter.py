"""The adapter on a real API server: what it makes, what it leaves alone, what it takes back."""

import time
from collections.abc import Callable

from tests.kubernetes.conftest import ROOM
from tests.kubernetes.node import Node
from workers.infra.base import InstanceSpec, Kind, Namespace
from workers.infra.kubernetes.adapter import KubernetesInfra


def broker(namespace: Namespace, **files: str) -> InstanceSpec:
    return InstanceSpec(
        namespace,
        Kind.BROKER,
        "broker-0",
        {"broker.xml": "<x/>", "server.key": "secret", **files},
        live_files=frozenset({"broker.xml"}),
        secret_files=frozenset({"server.key"}),
        memory_mb=128,
    )


def eventually(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_an_instance_becomes_ready_and_goes(
    infra: KubernetesInfra, namespace: Namespace, fake_node: Node
) -> None:
    infra.ensure_namespace(namespace, ROOM)
    infra.ensure_instance(broker(namespace))
    eventually(lambda: [each.running for each in infra.list_instances(namespace)] == [True])

    infra.delete_instance(namespace, "broker-0")
    infra.delete_instance(namespace, "broker-0")

    eventually(lambda: list(infra.list_instances(namespace)) == [])
    assert namespace.name in infra.list_namespaces()
    eventually(lambda: infra.delete_namespace(namespace))
    assert namespace.name not in infra.list_namespaces()
