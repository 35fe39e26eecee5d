"""Rights that an installation has not given, and what goes on without them all the same."""

from collections.abc import Mapping, Sequence

import pytest
from kubernetes.client import ApiClient

from tests.support.infra.places import ROOM, SPACE, broker, cluster
from workers.infra.base import InfraError
from workers.infra.kubernetes import labels, resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.resources import Manifest, Resource, name_of


class Limited(Api):
    """A cluster in memory that refuses some kinds altogether."""

    def __init__(self, *forbidden: Resource, reason: str = "ClusterForbidden") -> None:
        super().__init__(ApiClient())
        self._forbidden = forbidden
        self._reason = reason
        self.held: dict[tuple[str, str], Manifest] = {}

    def _check(self, resource: Resource) -> None:
        if resource in self._forbidden:
            raise InfraError(resource.kind, reason=self._reason, retry=False)

    def find(self, resource: Resource, namespace: str | None, name: str) -> Manifest | None:
        self._check(resource)
        return self.held.get((resource.kind, name))

    def list(
        self,
        resource: Resource,
        namespace: str | None,
        selector: Mapping[str, str],
        fields: Mapping[str, str] | None = None,
    ) -> Sequence[Manifest]:
        self._check(resource)
        return [
            held
            for (kind, _), held in self.held.items()
            if kind == resource.kind
            and selector.items() <= held["metadata"].get("labels", {}).items()
        ]

    def apply(self, manifest: Manifest) -> Manifest:
        self._check(resources.of(manifest))
        self.held[(manifest["kind"], name_of(manifest))] = manifest
        return manifest

    def delete(self, resource: Resource, namespace: str | None, name: str) -> bool:
        self._check(resource)
        return self.held.pop((resource.kind, name), None) is None


def with_namespace(api: Limited) -> Limited:
    api.apply(
        {
            "kind": "Namespace",
            "metadata": {"name": SPACE.name, "labels": labels.of_space(SPACE)},
        }
    )
    return api


def test_an_endpoint_is_removed_without_the_right_to_certificates() -> None:
    api = with_namespace(Limited(resources.CERTIFICATE))
    infra = KubernetesInfra(api, cluster())
    infra.ensure_endpoint(SPACE, "broker-0")
    assert ("Service", "messaging") in api.held

    infra.delete_endpoint(SPACE)

    assert {kind for kind, _ in api.held} == {"Namespace"}


def test_any_other_refusal_of_certificates_keeps_the_space() -> None:
    api = with_namespace(Limited(resources.CERTIFICATE, reason="ClusterBusy"))

    with pytest.raises(InfraError, match="Certificate"):
        KubernetesInfra(api, cluster()).delete_endpoint(SPACE)


def test_an_instance_comes_without_the_right_to_events() -> None:
    infra = KubernetesInfra(with_namespace(Limited(resources.EVENT)), cluster())

    status = infra.ensure_instance(broker())

    assert (status.running, status.trouble) == (False, "")


def test_any_other_refusal_of_events_is_told() -> None:
    busy = Limited(resources.EVENT, reason="ClusterBusy")

    with pytest.raises(InfraError, match="Event"):
        KubernetesInfra(with_namespace(busy), cluster()).ensure_instance(broker())


class RefusingBinding(Limited):
    """Refuses one role binding, as a policy or a role of a former version does."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__()
        self._name = name
        self._why = reason
        original = {"metadata": {"name": "pull"}, "type": "kubernetes.io/dockercfg", "data": {}}
        self.held["Secret", "pull"] = original

    def apply(self, manifest: Manifest) -> Manifest:
        if manifest["kind"] == "RoleBinding" and name_of(manifest) == self._name:
            raise InfraError(self._name, reason=self._why, retry=False)
        return super().apply(manifest)


@pytest.mark.parametrize("reason", ["ClusterForbidden", "AdmissionRefused"])
def test_spaces_go_on_where_metering_may_not_be_bound(reason: str) -> None:
    api = with_namespace(RefusingBinding("waypost-metering", reason))

    KubernetesInfra(api, cluster()).ensure_namespace(SPACE, ROOM)

    kinds = {kind for kind, _ in api.held}
    assert {"NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget"} <= kinds


@pytest.mark.parametrize(
    ("name", "reason"),
    [("waypost-metering", "ClusterBusy"), ("waypost-worker", "AdmissionRefused")],
)
def test_any_other_refusal_of_a_binding_ends_the_pass(name: str, reason: str) -> None:
    api = with_namespace(RefusingBinding(name, reason))

    with pytest.raises(InfraError, match=name):
        KubernetesInfra(api, cluster()).ensure_namespace(SPACE, ROOM)


@pytest.mark.parametrize("reason", ["PullSecretMissing", "PullSecretUnfit", "ClusterForbidden"])
def test_a_space_that_serves_goes_on_without_a_new_pull_secret(reason: str) -> None:
    api = with_namespace(PullSecret(reason))
    infra = KubernetesInfra(api, cluster())

    with pytest.raises(InfraError) as new:
        infra.ensure_namespace(SPACE, ROOM)
    infra.ensure_instance(broker())
    infra.ensure_namespace(SPACE, ROOM)

    assert new.value.reason == reason
    assert ("Secret", "pull-pull") not in api.held


def test_a_cluster_that_is_busy_is_asked_again_for_the_pull_secret() -> None:
    infra = KubernetesInfra(with_namespace(PullSecret("ClusterBusy")), cluster())
    infra.ensure_instance(broker())

    with pytest.raises(InfraError) as busy:
        infra.ensure_namespace(SPACE, ROOM)

    assert busy.value.reason == "ClusterBusy"


class PullSecret(Limited):
    """Has no original to copy, for a reason."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._why = reason
        if reason == "PullSecretUnfit":
            self.held["Secret", "pull"] = {"metadata": {"name": "pull"}, "type": "Opaque"}

    def find(self, resource: Resource, namespace: str | None, name: str) -> Manifest | None:
        if resource is resources.SECRET and self._why.startswith("Cluster"):
            raise InfraError(name, reason=self._why, retry=False)
        return super().find(resource, namespace, name)


class Bound(Limited):
    """Lets the worker look into a namespace where it is bound; its binding takes a moment."""

    looks = 0

    def list(
        self,
        resource: Resource,
        namespace: str | None,
        selector: Mapping[str, str],
        fields: Mapping[str, str] | None = None,
    ) -> Sequence[Manifest]:
        if resource in (resources.POD, resources.STATEFUL_SET):
            self.looks += ("RoleBinding", "waypost-worker") in self.held
            if self.looks < 2:
                raise InfraError("rights", reason="ClusterForbidden", retry=False)
        return super().list(resource, namespace, selector, fields)


def test_rights_that_were_taken_away_are_given_again_to_look() -> None:
    """A space that ends makes no namespace, and so no binding, by itself."""
    api = with_namespace(Bound())
    infra = KubernetesInfra(api, cluster())

    with pytest.raises(InfraError) as coming:
        infra.list_instances(SPACE)

    assert (coming.value.reason, coming.value.retry) == ("RightsPending", True)
    assert infra.list_instances(SPACE) == []


def test_rights_that_nobody_gives_are_told() -> None:
    infra = KubernetesInfra(with_namespace(Limited(resources.POD)), cluster())

    with pytest.raises(InfraError, match="does not apply the worker's new rights"):
        infra.list_instances(SPACE)
    with pytest.raises(InfraError, match="Pod"):
        infra.list_instances(SPACE)
