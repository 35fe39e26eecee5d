"""What the cluster refuses ends as a condition of the space, in words, through the whole loop."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from kubernetes import client
from kubernetes.client import ApiClient

from controlplane.core.audit import SYSTEM
from tenants.actions import address_spaces
from tests.suites.kubernetes.test_adapter import apply_as
from tests.suites.kubernetes.test_rollouts import Site, resize
from tests.support.kubernetes import look
from tests.support.kubernetes.node import Node
from tests.support.waiting import eventually
from workers.infra.kubernetes import observed, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, EndpointChoice, Images
from workers.reconcile.outcome import Done, Failed, Wait

pytestmark = pytest.mark.django_db


class FaultyApi(Api):
    """The real API, but some writes are answered as told."""

    def __init__(self, client: ApiClient) -> None:
        super().__init__(client)
        self.status = 0

    def _request(self, method: str, path: str, *args: Any, **options: Any) -> tuple[int, Any]:
        if self.status and method == "PATCH" and "/statefulsets/" in path:
            return self.status, {"message": f"answer {self.status}"}
        return super()._request(method, path, *args, **options)


@pytest.fixture
def faulty(admin: ApiClient) -> FaultyApi:
    return FaultyApi(admin)


@pytest.fixture
def site(faulty: FaultyApi, wanted_cluster: Cluster, fake_node: Node, tmp_path: Path) -> Site:
    images = Images(broker="localhost/broker:1")
    made = Site(faulty, replace(wanted_cluster, images=images), tmp_path)
    assert isinstance(made.settle(), Done)
    return made


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        (403, "ClusterForbidden", "the worker lacks a right: compare its roles with docs/operate/"),
        (409, "ClusterConflict", "it changed in the meantime; Waypost tries again."),
        *(
            # The same way through the worker; what each answer means is a table.
            pytest.param(*answer, marks=pytest.mark.drill)
            for answer in (
                (
                    401,
                    "ClusterCredentials",
                    "the worker's credentials are not accepted: renew its",
                ),
                (
                    422,
                    "ObjectRefused",
                    "the cluster cannot accept a field of it: check the image, the ",
                ),
                (429, "ClusterBusy", "the cluster's API is busy; Waypost tries again."),
                (500, "ClusterBusy", "the cluster's API is busy; Waypost tries again."),
            )
        ),
    ],
)
def test_an_answer_is_the_condition_until_it_changes(
    site: Site, faulty: FaultyApi, status: int, reason: str, words: str
) -> None:
    resize(site.space, "brokered-medium")
    faulty.status = status

    outcome = site.reconcile(2)

    assert isinstance(outcome, Wait | Failed)
    assert (site.ready["status"], site.ready["reason"]) == ("False", reason)
    assert site.ready["message"].startswith(f"StatefulSet {site.namespace}/broker-0: {words}")
    assert site.ready["message"].endswith(f"The cluster said: answer {status}")
    faulty.status = 0
    assert isinstance(site.settle(), Done)


def test_a_field_that_the_cluster_cannot_accept_is_the_condition(site: Site) -> None:
    inside = site.cluster
    nowhere = EndpointChoice("ingress", domain="no_name.example.org")
    site.cluster = replace(inside, endpoint=nowhere)

    site.reconcile(2)

    assert site.ready["reason"] == "ObjectRefused"
    assert site.ready["message"].startswith(
        f"Ingress {site.namespace}/messaging: the cluster cannot accept a field of it: check the "
        "image, the endpoint and its annotations in the chart's values. The cluster said: "
    )
    assert "no_name.example.org" in site.ready["message"]
    site.cluster = inside
    assert isinstance(site.settle(), Done)


def test_an_image_that_no_pod_can_have_is_the_condition(site: Site) -> None:
    """The stateful set is accepted, and its pod is not."""
    site.use_image(" localhost/broker:2")

    def told() -> bool:
        site.reconcile(0)
        return "its pod is not created" in site.ready["message"]

    eventually(told)
    assert site.ready["reason"] == "RolloutStopped"
    assert "must not have leading or trailing whitespace" in site.ready["message"]
    site.use_image("localhost/broker:1")
    eventually(lambda: isinstance(site.reconcile(), Done))


def test_another_applier_is_the_condition_until_it_lets_go(site: Site, admin: ApiClient) -> None:
    theirs = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "broker-0", "namespace": site.namespace},
        "spec": {"selector": {"app": "theirs"}},
    }
    apply_as(admin, "gitops", theirs)

    outcome = site.reconcile(2)

    assert isinstance(outcome, Failed)
    assert site.ready["reason"] == "FieldConflict"
    assert ".spec.selector also belong(s) to gitops" in site.ready["message"]
    apply_as(admin, "gitops", {**theirs, "spec": {}})
    eventually(lambda: isinstance(site.reconcile(), Done))


def hold(core: Any, namespace: str) -> None:
    """Have something of somebody else in the namespace that does not end by itself."""
    held = {"metadata": {"name": "held", "finalizers": ["example.org/theirs"]}}
    core.create_namespaced_config_map(namespace, held)


def let_go(core: Any, namespace: str) -> None:
    core.patch_namespaced_config_map("held", namespace, {"metadata": {"finalizers": None}})


def test_a_namespace_that_does_not_end_is_the_condition(
    site: Site, admin: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    core: Any = client.CoreV1Api(admin)
    hold(core, site.namespace)
    monkeypatch.setattr(observed, "_ENDS_WITHIN", timedelta(0))
    namespace = site.namespace
    address_spaces.delete(space=site.space, by=SYSTEM)

    def told() -> str:
        site.reconcile(0)
        return site.ready["message"]

    eventually(lambda: "finalizers remaining" in told())
    assert site.ready["reason"] == "Terminating"
    assert site.ready["message"].startswith(
        f"NamespaceStuck: The deletion of the namespace {namespace} does not finish: "
    )
    assert "example.org/theirs in 1 resource instances" in site.ready["message"]
    assert "Fix what holds it in the cluster" in site.ready["message"]

    let_go(core, namespace)
    eventually(lambda: isinstance(site.reconcile(), Done))
    assert site.space.deleted_at is not None


@pytest.mark.drill
def test_a_living_space_whose_namespace_does_not_end_says_what_holds_it(
    site: Site, admin: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    core: Any = client.CoreV1Api(admin)
    hold(core, site.namespace)
    namespace = site.namespace
    core.delete_namespace(namespace)

    def told() -> str:
        site.reconcile(0)
        return site.ready["message"]

    eventually(lambda: f"Somebody deleted the namespace {namespace}; it is created" in told())
    assert site.ready["reason"] == "NamespaceEnding"
    monkeypatch.setattr(observed, "_ENDS_WITHIN", timedelta(0))
    eventually(lambda: "example.org/theirs in 1 resource instances" in told())
    assert site.ready["reason"] == "NamespaceStuck"
    assert site.ready["message"].startswith(
        f"The deletion of the namespace {namespace} does not finish: "
    )

    let_go(core, namespace)
    eventually(lambda: isinstance(site.reconcile(), Done))
    assert site.pod("broker-0")


def test_a_certificate_is_renewed_before_it_expires_without_a_restart(
    site: Site, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def certificate() -> str:
        found = look.find(api, resources.SECRET, site.namespace, "broker-0")
        assert found is not None
        return str(sorted(found["data"].items()))

    first, pod = certificate(), site.uid("broker-0")
    later = timezone.now() + timedelta(days=21)
    monkeypatch.setattr(timezone, "now", lambda: later)

    outcome = site.reconcile()

    assert isinstance(outcome, Done)
    assert certificate() != first
    assert site.uid("broker-0") == pod
    assert site.ready["status"] == "True"
