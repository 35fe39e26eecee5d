"""Public listeners' certificates that the space's own authority does not sign.

* The operator supplies one certificate for all spaces, in a secret of the control namespace.
* Or cert-manager issues one for each space, from a ``Certificate`` in its namespace, into a secret
  there.

Neither secret is mounted. The worker checks the certificate and adds it to the instances' files.
Source of fields: cert-manager API reference, ``cert-manager.io/v1``.
"""

import ipaddress
from base64 import b64decode
from typing import Any

from controlplane.core.reasons import Reason
from workers.infra.base import CertificateProblem, GivenCertificate, InfraError, Namespace
from workers.infra.kubernetes import labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Issuer
from workers.infra.kubernetes.resources import Manifest
from workers.infra.kubernetes.snapshot import Snapshot

NAME = "messaging"
SECRET = f"{NAME}-tls"  # no instance has this name


def build(issuer: Issuer, namespace: Namespace, host: str) -> Manifest:
    """Return the ``Certificate`` that requests one for the space's public host."""
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {
            "name": NAME,
            "namespace": namespace.name,
            "labels": labels.of_space(namespace),
        },
        "spec": {
            "secretName": SECRET,
            "secretTemplate": {"labels": labels.of_space(namespace)},
            "issuerRef": {
                "group": "cert-manager.io",
                "kind": issuer.kind.value,
                "name": issuer.name,
            },
            **_names(host),
            "usages": ["digital signature", "server auth"],
            "privateKey": {
                "algorithm": "ECDSA",
                "size": 256,
                "encoding": "PKCS8",
                "rotationPolicy": "Always",
            },
        },
    }


def issued(snapshot: Snapshot, wanted: Manifest) -> GivenCertificate:
    """Apply the ``Certificate`` and return what cert-manager issued for it.

    Raises:
        CertificateProblem: ``CertManagerMissing``, ``CertificatePending`` until it is issued, or
            the reason why the cluster refuses the ``Certificate``.
    """
    try:
        live = snapshot.ensure(wanted)
    except InfraError as error:
        raise _refused(error) from error
    where = f"{wanted['metadata']['namespace']}/{NAME}"
    reported = _ready_message(live) or "nothing yet."
    secret = snapshot.of(resources.SECRET).get(SECRET)
    if secret is None or not (secret.get("data") or {}).get("tls.crt"):
        raise CertificateProblem(
            f"Waiting for cert-manager to issue the certificate {where}. It reports: {reported}",
            reason=Reason.CERTIFICATE_PENDING,
            retry=True,
        )
    remedy = f"cert-manager should replace it: find out why it does not. It reports: {reported}"
    return _given(secret, f"the secret {where}-tls of cert-manager", remedy)


def _refused(error: InfraError) -> CertificateProblem:
    """Return the refusal of a ``Certificate`` as an error that does not stop the space."""
    if error.reason != Reason.KIND_MISSING:
        return CertificateProblem(str(error), reason=error.reason, retry=error.retry)
    return CertificateProblem(
        "cert-manager is not installed in the cluster, so no certificate is issued: install "
        "it, or choose another source in `spaces.endpoint.certificate`.",
        reason=Reason.CERT_MANAGER_MISSING,
        retry=False,
    )


def forget(snapshot: Snapshot, namespace: Namespace) -> None:
    """Delete the space's ``Certificate`` and its secret, if there are any. Idempotent."""
    ours = labels.of_space(namespace)
    try:
        # The Certificate first; otherwise cert-manager creates the secret again.
        snapshot.prune(resources.CERTIFICATE, (), ours)
    except InfraError as error:
        if error.reason != Reason.CLUSTER_FORBIDDEN:
            raise
        return  # without the right to list Certificates the worker never created one
    others = [name for name in snapshot.of(resources.SECRET) if name != SECRET]
    snapshot.prune(resources.SECRET, others, ours)


def supplied(api: Api, namespace: str, name: str) -> GivenCertificate:
    """Return the certificate that the operator stored in the secret.

    Raises:
        CertificateProblem: ``CertificateMissing`` or ``CertificateForbidden``.
    """
    source = f"the secret {namespace}/{name}"
    try:
        secret = api.find(resources.SECRET, namespace, name)
    except InfraError as error:
        if error.reason != Reason.CLUSTER_FORBIDDEN:
            raise
        message = f"The worker may not read {source}: give it the right `get` on that name."
        raise CertificateProblem(
            message, reason=Reason.CERTIFICATE_FORBIDDEN, retry=False
        ) from error
    if secret is None:
        message = f"There is no certificate: put one into {source}, as tls.crt and tls.key."
        raise CertificateProblem(message, reason=Reason.CERTIFICATE_MISSING, retry=False)
    return _given(secret, source, "Put another one there.")


def _names(host: str) -> dict[str, list[str]]:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return {"dnsNames": [host]}
    return {"ipAddresses": [host]}


def _ready_message(certificate: Manifest) -> str:
    conditions: list[dict[str, Any]] = certificate.get("status", {}).get("conditions") or []
    return next((entry.get("message", "") for entry in conditions if entry["type"] == "Ready"), "")


def _given(secret: Manifest, source: str, remedy: str) -> GivenCertificate:
    data = secret.get("data") or {}
    # Bytes that are not text are not PEM either; the check of the certificate reports that.
    key, certificate, authority = (
        b64decode(data.get(name, "")).decode(errors="replace")
        for name in ("tls.key", "tls.crt", "ca.crt")
    )
    return GivenCertificate(key, certificate, authority, source, remedy)
