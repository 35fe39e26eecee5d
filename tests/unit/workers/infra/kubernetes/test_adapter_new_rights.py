"""The moments after the worker gave itself its rights in a new namespace."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from controlplane.core.reasons import Reason
from tests.support.infra.places import live
from workers.infra.base import InfraError, Namespace, ResourceBudget
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Images, Pods
from workers.infra.kubernetes.reported import Reported
from workers.infra.kubernetes.resources import Applied, Resource

SPACE = Namespace("wp-new-1", "ten_1", "spc_1")
CLUSTER = Cluster(
    installation="waypost.waypost",
    images=Images("broker:1"),
    control_namespace="waypost",
    worker_account="worker",
    space_role="space",
    metering_account="metering",
    metering_role="metering",
    worker=Pods("waypost", {}),
    auth_service=Pods("waypost", {}),
    auth_port=5671,
)


class SlowAuthorizer:
    """An API server that knows the role binding, and still refuses what it allows."""

    def __init__(self, bound: Sequence[Reported]) -> None:
        self.bound = bound

    def find(self, resource: Resource[Reported], namespace: str | None, name: str) -> None:
        return None

    def apply(self, wanted: Applied) -> Reported:
        return live(wanted)

    def list(
        self, resource: Resource[Reported], namespace: str, selector: Mapping[str, str]
    ) -> Sequence[Reported]:
        if resource is resources.ROLE_BINDING:
            return self.bound
        raise InfraError("forbidden", reason=Reason.CLUSTER_FORBIDDEN, retry=False)


@pytest.mark.parametrize(
    ("bound", "reason", "retry"),
    [
        ([], Reason.RIGHTS_PENDING, True),
        (["waypost-metering"], Reason.RIGHTS_PENDING, True),
        (["waypost-worker"], Reason.CLUSTER_FORBIDDEN, False),
    ],
)
def test_a_refusal_is_waited_for_only_where_rights_are_new(
    bound: Sequence[str], reason: str, retry: bool
) -> None:
    bindings = [Reported.of({"metadata": {"name": name}}) for name in bound]
    infra = KubernetesInfra(cast(Api, cast(Any, SlowAuthorizer(bindings))), CLUSTER)

    with pytest.raises(InfraError) as refused:
        with infra.open(SPACE) as session:
            session.ensure_namespace(ResourceBudget(1, 128, 0))

    assert (refused.value.reason, refused.value.retry) == (reason, retry)
