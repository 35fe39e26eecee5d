"""What others add to objects of ours, beside what we wrote: taken out where it opens or diverts."""

from dataclasses import replace
from typing import Any

import pytest
from kubernetes.client import ApiClient

from controlplane.core.instance_names import Kind
from tests.suites.kubernetes.conftest import BUDGET, broker
from tests.suites.kubernetes.test_adapter import apply_as, run
from tests.support.kubernetes import look
from tests.support.kubernetes.counting_api import CountingApi
from tests.support.sessions import listed
from workers.infra.base import InfraError, Namespace
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, EndpointChoice
from workers.infra.kubernetes.reported import Reported
from workers.infra.kubernetes.resources import Resource

_STRATEGIC = "application/strategic-merge-patch+json"


def pod(**fields: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": fields}}}


SPY = {"name": "spy", "image": "example/spy:1"}
ACCOUNT = {"kind": "ServiceAccount", "name": "default", "namespace": "default"}
DIVERTED = {"spec": {"selector": {"app": "spy"}}}
ADDITIONS: dict[str, tuple[Resource[Reported], str, dict[str, Any]]] = {
    "selector": (resources.SERVICE, "messaging", DIVERTED),
    "selector of an instance": (resources.SERVICE, "broker-0", DIVERTED),
    "port": (
        resources.SERVICE,
        "messaging",
        {"spec": {"ports": [{"name": "more", "port": 9999, "protocol": "TCP"}]}},
    ),
    "same port of another protocol": (
        resources.SERVICE,
        "messaging",
        {"spec": {"ports": [{"name": "more", "port": 5671, "protocol": "UDP"}]}},
    ),
    "outside address": (
        resources.SERVICE,
        "messaging",
        {"spec": {"externalIPs": ["203.0.113.7"]}},
    ),
    "rule": (
        resources.NETWORK_POLICY,
        "clients",
        {"spec": {"podSelector": {}, "ingress": [{}]}},
    ),
    "way": (
        resources.NETWORK_POLICY,
        "deny-all",
        {"spec": {"podSelector": {}, "egress": [{}]}},
    ),
    "limit": (
        resources.LIMIT_RANGE,
        "waypost",
        {"spec": {"limits": [{"type": "Pod", "max": {"memory": "1Mi"}}]}},
    ),
    "container": (resources.STATEFUL_SET, "broker-0", pod(containers=[SPY])),
    "first container": (resources.STATEFUL_SET, "broker-0", pod(initContainers=[SPY])),
    "volume": (
        resources.STATEFUL_SET,
        "broker-0",
        pod(volumes=[{"name": "spy", "secret": {"secretName": "broker-0"}}]),
    ),
    "variable": (
        resources.STATEFUL_SET,
        "broker-0",
        pod(
            containers=[{"name": "broker", "env": [{"name": "JAVA_TOOL_OPTIONS", "value": "spy"}]}]
        ),
    ),
    "argument": (
        resources.STATEFUL_SET,
        "broker-0",
        pod(containers=[{"name": "broker", "args": ["--spy"]}]),
    ),
    "name": (
        resources.STATEFUL_SET,
        "broker-0",
        pod(hostAliases=[{"ip": "203.0.113.7", "hostnames": ["broker-1"]}]),
    ),
    "ways of the node": (
        resources.STATEFUL_SET,
        "broker-0",
        pod(hostNetwork=True, hostPID=True, hostIPC=True),
    ),
    "place and rank": (
        resources.STATEFUL_SET,
        "broker-0",
        pod(nodeName="elsewhere", priorityClassName="system-node-critical"),
    ),
    "whose names": (
        resources.STATEFUL_SET,
        "broker-0",
        pod(dnsConfig={"nameservers": ["203.0.113.7"]}),
    ),
    "whose names first": (resources.STATEFUL_SET, "broker-0", pod(dnsPolicy="Default")),
    "who places it": (resources.STATEFUL_SET, "broker-0", pod(schedulerName="theirs")),
    "what runs it": (resources.STATEFUL_SET, "broker-0", pod(runtimeClassName="theirs")),
    "pods that never become new": (
        resources.STATEFUL_SET,
        "broker-0",
        {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}},
    ),
    "another volume": (resources.STATEFUL_SET, "broker-0", {"spec": {"ordinals": {"start": 3}}}),
    "none of them": (resources.STATEFUL_SET, "broker-0", {"spec": {"replicas": 0}}),
    "shared processes": (resources.STATEFUL_SET, "broker-0", pod(shareProcessNamespace=True)),
    "who may connect": (
        resources.SERVICE,
        "messaging",
        {"spec": {"publishNotReadyAddresses": True}},
    ),
    "evictions": (
        resources.DISRUPTION_BUDGET,
        "broker",
        {"spec": {"selector": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}},
    ),
}


def with_endpoint(kind: str, api: Api, cluster: Cluster, namespace: Namespace) -> KubernetesInfra:
    """Return the adapter after it made the namespace's endpoint of ``kind``."""
    choice = EndpointChoice(kind, domain="mq.example.org")
    infra = KubernetesInfra(api, replace(cluster, endpoint=choice))
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_endpoint("broker-0")
    return infra


def said(api: Api, resource: Resource[Reported], namespace: Namespace, name: str) -> Any:
    """Return what the object says, without what the cluster writes into it."""
    live = look.find(api, resource, namespace.name, name)
    assert live is not None
    return {key: live[key] for key in live.keys() - {"metadata", "status"}}


# Fields that the API gives to one manager as a whole: who applies one takes ours away. And values.
TAKEN = {"selector", "selector of an instance", "rule", "limit", "evictions"} | {
    "whose names first",
    "who places it",
    "pods that never become new",
    "none of them",
}


# What another applier adds is told apart in one way, whatever it adds; the drills add the rest.
APPLIED = "whose names"


@pytest.mark.parametrize(
    ("addition", "how"),
    [
        *((addition, "by hand") for addition in ADDITIONS),
        *(
            pytest.param(
                addition, "applied", marks=() if addition == APPLIED else pytest.mark.drill
            )
            for addition in ADDITIONS
            if addition not in TAKEN
        ),
    ],
)
def test_what_is_added_is_taken_out(
    infra: KubernetesInfra,
    admin: ApiClient,
    api: Api,
    counting: CountingApi,
    namespace: Namespace,
    addition: str,
    how: str,
) -> None:
    resource, name, body = ADDITIONS[addition]
    namespace = replace(namespace, name=f"wp-{addition}-{how}".replace(" ", "-"))
    run(infra, namespace)
    before = said(api, resource, namespace, name)
    if how == "applied":
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        apply_as(
            admin,
            "somebody",
            {**head, "metadata": {"name": name, "namespace": namespace.name}, **body},
        )
    else:
        path = resource.path(namespace.name, name)
        status, answer = api._request("PATCH", path, body=body, content_type=_STRATEGIC)
        assert status == 200, answer
    assert said(api, resource, namespace, name) != before

    run(infra, namespace)

    assert said(api, resource, namespace, name) == before
    counting.calls.clear()
    run(infra, namespace)
    # but a pod that was replaced is told of its files
    written = [path for verb, path in counting.calls if verb != "GET" and "/pods/" not in path]
    assert written == []


@pytest.mark.parametrize("addition", sorted(TAKEN))
def test_what_an_applier_takes_is_told(
    infra: KubernetesInfra, admin: ApiClient, namespace: Namespace, addition: str
) -> None:
    resource, name, body = ADDITIONS[addition]
    namespace = replace(namespace, name=f"wp-taken-{addition}".replace(" ", "-"))
    run(infra, namespace)
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    metadata = {"name": name, "namespace": namespace.name}
    apply_as(admin, "gitops", {**head, "metadata": metadata, **body})

    with pytest.raises(InfraError, match=r"also belong\(s\) to gitops") as refused:
        run(infra, namespace)

    assert refused.value.reason == "FieldConflict"


def test_a_subject_more_is_taken_out(
    infra: KubernetesInfra, api: Api, namespace: Namespace
) -> None:
    run(infra, namespace)
    before = said(api, resources.ROLE_BINDING, namespace, "waypost-worker")
    path = resources.ROLE_BINDING.path(namespace.name, "waypost-worker")
    subjects = {"subjects": [*before["subjects"], ACCOUNT]}
    status, answer = api._request("PATCH", path, body=subjects, content_type=_STRATEGIC)
    assert status == 200, answer

    run(infra, namespace)

    assert said(api, resources.ROLE_BINDING, namespace, "waypost-worker") == before


def test_a_port_of_the_nodes_stays_the_same(
    api: Api, wanted_cluster: Cluster, namespace: Namespace
) -> None:
    infra = with_endpoint("nodeport", api, wanted_cluster, namespace)
    with infra.open(namespace) as session:
        first = session.ensure_endpoint("broker-0")
    path = resources.SERVICE.path(namespace.name, "messaging")
    more = {"spec": {"ports": [{"name": "more", "port": 9999}], "selector": {"app": "spy"}}}
    api._request("PATCH", path, body=more, content_type=_STRATEGIC)

    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        again = session.ensure_endpoint("broker-0")

    service = said(api, resources.SERVICE, namespace, "messaging")["spec"]
    assert again == first
    assert [port["name"] for port in service["ports"]] == ["amqps"]
    assert "app" not in service["selector"]


def test_a_load_balancer_stays_as_closed_as_its_operator_made_it(
    api: Api, wanted_cluster: Cluster, namespace: Namespace
) -> None:
    infra = with_endpoint("loadbalancer", api, wanted_cluster, namespace)
    path = resources.SERVICE.path(namespace.name, "messaging")
    ranges = {"spec": {"loadBalancerSourceRanges": ["203.0.113.0/24"]}}
    status, answer = api._request("PATCH", path, body=ranges, content_type=_STRATEGIC)
    assert status == 200, answer

    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_endpoint("broker-0")

    service = said(api, resources.SERVICE, namespace, "messaging")["spec"]
    assert service["loadBalancerSourceRanges"] == ["203.0.113.0/24"]


def test_an_ingress_leads_nowhere_else(
    api: Api, wanted_cluster: Cluster, namespace: Namespace
) -> None:
    infra = with_endpoint("ingress", api, wanted_cluster, namespace)
    before = said(api, resources.INGRESS, namespace, "messaging")
    backend = {"service": {"name": "spy", "port": {"number": 1}}}
    path = resources.INGRESS.path(namespace.name, "messaging")
    api._request("PATCH", path, body={"spec": {"defaultBackend": backend}}, content_type=_STRATEGIC)

    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_endpoint("broker-0")

    assert said(api, resources.INGRESS, namespace, "messaging") == before


def test_an_instance_under_another_label_is_still_one(
    infra: KubernetesInfra, api: Api, namespace: Namespace
) -> None:
    """And a stateful set of somebody else's that carries our labels is none."""
    run(infra, namespace)
    component = {"app.kubernetes.io/component": "theirs"}
    live = look.find(api, resources.STATEFUL_SET, namespace.name, "broker-0") or {}
    theirs = {**live, "metadata": {"name": "theirs", "labels": live["metadata"]["labels"]}}
    path = resources.STATEFUL_SET.path(namespace.name)
    assert api._request("POST", path, body=theirs)[0] == 201
    labelled = {"metadata": {"labels": component}}
    api.merge(resources.STATEFUL_SET, namespace.name, "broker-0", labelled)

    (found,) = listed(infra, namespace)
    run(infra, namespace)

    assert (found.name, found.kind) == ("broker-0", Kind.BROKER)
    live = look.find(api, resources.STATEFUL_SET, namespace.name, "broker-0") or {}
    assert live["metadata"]["labels"]["app.kubernetes.io/component"] == "broker"


def test_a_pod_security_of_former_times_is_not_enforced(
    infra: KubernetesInfra, api: Api, namespace: Namespace
) -> None:
    """The standard of version 1.0 allows what today's forbids."""
    run(infra, namespace)
    former = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce-version": "v1.0"}}}
    path = resources.NAMESPACE.path(None, namespace.name)
    status, _ = api._request("PATCH", path, body=former, content_type=_STRATEGIC)
    assert status == 200

    run(infra, namespace)

    live = look.find(api, resources.NAMESPACE, None, namespace.name)
    assert live is not None
    assert live["metadata"]["labels"]["pod-security.kubernetes.io/enforce-version"] == "latest"


def test_a_broker_of_the_same_files_is_as_before(
    infra: KubernetesInfra, api: Api, namespace: Namespace
) -> None:
    """A repair leaves the digest of what the pod is made from, so nothing restarts for it later."""
    run(infra, namespace)
    path = resources.STATEFUL_SET.path(namespace.name, "broker-0")
    api._request("PATCH", path, body=pod(containers=[SPY]), content_type=_STRATEGIC)

    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        status = session.ensure_instance(broker(namespace), may_restart=False)

    assert not status.restart_deferred
    (container,) = said(api, resources.STATEFUL_SET, namespace, "broker-0")["spec"]["template"][
        "spec"
    ]["containers"]
    assert container["name"] == "broker"
