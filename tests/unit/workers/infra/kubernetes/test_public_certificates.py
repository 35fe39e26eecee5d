"""Certificates of an issuer are taken back where another source is chosen, if there can be any."""

from collections.abc import Mapping

import pytest
from kubernetes.client import ApiClient

from controlplane.core.reasons import Reason
from tests.support.infra.places import SPACE
from workers.infra.base import CertificateProblem, InfraError
from workers.infra.kubernetes import public_certificates
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Issuer
from workers.infra.kubernetes.resources import ReportedT, Resource
from workers.infra.kubernetes.snapshot import Snapshot


class Refusing(Snapshot):
    """Of a cluster that answers every question with the same refusal."""

    def __init__(self, reason: Reason, *, retry: bool = False) -> None:
        super().__init__(Api(ApiClient()), SPACE.name, "waypost.waypost")
        self._reason = reason
        self._retry = retry
        self.asked: list[str] = []

    def of(self, resource: Resource[ReportedT]) -> Mapping[str, ReportedT]:
        self.asked.append(resource.kind)
        raise InfraError(resource.kind, reason=self._reason, retry=self._retry)


def test_a_right_that_is_not_used_need_not_be_there() -> None:
    refusing = Refusing(Reason.CLUSTER_FORBIDDEN)

    public_certificates.forget(refusing, SPACE)

    assert refusing.asked == ["Certificate"]


def test_any_other_refusal_is_told() -> None:
    with pytest.raises(InfraError, match="Certificate"):
        public_certificates.forget(Refusing(Reason.CLUSTER_BUSY), SPACE)


@pytest.mark.parametrize(
    ("reason", "retry"),
    [
        (Reason.ADMISSION_UNANSWERED, True),
        (Reason.CLUSTER_FORBIDDEN, False),
        (Reason.ADMISSION_ADDS, False),
        (Reason.FIELD_CONFLICT, False),
    ],
)
def test_a_refusal_of_the_certificate_ends_no_pass(reason: Reason, retry: bool) -> None:
    wanted = public_certificates.build(Issuer(name="public"), SPACE, "wp-a.example.org")

    with pytest.raises(CertificateProblem, match="Certificate") as told:
        public_certificates.issued(Refusing(reason, retry=retry), wanted)

    assert (told.value.reason, told.value.retry) == (reason, retry)
