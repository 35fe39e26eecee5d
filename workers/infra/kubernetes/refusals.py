"""What the cluster's API refuses, in words that say what to do. Pure.

Source: Kubernetes API conventions, "Response Status Kind" (code, reason, message, details.causes).
"""

import re
from collections.abc import Mapping
from typing import Any

from workers.infra.base import InfraError

_MANAGER = re.compile(r'conflict with "([^"]+)"')
_LONGEST = 400


def conflicting_managers(refusal: Mapping[str, Any]) -> frozenset[str]:
    """Return the field managers in the way of an apply that answered 409; empty for other 409s."""
    causes = (refusal.get("details") or {}).get("causes") or []
    found = (
        _MANAGER.search(each.get("message", ""))
        for each in causes
        if each.get("reason") == "FieldManagerConflict"
    )
    return frozenset(match[1] for match in found if match)


def explain(status: int, refusal: Mapping[str, Any], what: str) -> InfraError:
    """Return the error of an answer that is no success; ``what`` names the object."""
    said = str(refusal.get("message", ""))[:_LONGEST]
    managers = conflicting_managers(refusal)
    if managers:
        return InfraError(
            f"{what}: {_fields(refusal)} also belong(s) to {', '.join(sorted(managers))}, which "
            "applies them too. Take them out of what that applies, or out of its managed fields.",
            reason="FieldConflict",
            retry=False,
        )
    reason, advice, retry = _judge(status, said)
    return InfraError(f"{what}: {advice} The cluster said: {said}", reason=reason, retry=retry)


def why_not_made(said: str) -> str:
    """Return why the cluster does not make a pod, in words; empty where that passes by itself.

    ``said``: what its controller says in an event.
    """
    reason, advice, _ = _judge(_UNTOLD, said)
    if reason in _PASSING:
        return ""
    return f"its pod is not made: {advice} The cluster said: {said[:_LONGEST]}".rstrip(".")


def _judge(status: int, said: str) -> tuple[str, str, bool]:
    """Return the reason, what to do about it, and whether waiting can help."""
    if "could not find the requested resource" in said or "404 page not found" in said:
        return "KindMissing", _KIND_MISSING, False
    if "is being terminated" in said:
        return "NamespaceEnding", "its namespace is still ending.", True
    if "status unknown for quota" in said:
        return "QuotaPending", "the cluster still counts what its quota allows.", True
    if "failed calling webhook" in said:
        advice = "a webhook of the cluster does not answer: mend it, or exempt spaces from it."
        return "AdmissionUnanswered", advice, True
    if "exceeded quota" in said:
        return "ClusterQuota", "a quota of the cluster is used up: raise it, or make room.", False
    if "touches only what carries the labels" in said:  # charts/waypost, rights/admission-policy
        return "LabelsMissing", _LABELS_MISSING, False
    if "cannot change roleRef" in said:  # Source: Kubernetes documentation, "Using RBAC"
        advice = "no binding can change its role: delete it, and Waypost makes it anew."
        return "BindingOfAnother", advice, False
    if "admission webhook" in said or "ValidatingAdmissionPolicy" in said:
        return "AdmissionRefused", "a policy of the cluster refuses it: allow it there.", False
    if "violates PodSecurity" in said:
        return "PodSecurity", _POD_SECURITY, False
    return _STATUS.get(status, _OTHER if status < 500 else _BUSY)


_UNTOLD = 0  # an event tells no status
_PASSING = frozenset({"QuotaPending", "NamespaceEnding"})
_BUSY = ("ClusterBusy", "the cluster's API is busy; Waypost tries again.", True)
_OTHER = ("ClusterRefused", "the cluster refuses it: mend what it names.", False)
_KIND_MISSING = (
    "the cluster does not serve this kind in the version that Waypost uses: install what brings "
    "it, or a newer release of that (docs/operate/install.md)."
)
_LABELS_MISSING = (
    "it does not carry Waypost's labels. If it is Waypost's, put app.kubernetes.io/part-of=waypost "
    "and app.kubernetes.io/managed-by=waypost back; if it is somebody else's, give that another "
    "name."
)
_OBJECT_REFUSED = (
    "the cluster cannot accept a field of it: look at the image, the endpoint and its annotations "
    "in the chart's values."
)
_POD_SECURITY = (
    "the cluster's pod security refuses it: on OpenShift set `platform: openshift`; elsewhere "
    "`spaces.user` and `spaces.group` must not be 0."
)
_STATUS = {
    401: (
        "ClusterCredentials",
        "the worker's credentials are not accepted: renew its service account's token.",
        False,
    ),
    403: (
        "ClusterForbidden",
        "the worker lacks a right: compare its roles with docs/operate/rights.md.",
        False,
    ),
    404: ("NamespaceMissing", "its namespace is not there; Waypost makes it again.", True),
    409: ("ClusterConflict", "it changed meanwhile; Waypost looks again.", True),
    422: ("ObjectRefused", _OBJECT_REFUSED, False),
    429: _BUSY,
}


def _fields(refusal: Mapping[str, Any]) -> str:
    causes = (refusal.get("details") or {}).get("causes") or []
    return ", ".join(sorted({str(each.get("field")) for each in causes}))
