"""Turn refusals of the cluster's API into errors that say what to do. Pure.

``why_not_made`` does the same for events of controllers to which the API refused a pod.
Source: Kubernetes API conventions, "Response Status Kind" (code, reason, message, details.causes).
"""

import re
from collections.abc import Sequence
from typing import Self

from pydantic import ValidationError

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError
from workers.infra.kubernetes.objects import JsonObject
from workers.infra.kubernetes.reported import Part

_MANAGER = re.compile(r'conflict with "([^"]+)"')  # who owns the field, in the server's message
_LONGEST = 400  # characters of the API server's message


class Cause(Part):
    """What is wrong with one field of a refused object."""

    reason: str = ""
    message: str = ""
    field: str = ""


class Details(Part):
    causes: Sequence[Cause] = ()


class Refusal(Part):
    """The body of an unsuccessful response of the API."""

    message: str = ""
    details: Details = Details()

    @classmethod
    def of(cls, body: JsonObject) -> Self:
        """Return the refusal in ``body``.

        A proxy before the API may answer in any other form. Then the message is the whole body.
        """
        try:
            return cls.model_validate(body)
        except ValidationError:
            return cls(message=str(body))


def conflicting_managers(refusal: Refusal) -> frozenset[str]:
    """Return the field managers that conflict with an apply (409); empty for other refusals."""
    found = (
        _MANAGER.search(cause.message)
        for cause in refusal.details.causes
        if cause.reason == "FieldManagerConflict"
    )
    return frozenset(match[1] for match in found if match)


def explain(status: int, refusal: Refusal, what: str) -> InfraError:
    """Return (not raise) the error for an unsuccessful response.

    ``status`` is the HTTP status. ``what`` names the object in the error's message.
    """
    message = refusal.message[:_LONGEST]
    managers = conflicting_managers(refusal)
    if managers:
        fields = ", ".join(sorted({cause.field for cause in refusal.details.causes}))
        return InfraError(
            f"{what}: {fields} also belong(s) to {', '.join(sorted(managers))}, which "
            "applies them too. Remove them from what that manager applies, or from its managed "
            "fields.",
            reason=Reason.FIELD_CONFLICT,
            retry=False,
        )
    reason, advice, retry = _classify(status, message)
    return InfraError(f"{what}: {advice} The cluster said: {message}", reason=reason, retry=retry)


def why_not_made(message: str) -> str:
    """Return why the cluster does not create a pod, and what to do about it.

    ``message`` is that of the controller's event. Empty if the reason passes by itself.
    """
    reason, advice, _ = _classify(_NO_STATUS, message)
    if reason in _PASSING:
        return ""
    return f"its pod is not created: {advice} The cluster said: {message[:_LONGEST]}".rstrip(".")


def _classify(status: int, message: str) -> tuple[Reason, str, bool]:
    """Return a refusal's reason, what to do about it, and whether a later retry can succeed."""
    # By text first, because the API gives most of these refusals the same status. Then by status.
    if "could not find the requested resource" in message or "404 page not found" in message:
        return Reason.KIND_MISSING, _KIND_MISSING, False
    if "is being terminated" in message:
        return Reason.NAMESPACE_ENDING, "its namespace is still ending.", True
    if "status unknown for quota" in message:
        return Reason.QUOTA_PENDING, "the cluster is still computing the usage of a quota.", True
    if "failed calling webhook" in message:
        advice = "a webhook of the cluster does not answer: fix it, or exempt spaces from it."
        return Reason.ADMISSION_UNANSWERED, advice, True
    if "exceeded quota" in message:
        return (
            Reason.CLUSTER_QUOTA,
            "a quota of the cluster is used up: raise it, or free resources.",
            False,
        )
    if "touches only what carries the labels" in message:  # charts/waypost, rights/admission-policy
        return Reason.LABELS_MISSING, _LABELS_MISSING, False
    if "cannot change roleRef" in message:  # Source: Kubernetes documentation, "Using RBAC"
        advice = "no binding can change its role: delete it, and Waypost creates it again."
        return Reason.BINDING_OF_ANOTHER, advice, False
    if "admission webhook" in message or "ValidatingAdmissionPolicy" in message:
        return (
            Reason.ADMISSION_REFUSED,
            "a policy of the cluster refuses it: allow it there.",
            False,
        )
    if "violates PodSecurity" in message:
        return Reason.POD_SECURITY, _POD_SECURITY, False
    return _STATUS.get(status, _OTHER if status < 500 else _BUSY)


_NO_STATUS = 0  # events have no HTTP status
# These end without anybody's help.
_PASSING = frozenset({Reason.QUOTA_PENDING, Reason.NAMESPACE_ENDING})
_BUSY = (Reason.CLUSTER_BUSY, "the cluster's API is busy; Waypost tries again.", True)
_OTHER = (Reason.CLUSTER_REFUSED, "the cluster refuses it: fix what its message names.", False)
_KIND_MISSING = (
    "the cluster does not serve this kind in the version that Waypost uses: install the software "
    "that provides it, or a newer release (docs/operate/install.md)."
)
_LABELS_MISSING = (
    "it does not carry Waypost's labels. If it is Waypost's, put app.kubernetes.io/part-of=waypost "
    "and app.kubernetes.io/managed-by=waypost back; if it is somebody else's, give that another "
    "name."
)
_OBJECT_REFUSED = (
    "the cluster cannot accept a field of it: check the image, the endpoint and its annotations "
    "in the chart's values."
)
_POD_SECURITY = (
    "the cluster's pod security refuses it: on OpenShift set `platform: openshift`; elsewhere "
    "`spaces.user` and `spaces.group` must not be 0."
)
# Status of HTTP -> reason, advice, whether it may pass by itself.
_STATUS = {
    401: (
        Reason.CLUSTER_CREDENTIALS,
        "the worker's credentials are not accepted: renew its service account's token.",
        False,
    ),
    403: (
        Reason.CLUSTER_FORBIDDEN,
        "the worker lacks a right: compare its roles with docs/operate/rights.md.",
        False,
    ),
    404: (
        Reason.NAMESPACE_MISSING,
        "its namespace does not exist; Waypost creates it again.",
        True,
    ),
    409: (Reason.CLUSTER_CONFLICT, "it changed in the meantime; Waypost tries again.", True),
    422: (Reason.OBJECT_REFUSED, _OBJECT_REFUSED, False),
    429: _BUSY,
}
