"""Certificates for endpoints on a real API server: supplied in a secret, or by cert-manager."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from kubernetes.client import ApiClient

from tests.suites.kubernetes.conftest import BUDGET
from tests.support.kubernetes import cert_manager, chart, foreign_kinds, look
from tests.support.kubernetes.counting_api import CountingApi
from tests.support.signing import Signer
from workers.infra.base import CertificateProblem, GivenCertificate, Namespace
from workers.infra.kubernetes import public_certificates, resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import (
    CertificateChoice,
    CertificateSource,
    Cluster,
    EndpointChoice,
    Issuer,
)
from workers.infra.kubernetes.endpoints import registry

CONTROL = "waypost-certificates"
ISSUED = CertificateChoice(CertificateSource.ISSUER, issuer=Issuer(name="public"))
SUPPLIED = CertificateChoice(CertificateSource.SECRET, secret="spaces-tls")
# Hosts as they are in the certificate of a space: <namespace> stands for its namespace.
HOSTS = {
    "service": {"dnsNames": ["messaging.<namespace>.svc"]},
    "loadbalancer": {"dnsNames": ["<namespace>.mq.example.org"]},
    "nodeport": {"dnsNames": ["mq.example.org"]},
    "ingress": {"dnsNames": ["<namespace>.mq.example.org"]},
    "gateway": {"dnsNames": ["<namespace>.mq.example.org"]},
    "route": {"dnsNames": ["<namespace>.mq.example.org"]},
}


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


@pytest.fixture(scope="module")
def with_cert_manager(admin: ApiClient) -> Iterator[None]:
    with cert_manager.installed(admin):
        yield


@pytest.fixture
def at(counting: CountingApi, wanted_cluster: Cluster) -> Any:
    """Return the adapter for endpoints with certificates of a choice."""

    def make(choice: CertificateChoice, kind: str = "ingress") -> KubernetesInfra:
        endpoint = EndpointChoice(
            kind, domain="mq.example.org", gateway="edge/public", certificate=choice
        )
        cluster = replace(wanted_cluster, control_namespace=CONTROL, endpoint=endpoint)
        return KubernetesInfra(counting, cluster)

    return make


def find(infra: KubernetesInfra, namespace: Namespace) -> GivenCertificate | None:
    """One pass, as far as certificates go."""
    with infra.open(namespace) as session:
        session.ensure_namespace(BUDGET)
        endpoint = session.ensure_endpoint("broker-0")
        return session.ensure_certificate(endpoint)


def refused(infra: KubernetesInfra, namespace: Namespace) -> CertificateProblem:
    with pytest.raises(CertificateProblem) as caught:
        find(infra, namespace)
    return caught.value


def test_without_cert_manager_it_is_told_what_is_missing(at: Any, namespace: Namespace) -> None:
    problem = refused(at(ISSUED), namespace)

    assert (problem.reason, problem.retry) == ("CertManagerMissing", False)
    assert str(problem).startswith("cert-manager is not installed in the cluster")


def test_without_cert_manager_nothing_else_needs_it(at: Any, namespace: Namespace) -> None:
    assert find(at(CertificateChoice()), namespace) is None


def test_a_supplied_certificate_is_read_as_it_is_now(
    at: Any, admin: ApiClient, namespace: Namespace, signer: Signer
) -> None:
    infra = at(SUPPLIED)
    chart.make_namespace(admin, CONTROL)
    missing = refused(infra, namespace)
    held = {"tls.crt": "one", "tls.key": "key"}
    cert_manager.put_secret(admin, CONTROL, "spaces-tls", held, {})
    first = find(infra, namespace)
    cert_manager.put_secret(admin, CONTROL, "spaces-tls", {**held, "ca.crt": "issuer"}, {})
    second = find(infra, namespace)

    assert (missing.reason, missing.retry) == ("CertificateMissing", False)
    assert f"the secret {CONTROL}/spaces-tls, as tls.crt and tls.key" in str(missing)
    assert first is not None
    assert (first.certificate_pem, first.key_pem, first.authority_pem) == ("one", "key", "")
    assert second is not None
    assert second.authority_pem == "issuer"


@pytest.mark.usefixtures("with_cert_manager")
@pytest.mark.parametrize("kind", registry.REGISTRY)
def test_each_kind_of_endpoint_asks_for_its_host(
    at: Any, admin: ApiClient, api: Api, namespace: Namespace, kind: str
) -> None:
    foreign_kinds.make(admin)
    namespace = replace(namespace, name=f"wp-certificate-{kind}")

    pending = refused(at(ISSUED, kind), namespace)

    assert (pending.reason, pending.retry) == ("CertificatePending", True)
    found = look.find(api, public_certificates.CERTIFICATE, namespace.name, "messaging")
    assert found is not None
    named = {key: found["spec"][key] for key in ("dnsNames", "ipAddresses") if key in found["spec"]}
    wanted = {
        key: [name.replace("<namespace>", namespace.name) for name in names]
        for key, names in HOSTS[kind].items()
    }
    assert named == wanted


@pytest.mark.usefixtures("with_cert_manager")
def test_what_is_awaited_is_told_in_the_words_of_cert_manager(
    at: Any, api: Api, namespace: Namespace
) -> None:
    infra = at(ISSUED)
    silent = refused(infra, namespace)
    cert_manager.say(api, namespace.name, 'Issuer "public" not found')

    told = refused(infra, namespace)

    where = f"Waiting for cert-manager to issue the certificate {namespace.name}/messaging."
    assert str(silent) == f"{where} It reports: nothing yet."
    assert str(told) == f'{where} It reports: Issuer "public" not found'


@pytest.mark.usefixtures("with_cert_manager")
def test_an_issued_certificate_is_found_and_another_pass_writes_nothing(
    at: Any, admin: ApiClient, counting: CountingApi, namespace: Namespace, signer: Signer
) -> None:
    infra = at(ISSUED)
    refused(infra, namespace)
    signed = cert_manager.issue(admin, namespace.name, signer)

    found = find(infra, namespace)
    counting.calls.clear()
    again = find(infra, namespace)

    assert found is not None
    assert (found.key_pem, found.certificate_pem) == (signed.key_pem, signed.chain_pem)
    assert found.authority_pem == signer.root_pem
    assert again == found
    assert [call for call in counting.calls if call[0] != "GET"] == []
    assert len(counting.calls) == len(set(counting.calls))
    # renewed by cert-manager
    renewed = cert_manager.issue(admin, namespace.name, signer, authority=False)
    third = find(infra, namespace)
    assert third is not None
    assert (third.certificate_pem, third.authority_pem) == (renewed.chain_pem, "")


@pytest.mark.usefixtures("with_cert_manager")
def test_an_edited_or_deleted_certificate_is_repaired(
    at: Any, api: Api, namespace: Namespace
) -> None:
    infra = at(ISSUED)
    refused(infra, namespace)
    path = public_certificates.CERTIFICATE.path(namespace.name, "messaging")
    edited = {
        "dnsNames": ["elsewhere.example.org"],
        "issuerRef": {"name": "other"},
        "emailAddresses": ["somebody@example.org"],
    }
    body = {"spec": edited}
    api._request("PATCH", path, body=body, content_type="application/merge-patch+json")

    refused(infra, namespace)
    repaired = look.find(api, public_certificates.CERTIFICATE, namespace.name, "messaging")
    api.delete(public_certificates.CERTIFICATE, namespace.name, "messaging")
    refused(infra, namespace)

    assert repaired is not None
    assert repaired["spec"]["dnsNames"] == [f"{namespace.name}.mq.example.org"]
    assert repaired["spec"]["issuerRef"]["name"] == "public"
    assert "emailAddresses" not in repaired["spec"]
    assert look.find(api, public_certificates.CERTIFICATE, namespace.name, "messaging") is not None


@pytest.mark.usefixtures("with_cert_manager")
def test_another_source_leaves_nothing_of_the_former_one_behind(
    at: Any, admin: ApiClient, api: Api, namespace: Namespace, signer: Signer
) -> None:
    refused(at(ISSUED), namespace)
    cert_manager.issue(admin, namespace.name, signer)

    assert find(at(CertificateChoice()), namespace) is None

    assert list(look.listed(api, public_certificates.CERTIFICATE, namespace.name, {})) == []
    assert list(look.listed(api, resources.SECRET, namespace.name, {})) == []
