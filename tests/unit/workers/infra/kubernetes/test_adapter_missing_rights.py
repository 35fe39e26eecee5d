"""Rights that an installation has not given, and what goes on without them all the same."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from kubernetes.client import ApiClient

from controlplane.core.reasons import Reason
from tests.support.infra.places import BUDGET, SPACE, broker, cluster, live
from workers.infra.base import InfraError
from workers.infra.kubernetes import isolation, resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.public_certificates import CERTIFICATE
from workers.infra.kubernetes.reported import Files, Reported
from workers.infra.kubernetes.resources import Applied, ReportedT, Resource, name_of


class Limited(Api):
    """A cluster in memory that refuses some kinds altogether."""

    def __init__(
        self, *forbidden: Resource[Reported], reason: Reason = Reason.CLUSTER_FORBIDDEN
    ) -> None:
        super().__init__(ApiClient())
        self._forbidden = forbidden
        self._reason = reason
        self.held: dict[tuple[str, str], Reported] = {}

    def _check(self, resource: Resource[Reported]) -> None:
        if resource in self._forbidden:
            raise InfraError(resource.kind, reason=self._reason, retry=False)

    def find(
        self, resource: Resource[ReportedT], namespace: str | None, name: str
    ) -> ReportedT | None:
        self._check(resource)
        return cast(ReportedT | None, self.held.get((resource.kind, name)))

    def list(
        self,
        resource: Resource[ReportedT],
        namespace: str | None,
        selector: Mapping[str, str],
        fields: Mapping[str, str] | None = None,
    ) -> Sequence[ReportedT]:
        self._check(resource)
        found: list[Any] = [
            held
            for (kind, _), held in self.held.items()
            if kind == resource.kind and selector.items() <= held.metadata.labels.items()
        ]
        return found

    def apply(self, wanted: Applied) -> Reported:
        self._check(resources.of(wanted))
        found = live(wanted)
        self.held[(found.kind, found.name)] = found
        return found

    def delete(self, resource: Resource[Reported], namespace: str | None, name: str) -> bool:
        self._check(resource)
        return self.held.pop((resource.kind, name), None) is None


def with_namespace(api: Limited) -> Limited:
    api.apply(isolation.namespace_object(SPACE))
    return api


def test_an_endpoint_is_removed_without_the_right_to_certificates() -> None:
    api = with_namespace(Limited(CERTIFICATE))
    infra = KubernetesInfra(api, cluster())
    with infra.open(SPACE) as session:
        session.ensure_endpoint("broker-0")
    assert ("Service", "messaging") in api.held

    with infra.open(SPACE) as session:
        session.delete_endpoint()

    assert {kind for kind, _ in api.held} == {"Namespace"}


def test_any_other_refusal_of_certificates_keeps_the_space() -> None:
    api = with_namespace(Limited(CERTIFICATE, reason=Reason.CLUSTER_BUSY))

    with pytest.raises(InfraError, match="Certificate"):
        with KubernetesInfra(api, cluster()).open(SPACE) as session:
            session.delete_endpoint()


def test_an_instance_comes_without_the_right_to_events() -> None:
    infra = KubernetesInfra(with_namespace(Limited(resources.EVENT)), cluster())

    with infra.open(SPACE) as session:
        status = session.ensure_instance(broker())

    assert (status.running, status.trouble) == (False, "")


def test_any_other_refusal_of_events_is_told() -> None:
    busy = Limited(resources.EVENT, reason=Reason.CLUSTER_BUSY)

    with pytest.raises(InfraError, match="Event"):
        with KubernetesInfra(with_namespace(busy), cluster()).open(SPACE) as session:
            session.ensure_instance(broker())


class RefusingBinding(Limited):
    """Refuses one role binding, as a policy or a role of a former version does."""

    def __init__(self, name: str, reason: Reason) -> None:
        super().__init__()
        self._name = name
        self._why = reason
        original = {"metadata": {"name": "pull"}, "type": "kubernetes.io/dockercfg", "data": {}}
        self.held["Secret", "pull"] = Files.of(original)

    def apply(self, wanted: Applied) -> Reported:
        if resources.of(wanted) is resources.ROLE_BINDING and name_of(wanted) == self._name:
            raise InfraError(self._name, reason=self._why, retry=False)
        return super().apply(wanted)


@pytest.mark.parametrize("reason", [Reason.CLUSTER_FORBIDDEN, Reason.ADMISSION_REFUSED])
def test_spaces_go_on_where_metering_may_not_be_bound(reason: Reason) -> None:
    api = with_namespace(RefusingBinding("waypost-metering", reason))

    with KubernetesInfra(api, cluster()).open(SPACE) as session:
        session.ensure_namespace(BUDGET)

    kinds = {kind for kind, _ in api.held}
    assert {"NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget"} <= kinds


@pytest.mark.parametrize(
    ("name", "reason"),
    [("waypost-metering", Reason.CLUSTER_BUSY), ("waypost-worker", Reason.ADMISSION_REFUSED)],
)
def test_any_other_refusal_of_a_binding_ends_the_pass(name: str, reason: Reason) -> None:
    api = with_namespace(RefusingBinding(name, reason))

    with pytest.raises(InfraError, match=name):
        with KubernetesInfra(api, cluster()).open(SPACE) as session:
            session.ensure_namespace(BUDGET)


@pytest.mark.parametrize(
    "reason", [Reason.PULL_SECRET_MISSING, Reason.PULL_SECRET_UNFIT, Reason.CLUSTER_FORBIDDEN]
)
def test_a_space_that_serves_goes_on_without_a_new_pull_secret(reason: Reason) -> None:
    api = with_namespace(PullSecret(reason))
    infra = KubernetesInfra(api, cluster())

    with pytest.raises(InfraError) as new:
        with infra.open(SPACE) as session:
            session.ensure_namespace(BUDGET)
    with infra.open(SPACE) as session:
        session.ensure_instance(broker())
    with infra.open(SPACE) as session:
        session.ensure_namespace(BUDGET)

    assert new.value.reason == reason
    assert ("Secret", "pull-pull") not in api.held


def test_a_cluster_that_is_busy_is_asked_again_for_the_pull_secret() -> None:
    infra = KubernetesInfra(with_namespace(PullSecret(Reason.CLUSTER_BUSY)), cluster())
    with infra.open(SPACE) as session:
        session.ensure_instance(broker())

    with pytest.raises(InfraError) as busy:
        with infra.open(SPACE) as session:
            session.ensure_namespace(BUDGET)

    assert busy.value.reason == Reason.CLUSTER_BUSY


class PullSecret(Limited):
    """Has no original to copy, for a reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__()
        self._why = reason
        if reason == Reason.PULL_SECRET_UNFIT:
            unfit = {"metadata": {"name": "pull"}, "type": "Opaque"}
            self.held["Secret", "pull"] = Files.of(unfit)

    def find(
        self, resource: Resource[ReportedT], namespace: str | None, name: str
    ) -> ReportedT | None:
        if resource.kind == "Secret" and self._why.startswith("Cluster"):
            raise InfraError(name, reason=self._why, retry=False)
        return super().find(resource, namespace, name)


class Bound(Limited):
    """Lets the worker look into a namespace where it is bound; its binding takes a moment."""

    looks = 0

    def list(
        self,
        resource: Resource[ReportedT],
        namespace: str | None,
        selector: Mapping[str, str],
        fields: Mapping[str, str] | None = None,
    ) -> Sequence[ReportedT]:
        if resource.kind in ("Pod", "StatefulSet"):
            self.looks += ("RoleBinding", "waypost-worker") in self.held
            if self.looks < 2:
                raise InfraError("rights", reason=Reason.CLUSTER_FORBIDDEN, retry=False)
        return super().list(resource, namespace, selector, fields)


def test_rights_that_were_taken_away_are_given_again_to_look() -> None:
    """A space that ends makes no namespace, and so no binding, by itself."""
    api = with_namespace(Bound())
    infra = KubernetesInfra(api, cluster())

    with pytest.raises(InfraError) as coming:
        with infra.open(SPACE) as session:
            session.list_instances()

    assert (coming.value.reason, coming.value.retry) == (Reason.RIGHTS_PENDING, True)
    with infra.open(SPACE) as session:
        assert session.list_instances() == []


def test_rights_that_nobody_gives_are_told() -> None:
    infra = KubernetesInfra(with_namespace(Limited(resources.POD)), cluster())

    with pytest.raises(InfraError, match="does not apply the worker's new rights"):
        with infra.open(SPACE) as session:
            session.list_instances()
    with pytest.raises(InfraError, match="Pod"):
        with infra.open(SPACE) as session:
            session.list_instances()


def test_a_session_that_has_ended_reads_nothing_more() -> None:
    with KubernetesInfra(with_namespace(Limited()), cluster()).open(SPACE) as session:
        session.ensure_instance(broker())

    with pytest.raises(RuntimeError, match="has ended"):
        session.ensure_instance(broker())
    with pytest.raises(RuntimeError, match="has ended"):
        session.ensure_namespace(BUDGET)


def test_a_session_needs_no_first_call() -> None:
    """What exists is read at the first use, whichever that is."""
    infra = KubernetesInfra(with_namespace(Limited()), cluster())

    with infra.open(SPACE) as session:
        endpoint = session.ensure_endpoint("broker-0")
    with infra.open(SPACE) as session:
        session.ensure_instance(broker())

    assert endpoint.port == 5671
