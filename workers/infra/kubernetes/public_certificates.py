"""Fetch the certificates of public listeners that the space's own authority does not sign.

There are two sources (``cluster.CertificateSource``):

* ``secret``: the operator stores one certificate for all spaces in a Secret of the control
  namespace. ``supplied`` reads it.
* ``issuer``: cert-manager issues one for each space. Waypost applies a ``Certificate`` in the
  space's namespace (``build``), and cert-manager writes a Secret there (``issued``).

No pod mounts these Secrets. The worker checks the certificate and adds it to the instances' files.
Source of fields: cert-manager API reference, ``cert-manager.io/v1``.
"""

import ipaddress
from base64 import b64decode

from controlplane.core.reasons import Reason
from workers.infra.base import CertificateProblem, GivenCertificate, InfraError, Namespace
from workers.infra.kubernetes import labels, reported, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Issuer
from workers.infra.kubernetes.endpoints.kind import NAME
from workers.infra.kubernetes.objects import space_metadata
from workers.infra.kubernetes.reported import WithConditions
from workers.infra.kubernetes.resources import ForeignObject, ForeignPart, Resource
from workers.infra.kubernetes.snapshot import Snapshot

SECRET = f"{NAME}-tls"  # no instance has this name


CERTIFICATE = Resource(
    "Certificate",
    "cert-manager.io/v1",
    "certificates",
    WithConditions,
    closed=frozenset({"/spec"}),
)


class SecretTemplate(ForeignPart):
    labels: dict[str, str]


class IssuerRef(ForeignPart):
    group: str
    kind: str
    name: str


class PrivateKey(ForeignPart):
    algorithm: str
    size: int
    encoding: str
    rotation_policy: str


class CertificateSpec(ForeignPart):
    secret_name: str
    secret_template: SecretTemplate
    issuer_ref: IssuerRef
    dns_names: list[str] | None = None
    ip_addresses: list[str] | None = None
    usages: list[str]
    private_key: PrivateKey


class Certificate(ForeignObject):
    """A request to cert-manager for a certificate, and for its renewal before it expires."""

    resource = CERTIFICATE

    spec: CertificateSpec


def build(issuer: Issuer, namespace: Namespace, host: str) -> Certificate:
    """Return the ``Certificate`` object that asks cert-manager for a certificate for ``host``.

    ``host`` is the space's public host name or IP address.
    """
    is_address = _is_ip_address(host)
    return Certificate(
        metadata=space_metadata(namespace, NAME),
        spec=CertificateSpec(
            secret_name=SECRET,
            secret_template=SecretTemplate(labels=labels.of_space(namespace)),
            issuer_ref=IssuerRef(group="cert-manager.io", kind=issuer.kind.value, name=issuer.name),
            # A load balancer may have an IP address and no host name.
            dns_names=None if is_address else [host],
            ip_addresses=[host] if is_address else None,
            usages=["digital signature", "server auth"],
            private_key=PrivateKey(
                algorithm="ECDSA", size=256, encoding="PKCS8", rotation_policy="Always"
            ),
        ),
    )


def issued(snapshot: Snapshot, wanted: Certificate) -> GivenCertificate:
    """Apply the ``Certificate``; return the key and certificate that cert-manager has issued.

    Idempotent.

    Raises:
        CertificateProblem: ``CertManagerMissing``; ``CertificatePending`` until it is issued; or
            the reason why the ``Certificate`` cannot be applied.
    """
    try:
        live = snapshot.ensure(wanted)
    except InfraError as error:
        # As a CertificateProblem, which does not stop a space that serves.
        if error.reason != Reason.KIND_MISSING:
            raise CertificateProblem(str(error), reason=error.reason, retry=error.retry) from error
        raise CertificateProblem(
            "cert-manager is not installed in the cluster, so no certificate is issued: install "
            "it, or choose another source in `spaces.endpoint.certificate`.",
            reason=Reason.CERT_MANAGER_MISSING,
            retry=False,
        ) from error
    where = f"{live.metadata.namespace}/{NAME}"
    conditions = live.status.conditions if isinstance(live, WithConditions) else ()
    messages = [condition.message for condition in conditions if condition.type == "Ready"]
    report = next(iter(messages), "") or "nothing yet."
    secret = snapshot.of(resources.SECRET).get(SECRET)
    if secret is None or not secret.data.get("tls.crt"):
        raise CertificateProblem(
            f"Waiting for cert-manager to issue the certificate {where}. It reports: {report}",
            reason=Reason.CERTIFICATE_PENDING,
            retry=True,
        )
    remedy = f"cert-manager should replace it: find out why it does not. It reports: {report}"
    return _given(secret, f"the secret {where}-tls of cert-manager", remedy)


def forget(snapshot: Snapshot, namespace: Namespace) -> None:
    """Delete the space's ``Certificate`` and its Secret, if there are any. Idempotent.

    Sessions call it if the installation does not use cert-manager, or no longer does. Nothing is
    deleted if the worker may not list Certificates.
    """
    ours = labels.of_space(namespace)
    try:
        # The Certificate first; otherwise cert-manager creates the secret again.
        snapshot.prune(CERTIFICATE, (), ours)
    except InfraError as error:
        if error.reason != Reason.CLUSTER_FORBIDDEN:
            raise
        return  # without the right to list Certificates the worker never created one
    others = [name for name in snapshot.of(resources.SECRET) if name != SECRET]
    snapshot.prune(resources.SECRET, others, ours)


def supplied(api: Api, namespace: str, name: str) -> GivenCertificate:
    """Return the key pair that the operator stored in the Secret ``namespace``/``name``.

    The key pair is not checked here. Entries that the Secret lacks are empty.

    Raises:
        CertificateProblem: ``CertificateMissing`` or ``CertificateForbidden``.
        InfraError: the cluster does not answer, or refuses for another reason.
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


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _given(secret: reported.Files, source: str, remedy: str) -> GivenCertificate:
    # Bytes that are not text are not PEM either; the check of the certificate reports that.
    key, certificate, authority = (
        b64decode(secret.data.get(name, "")).decode(errors="replace")
        for name in ("tls.key", "tls.crt", "ca.crt")
    )
    return GivenCertificate(key, certificate, authority, source, remedy)
