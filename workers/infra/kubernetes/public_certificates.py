"""What public listeners present where that is not of the space's authority: supplied, or issued.

A supplied certificate is one secret of the control namespace, read by its name. An issued one is
made by cert-manager from a ``Certificate`` for each space, and kept in a secret beside it. Neither
is mounted: the worker checks what it finds and gives it to the instances among their files.
Source of fields: cert-manager API reference, ``cert-manager.io/v1``.
"""

import ipaddress
from base64 import b64decode
from typing import Any

from workers.infra.base import CertificateProblem, GivenCertificate, InfraError, Namespace
from workers.infra.kubernetes import labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Issuer
from workers.infra.kubernetes.resources import Manifest
from workers.infra.kubernetes.snapshot import Snapshot

NAME = "messaging"
SECRET = f"{NAME}-tls"  # no instance has this name


def build(issuer: Issuer, namespace: Namespace, host: str) -> Manifest:
    """Return what asks cert-manager for a certificate of the space's public host."""
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
    """Return what cert-manager made of ``wanted``, asking for it first.

    Raises:
        CertificateProblem: ``CertManagerMissing``, ``CertificatePending`` until it is issued, or
            what the cluster says against the ``Certificate``.
    """
    try:
        live = snapshot.ensure(wanted)
    except InfraError as error:
        raise _refused(error) from error
    where = f"{wanted['metadata']['namespace']}/{NAME}"
    said = _ready_message(live) or "It has said nothing about it yet."
    secret = snapshot.of(resources.SECRET).get(SECRET)
    if secret is None or not (secret.get("data") or {}).get("tls.crt"):
        raise CertificateProblem(
            f"Waiting for cert-manager to issue the certificate {where}. It says: {said}",
            reason="CertificatePending",
            retry=True,
        )
    remedy = f"cert-manager replaces it: see what keeps it from that. It says: {said}"
    return _given(secret, f"the secret {where}-tls of cert-manager", remedy)


def _refused(error: InfraError) -> CertificateProblem:
    """Return the refusal of a ``Certificate`` as one of the certificate alone: spaces serve on."""
    if error.reason != "KindMissing":
        return CertificateProblem(str(error), reason=error.reason, retry=error.retry)
    return CertificateProblem(
        "cert-manager is not installed in the cluster, so nobody issues certificates: install "
        "it, or choose another source in `spaces.endpoint.certificate`.",
        reason="CertManagerMissing",
        retry=False,
    )


def forget(snapshot: Snapshot, namespace: Namespace) -> None:
    """Take back what was asked of cert-manager, if anything was, and what it made. Idempotent."""
    ours = labels.of_space(namespace)
    try:
        # The certificate first, or its maker would make the secret again.
        snapshot.prune(resources.CERTIFICATE, (), ours)
    except InfraError as error:
        if error.reason != "ClusterForbidden":
            raise
        return  # who may not look at them made none; nobody needs a right that is not used
    others = [each for each in snapshot.of(resources.SECRET) if each != SECRET]
    snapshot.prune(resources.SECRET, others, ours)


def supplied(api: Api, namespace: str, name: str) -> GivenCertificate:
    """Return the certificate that the operator put into the secret.

    Raises:
        CertificateProblem: ``CertificateMissing`` or ``CertificateForbidden``.
    """
    source = f"the secret {namespace}/{name}"
    try:
        secret = api.find(resources.SECRET, namespace, name)
    except InfraError as error:
        if error.reason != "ClusterForbidden":
            raise
        told = f"The worker may not read {source}: give it the right `get` on that name."
        raise CertificateProblem(told, reason="CertificateForbidden", retry=False) from error
    if secret is None:
        told = f"There is no certificate: put one into {source}, as tls.crt and tls.key."
        raise CertificateProblem(told, reason="CertificateMissing", retry=False)
    return _given(secret, source, "Put another one there.")


def _names(host: str) -> dict[str, list[str]]:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return {"dnsNames": [host]}
    return {"ipAddresses": [host]}


def _ready_message(certificate: Manifest) -> str:
    conditions: list[dict[str, Any]] = certificate.get("status", {}).get("conditions") or []
    return next((each.get("message", "") for each in conditions if each["type"] == "Ready"), "")


def _given(secret: Manifest, source: str, remedy: str) -> GivenCertificate:
    held = secret.get("data") or {}
    # What is no text is no PEM: the check says so, with the place.
    key, certificate, authority = (
        b64decode(held.get(name, "")).decode(errors="replace")
        for name in ("tls.key", "tls.crt", "ca.crt")
    )
    return GivenCertificate(key, certificate, authority, source, remedy)
