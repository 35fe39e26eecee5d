"""Two installations of Waypost in one cluster leave each other alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kubernetes.client import ApiClient, CoreV1Api, RbacAuthorizationV1Api

from tests.suites.kubernetes.conftest import BUDGET, broker
from tests.suites.kubernetes.test_adapter import EVERYTHING, merge, names, run
from tests.support.kubernetes import look
from tests.support.kubernetes.node import Node
from tests.support.sessions import listed, once
from tests.support.waiting import eventually
from workers.infra.base import InfraError, Namespace, Session
from workers.infra.kubernetes import labels, resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster

Call = Callable[[Session, Namespace], object]


@pytest.fixture
def another(api: Api, wanted_cluster: Cluster) -> KubernetesInfra:
    """The worker of another installation, which has the same rows: a copy of the database."""
    return KubernetesInfra(api, replace(wanted_cluster, installation="elsewhere.waypost"))


CALLS: dict[str, Call] = {
    "begin": lambda session, it: session.ensure_namespace(BUDGET),
    "instance": lambda session, it: session.ensure_instance(
        broker(it, **{"broker.xml": "<stolen/>"})
    ),
    "endpoint": lambda session, it: session.ensure_endpoint("broker-0"),
    "list": lambda session, it: session.list_instances(),
    "restart": lambda session, it: session.restart_instance("broker-0"),
    "delete instance": lambda session, it: session.delete_instance("broker-0"),
    "delete endpoint": lambda session, it: session.delete_endpoint(),
    "delete": lambda session, it: session.delete_namespace(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_space_of_another_installation_is_left_alone(
    infra: KubernetesInfra, another: KubernetesInfra, api: Api, namespace: Namespace, call: str
) -> None:
    namespace = replace(namespace, name=f"wp-of-one-{call}".replace(" ", "-"))
    run(infra, namespace)

    with pytest.raises(InfraError) as refused:
        once(another, namespace, lambda session: CALLS[call](session, namespace))

    assert (refused.value.reason, refused.value.retry) == ("OtherInstallation", False)
    assert "belongs to the installation waypost.waypost of Waypost, and this is elsewhere" in str(
        refused.value
    )
    assert names(api, namespace) == EVERYTHING
    files = look.find(api, resources.CONFIG_MAP, namespace.name, "broker-0-main")
    assert files is not None
    assert files["data"] == {"broker.xml": "<x/>"}
    assert namespace.name in infra.list_namespaces()
    assert namespace.name not in another.list_namespaces()


def test_everything_says_whose_it_is(
    infra: KubernetesInfra, api: Api, namespace: Namespace
) -> None:
    run(infra, namespace)

    whose = {labels.INSTALLATION: "waypost.waypost"}
    for kind, held in EVERYTHING.items():
        (resource,) = [resource for resource in look.APPLIED if resource.kind == kind]
        found = look.listed(api, resource, namespace.name, whose)
        assert {look.name_of(object_) for object_ in found} == held


def test_what_is_from_before_installations_were_told_apart_is_taken_on_without_a_restart(
    infra: KubernetesInfra, api: Api, admin: ApiClient, namespace: Namespace, fake_node: Node
) -> None:
    def uid() -> str:
        pod = look.find(api, resources.POD, namespace.name, "broker-0-0") or {}
        return str(pod.get("metadata", {}).get("uid"))

    run(infra, namespace)
    eventually(lambda: listed(infra, namespace)[0].running)
    first = uid()
    unmarked: dict[str, Any] = {"metadata": {"labels": {labels.INSTALLATION: None}}}
    merge(api, resources.NAMESPACE.path(None, namespace.name), unmarked)
    merge(api, resources.STATEFUL_SET.path(namespace.name, "broker-0"), unmarked)

    run(infra, namespace)

    assert namespace.name in infra.list_namespaces()
    with infra.open(namespace) as session:
        assert session.list_instances()[0].running
    assert uid() == first
    claim: Any = CoreV1Api(admin).list_namespaced_persistent_volume_claim(namespace.name).items[0]
    assert labels.INSTALLATION not in claim.metadata.labels


def test_a_space_is_taken_over_by_the_label_of_its_namespace(
    infra: KubernetesInfra, another: KubernetesInfra, api: Api, namespace: Namespace
) -> None:
    run(infra, namespace)
    taken = {"metadata": {"labels": {labels.INSTALLATION: "elsewhere.waypost"}}}
    merge(api, resources.NAMESPACE.path(None, namespace.name), taken)
    at_once = listed(another, namespace)  # as a teardown, which recreates nothing

    run(another, namespace)

    assert [job.name for job in at_once] == ["broker-0"]

    assert namespace.name in another.list_namespaces()
    assert [instance.name for instance in listed(another, namespace)] == ["broker-0"]
    with pytest.raises(InfraError, match="belongs to the installation elsewhere"):
        with infra.open(namespace) as session:
            session.list_instances()


def test_bindings_of_another_release_name_are_told_and_recreated(
    infra: KubernetesInfra,
    api: Api,
    admin: ApiClient,
    wanted_cluster: Cluster,
    namespace: Namespace,
) -> None:
    run(infra, namespace)
    taken = {"metadata": {"labels": {labels.INSTALLATION: "waypost.new"}}}
    merge(api, resources.NAMESPACE.path(None, namespace.name), taken)
    renamed = replace(
        wanted_cluster,
        installation="waypost.new",
        space_role="new-space",
        metering_role="new-metering",
    )
    new = KubernetesInfra(api, renamed)

    with pytest.raises(InfraError, match="delete it, and Waypost creates it again") as refused:
        run(new, namespace)
    # As the chart's upgrade notes say.
    rights: Any = RbacAuthorizationV1Api(admin)
    whose = f"{labels.INSTALLATION}=waypost.waypost"
    rights.delete_collection_namespaced_role_binding(namespace.name, label_selector=whose)
    run(new, namespace)

    assert refused.value.reason == "BindingOfAnother"
    assert [instance.name for instance in listed(new, namespace)] == ["broker-0"]
    roles = {
        binding["roleRef"]["name"]
        for binding in look.listed(api, resources.ROLE_BINDING, namespace.name, labels.OURS)
    }
    assert roles == {"new-space", "new-metering"}
