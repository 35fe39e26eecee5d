"""A cluster, a space and its instances to build manifests of."""

from typing import Any

from controlplane.core.instance_names import Kind
from workers.infra.base import InstanceSpec, Namespace, ResourceBudget
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.cluster import Cluster, EndpointChoice, Images, Pods
from workers.infra.kubernetes.reported import Reported
from workers.infra.kubernetes.resources import Applied

SPACE = Namespace("wp-orders-0123456789ab", "ten_a", "spc_a")
BUDGET = ResourceBudget(brokers=3, broker_memory_mb=256, routers=2)


def cluster(kind: str = "service", **other: Any) -> Cluster:
    """Return a cluster with endpoints of a kind."""
    return Cluster(
        installation="waypost.waypost",
        images=Images(broker="example/broker:2", router="example/router:1", pull_secrets=["pull"]),
        control_namespace="waypost",
        worker_account="waypost-worker",
        space_role="waypost-space",
        metering_account="waypost-metering",
        metering_role="waypost-metering",
        worker=Pods("waypost", {"app.kubernetes.io/component": "worker"}),
        auth_service=Pods("waypost", {"app.kubernetes.io/component": "auth"}),
        auth_port=5671,
        endpoint=EndpointChoice(
            kind, domain="mq.example.org", class_name="haproxy", gateway="edge/public"
        ),
        **other,
    )


def broker(namespace: Namespace = SPACE) -> InstanceSpec:
    return InstanceSpec(
        namespace,
        Kind.BROKER,
        "broker-0",
        {"broker.xml": "<configuration/>", "login.config": "login", "server.key": "key"},
        live_files=frozenset({"broker.xml"}),
        secret_files=frozenset({"server.key"}),
        memory_mb=256,
    )


def router(namespace: Namespace = SPACE) -> InstanceSpec:
    return InstanceSpec(
        namespace,
        Kind.ROUTER,
        "router-0",
        {"router.json": "[]", "base.json": "[]", "server.key": "key"},
        live_files=frozenset({"router.json"}),
        secret_files=frozenset({"server.key"}),
        engine="qdrouterd",
    )


def live(wanted: Applied, **fields: object) -> Reported:
    """Return the object as a cluster reports it that added nothing but these fields."""
    document = {**resources.document_of(wanted), **fields}
    return resources.of(wanted).reported.of(document)
