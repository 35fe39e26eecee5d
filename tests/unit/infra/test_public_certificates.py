"""Certificates of an issuer are taken back where another source is chosen, if there can be any."""

from collections.abc import Mapping

import pytest

from tests.unit.infra.places import SPACE
from workers.infra.base import InfraError
from workers.infra.kubernetes import public_certificates
from workers.infra.kubernetes.resources import Manifest, Resource
from workers.infra.kubernetes.snapshot import Snapshot


class Refusing(Snapshot):
    """Of a cluster that answers every question with the same refusal."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def of(self, resource: Resource) -> Mapping[str, Manifest]:
        raise InfraError(resource.kind, reason=self._reason, retry=False)


def test_a_right_that_is_not_used_need_not_be_there() -> None:
    public_certificates.forget(Refusing("ClusterForbidden"), SPACE)


def test_any_other_refusal_is_told() -> None:
    with pytest.raises(InfraError, match="Certificate"):
        public_certificates.forget(Refusing("ClusterBusy"), SPACE)
