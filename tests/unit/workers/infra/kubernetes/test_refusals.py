"""Each answer of the API becomes a reason, words that say what to do, and whether to wait."""

import pytest

from workers.infra.kubernetes import refusals
from workers.infra.kubernetes.refusals import Refusal

NOT_OURS = "the worker touches only what carries the labels of Waypost"
CONFLICT = {
    "message": "Apply failed with 1 conflict",
    "details": {
        "causes": [
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "gitops" using apps/v1',
                "field": ".spec.replicas",
            }
        ]
    },
}


@pytest.mark.parametrize(
    ("status", "said", "reason", "retry"),
    [
        (401, "Unauthorized", "ClusterCredentials", False),
        (403, 'secrets is forbidden: User "x" cannot create', "ClusterForbidden", False),
        (403, "exceeded quota: team, requested: pods=1", "ClusterQuota", False),
        (403, "unable to create: namespace x is being terminated", "NamespaceEnding", True),
        (403, 'violates PodSecurity "restricted:latest"', "PodSecurity", False),
        (400, 'admission webhook "policy.example" denied the request', "AdmissionRefused", False),
        (403, "status unknown for quota: x, resources: pods", "QuotaPending", True),
        (500, 'failed calling webhook "policy.example": timeout', "AdmissionUnanswered", True),
        (422, "ValidatingAdmissionPolicy 'p' denied request", "AdmissionRefused", False),
        (422, f"ValidatingAdmissionPolicy 'w' denied: {NOT_OURS}", "LabelsMissing", False),
        (422, 'RoleBinding "x" is invalid: cannot change roleRef', "BindingOfAnother", False),
        (404, 'namespaces "x" not found', "NamespaceMissing", True),
        (404, "the server could not find the requested resource", "KindMissing", False),
        (409, "the object has been modified", "ClusterConflict", True),
        (422, 'StatefulSet "broker-0" is invalid: spec.serviceName', "ObjectRefused", False),
        (418, "?", "ClusterRefused", False),
        (429, "too many requests", "ClusterBusy", True),
        (500, "etcdserver: leader changed", "ClusterBusy", True),
        (504, "timeout", "ClusterBusy", True),
    ],
)
def test_an_answer_says_what_to_do(status: int, said: str, reason: str, retry: bool) -> None:
    error = refusals.explain(status, Refusal(message=said), "Secret wp-x/broker-0")

    assert (error.reason, error.retry) == (reason, retry)
    assert str(error).startswith("Secret wp-x/broker-0: ")
    assert str(error).endswith(f"The cluster said: {said}")


def test_a_conflict_names_the_other_applier_and_the_field() -> None:
    error = refusals.explain(409, Refusal.of(CONFLICT), "StatefulSet wp-x/broker-0")

    assert (error.reason, error.retry) == ("FieldConflict", False)
    assert ".spec.replicas also belong(s) to gitops" in str(error)
    assert refusals.conflicting_managers(Refusal.of(CONFLICT)) == {"gitops"}
    assert refusals.conflicting_managers(Refusal(message="other")) == frozenset()


def test_a_long_answer_is_cut() -> None:
    assert len(str(refusals.explain(500, Refusal(message="x" * 9000), "Pod"))) < 600


@pytest.mark.parametrize("body", [{"message": 5}, {"message": "no", "details": []}])
def test_an_answer_of_another_form_is_quoted(body: dict[str, object]) -> None:
    assert str(body) in str(refusals.explain(500, Refusal.of(body), "Pod"))
