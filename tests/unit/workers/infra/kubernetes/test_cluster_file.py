"""The description of the cluster: read whole, or refused with every mistake named."""

from pathlib import Path

import pytest

from controlplane.core.errors import Invalid
from workers.infra.kubernetes import cluster_file
from workers.infra.kubernetes.cluster import Identity, Issuer, IssuerKind, Pods

GOOD = """
installation: waypost.waypost
images: {broker: example/broker:1, pull_secrets: [one]}
control_namespace: waypost
worker_account: waypost-worker
space_role: waypost-space
metering_account: waypost-metering
metering_role: waypost-metering
worker: {namespace: waypost, labels: {a: b}}
auth_service: {namespace: waypost, labels: {a: c}}
auth_port: 5671
endpoint: {kind: ingress, domain: mq.example.org}
identity: {user: null, group: null}
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_text(text)
    return path


def test_a_good_file_is_the_cluster(tmp_path: Path) -> None:
    found = cluster_file.load(write(tmp_path, GOOD))

    assert found.worker == Pods("waypost", {"a": "b"})
    assert found.endpoint.kind == "ingress"
    assert found.identity == Identity(None, None)
    assert list(found.images.pull_secrets) == ["one"]
    assert found.storage.size_gb == 5


def test_where_certificates_come_from_is_read(tmp_path: Path) -> None:
    chosen = "{source: issuer, secret: '', issuer: {kind: Issuer, name: own}}"
    text = GOOD.replace("domain: mq.example.org", f"domain: mq.example.org, certificate: {chosen}")

    found = cluster_file.load(write(tmp_path, text)).endpoint.certificate

    assert (found.source, found.issuer) == ("issuer", Issuer(IssuerKind.ISSUER, "own"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD.replace("kind: ingress", "certificate: {source: x}"), "endpoint.certificate.source"),
        (
            GOOD.replace("kind: ingress", "certificate: {source: secret}"),
            "endpoint.certificate: Value error, the source secret needs certificate.secret",
        ),
        (
            GOOD.replace("kind: ingress", "certificate: {source: issuer, secret: x}"),
            "endpoint.certificate: Value error, the source issuer needs certificate.issuer.name",
        ),
        (GOOD.replace("broker:", "brooker:"), "images.brooker: Unexpected keyword argument"),
        (GOOD.replace("auth_port: 5671", ""), "auth_port: Field required"),
        (
            GOOD.replace("kind: ingress", "kind: ingres"),
            "endpoint.kind: Value error, Input should be one of service,",
        ),
        (
            GOOD.replace("kind: ingress, domain: mq.example.org", "kind: gateway"),
            "endpoint: Value error, the kind gateway needs domain and gateway",
        ),
        (GOOD.replace("auth_port: 5671", "auth_port: many"), "auth_port: Input should be a valid"),
        ("images: [", "cannot be read"),
        ("", "the file: "),
        ("- x", "the file: "),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(Invalid) as refused:
        cluster_file.load(write(tmp_path, text))

    assert refused.value.error_code == "cluster_file.invalid"
    assert told in refused.value.message
    assert "cluster.yaml" in refused.value.message


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        cluster_file.load(tmp_path / "none.yaml")
