"""The rights that the chart gives the worker: enough for the adapter, and not a write more."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiClient, ApiException

from tests.suites.kubernetes.conftest import BUDGET, broker
from tests.support.kubernetes import cert_manager, chart, look
from tests.support.kubernetes.node import Node
from tests.support.sessions import listed, once
from tests.support.signing import Signer
from tests.support.waiting import eventually
from workers.infra.base import CertificateProblem, GivenCertificate, InfraError, Namespace
from workers.infra.kubernetes import public_certificates, resources
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import (
    CertificateChoice,
    CertificateSource,
    Cluster,
    Issuer,
)

CONTROL = "waypost-rights"
RELEASE = "rights"
SECRET = "spaces-tls"
_CERTIFICATE = "spaces.endpoint.certificate"
VALUES = (
    "router.image.repository=router,spaces.endpoint.domain=mq.example.org,"
    f"{_CERTIFICATE}.source=secret,{_CERTIFICATE}.secret={SECRET}"
)
OURS = {"app.kubernetes.io/part-of": "waypost", "app.kubernetes.io/managed-by": "waypost"}
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


@pytest.fixture(scope="module")
def described(
    kubeconfig: Path,
    admin: ApiClient,
    fake_node: Node,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    """The cluster as an installed chart describes it; uninstalled before the node goes."""
    chart.make_namespace(admin, CONTROL)
    chart.install(kubeconfig, RELEASE, CONTROL, "--set", VALUES)
    objects = chart.manifests(chart.helm(kubeconfig, "get", "manifest", RELEASE, "-n", CONTROL))
    yield chart.described_cluster(objects, tmp_path_factory.mktemp("cluster"))
    chart.helm(kubeconfig, "uninstall", RELEASE, "-n", CONTROL)


@pytest.fixture(scope="module")
def worker(described: Cluster, admin: ApiClient) -> ApiClient:
    """The worker, known to the admission policy already."""
    found = chart.as_account(admin, CONTROL, described.worker_account)
    core: Any = client.CoreV1Api(found)
    probe = {"metadata": {"name": "not-ours"}}
    eventually(lambda: is_denied(lambda: core.create_namespace(probe, dry_run="All")))
    return found


@pytest.fixture
def infra(worker: ApiClient, described: Cluster) -> KubernetesInfra:
    return KubernetesInfra(Api(worker), described)


@pytest.fixture
def space(infra: KubernetesInfra, namespace: Namespace) -> Iterator[Namespace]:
    eventually(
        lambda: is_through(
            lambda: once(infra, namespace, lambda session: session.ensure_namespace(BUDGET))
        )
    )
    yield namespace
    with infra.open(namespace) as session:
        session.delete_namespace()


def with_certificate(
    worker: ApiClient, infra: KubernetesInfra, choice: CertificateChoice
) -> KubernetesInfra:
    """Return an adapter like ``infra`` in an installation with another choice."""
    cluster = infra._cluster
    endpoint = replace(cluster.endpoint, certificate=choice)
    return KubernetesInfra(Api(worker), replace(cluster, endpoint=endpoint))


def present(infra: KubernetesInfra, space: Namespace) -> GivenCertificate | None:
    """Return the certificate that public listeners of the space are given."""
    with infra.open(space) as session:
        return session.ensure_certificate(session.ensure_endpoint("broker-0"))


def is_denied(call: Callable[[], object]) -> bool:
    try:
        call()
    except ApiException as error:
        return error.status in (403, 422) and "ValidatingAdmissionPolicy" in str(error.body)
    return False


def refusal(call: Callable[[], object]) -> str:
    """Return what the API server says against the call."""
    with pytest.raises(ApiException) as caught:
        call()
    assert caught.value.status in (403, 422)
    return str(caught.value.body)


def is_through(call: Callable[[], object]) -> bool:
    """Return whether the call was made; False while its rights are on their way.

    Or while the namespace of the test before, which had the same name, is ending.
    """
    try:
        call()
    except InfraError as error:
        if error.reason in ("RightsPending", "ClusterForbidden", "NamespaceEnding"):
            logging.getLogger(__name__).warning("waiting: %s", error)
            return False
        raise
    return True


def test_the_adapter_can_do_all_its_work(
    infra: KubernetesInfra, space: Namespace, fake_node: Node
) -> None:
    with infra.open(space) as session:
        session.ensure_instance(broker(space))
    eventually(lambda: [instance.running for instance in listed(infra, space)] == [True])
    with infra.open(space) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_instance(broker(space, **{"server.key": "another"}))
        session.ensure_endpoint("broker-0")
        session.restart_instance("broker-0")
        session.delete_instance("broker-0")
    eventually(lambda: list(listed(infra, space)) == [])
    assert space.name in infra.list_namespaces()
    eventually(lambda: once(infra, space, lambda session: session.delete_namespace()))


def test_a_namespace_of_another_name_is_refused(worker: ApiClient) -> None:
    core: Any = client.CoreV1Api(worker)
    labelled = {**OURS, **RESTRICTED}

    said = refusal(
        lambda: core.create_namespace({"metadata": {"name": "kube-extra", "labels": labelled}})
    )

    assert "begins with wp-" in said


def test_a_namespace_without_our_labels_is_neither_made_nor_removed(
    worker: ApiClient, admin: ApiClient
) -> None:
    core: Any = client.CoreV1Api(worker)
    chart.make_namespace(admin, "wp-of-somebody-else")

    made = refusal(lambda: core.create_namespace({"metadata": {"name": "wp-bare"}}))
    removed = refusal(lambda: core.delete_namespace("wp-of-somebody-else"))
    taken = refusal(
        lambda: core.patch_namespace("wp-of-somebody-else", {"metadata": {"labels": OURS}})
    )

    assert all("labels of Waypost" in said for said in (made, removed, taken))


def test_a_namespace_of_another_installation_is_left_alone(
    worker: ApiClient, admin: ApiClient, described: Cluster
) -> None:
    core: Any = client.CoreV1Api(worker)
    theirs: Any = client.CoreV1Api(admin)
    labels = {**OURS, **RESTRICTED, "waypost.io/installation": "elsewhere.waypost"}
    theirs.create_namespace({"metadata": {"name": "wp-of-another", "labels": labels}})
    mine = {"waypost.io/installation": described.installation}

    said = [
        refusal(lambda: core.delete_namespace("wp-of-another")),
        refusal(lambda: core.patch_namespace("wp-of-another", {"metadata": {"labels": mine}})),
        refusal(
            lambda: bind(worker, "wp-of-another", described.space_role, described.worker_account)
        ),
    ]

    assert all("of other installations alone" in line for line in said), said
    theirs.delete_namespace("wp-of-another")


def test_metering_sees_the_instances_of_spaces_and_nothing_else(
    infra: KubernetesInfra,
    admin: ApiClient,
    described: Cluster,
    space: Namespace,
    fake_node: Node,
) -> None:
    account = chart.as_account(admin, CONTROL, described.metering_account)
    metering = KubernetesInfra(Api(account), described)
    core: Any = client.CoreV1Api(account)
    with infra.open(space) as session:
        session.ensure_instance(broker(space))

    eventually(lambda: is_through(lambda: listed(metering, space)))
    eventually(lambda: [instance.running for instance in listed(metering, space)] == [True])

    calls: list[Callable[[], object]] = [
        lambda: core.list_namespaced_secret(space.name),
        lambda: core.list_namespaced_config_map(space.name),
        lambda: core.delete_namespaced_pod("broker-0-0", space.name),
        lambda: core.list_namespaced_pod(CONTROL),
        lambda: core.list_namespace(),
        lambda: bind(account, space.name, described.metering_role, described.metering_account),
    ]
    assert all("forbidden" in refusal(call) for call in calls)


def test_metering_knows_a_namespace_that_ended_from_a_right_that_is_missing(
    infra: KubernetesInfra, admin: ApiClient, described: Cluster, space: Namespace
) -> None:
    account = chart.as_account(admin, CONTROL, described.metering_account)
    metering = KubernetesInfra(Api(account), described)
    with infra.open(space) as session:
        session.ensure_instance(broker(space))
    eventually(lambda: is_through(lambda: listed(metering, space)))
    rights: Any = client.RbacAuthorizationV1Api(admin)

    rights.delete_namespaced_role_binding("waypost-metering", space.name)
    eventually(lambda: not is_through(lambda: listed(metering, space)))
    with infra.open(space) as session:
        session.delete_instance("broker-0")
    eventually(lambda: once(infra, space, lambda session: session.delete_namespace()))

    eventually(lambda: is_through(lambda: listed(metering, space)))
    with metering.open(space) as session:
        assert session.list_instances() == []


def test_a_namespace_without_pod_security_is_refused(worker: ApiClient) -> None:
    core: Any = client.CoreV1Api(worker)

    said = refusal(
        lambda: core.create_namespace({"metadata": {"name": "wp-loose", "labels": OURS}})
    )

    assert "restricted pod security" in said


@pytest.mark.parametrize("place", ["default", "kube-system", CONTROL])
def test_it_cannot_bind_itself_elsewhere(worker: ApiClient, described: Cluster, place: str) -> None:
    said = refusal(lambda: bind(worker, place, described.space_role, described.worker_account))

    assert "only into namespaces of spaces" in said


def test_it_binds_no_other_role_and_nobody_else(
    worker: ApiClient, described: Cluster, space: Namespace
) -> None:
    role = refusal(lambda: bind(worker, space.name, "cluster-admin", described.worker_account))
    subject = refusal(lambda: bind(worker, space.name, described.space_role, "default"))
    crossed = refusal(
        lambda: bind(worker, space.name, described.space_role, described.metering_account)
    )

    assert "not currently held" in role
    assert "binds only itself" in subject
    assert "binds only itself" in crossed


def test_it_reads_no_secret_outside_spaces(worker: ApiClient, space: Namespace) -> None:
    core: Any = client.CoreV1Api(worker)

    assert "forbidden" in refusal(lambda: core.list_namespaced_secret(CONTROL))
    assert "forbidden" in refusal(lambda: core.list_secret_for_all_namespaces())
    assert core.list_namespaced_secret(space.name).items == []


def test_of_its_own_namespace_it_reads_the_supplied_certificate_alone(
    infra: KubernetesInfra, worker: ApiClient, admin: ApiClient, space: Namespace
) -> None:
    core: Any = client.CoreV1Api(worker)
    cert_manager.put_secret(admin, CONTROL, SECRET, {"tls.crt": "one", "tls.key": "key"}, {})

    found = present(infra, space)

    assert found is not None
    assert found.certificate_pem == "one"
    other = f"{RELEASE}-secrets"
    assert "forbidden" in refusal(lambda: core.read_namespaced_secret(other, CONTROL))
    body = {"metadata": {"annotations": {"x": "y"}}}
    assert "forbidden" in refusal(lambda: core.patch_namespaced_secret(SECRET, CONTROL, body))
    # without the right to it, it says which one it needs
    elsewhere = CertificateChoice(CertificateSource.SECRET, secret=other)
    with pytest.raises(CertificateProblem) as forbidden:
        present(with_certificate(worker, infra, elsewhere), space)
    assert forbidden.value.reason == "CertificateForbidden"
    assert f"the secret {CONTROL}/{other}: give it the right `get`" in str(forbidden.value)


def test_it_may_ask_cert_manager_and_take_that_back(
    infra: KubernetesInfra, worker: ApiClient, admin: ApiClient, space: Namespace
) -> None:
    issued = CertificateChoice(CertificateSource.ISSUER, issuer=Issuer(name="public"))
    asking = with_certificate(worker, infra, issued)
    with infra.open(space) as session:
        endpoint = session.ensure_endpoint("broker-0")
    with cert_manager.installed(admin):
        with pytest.raises(CertificateProblem) as pending:
            with asking.open(space) as session:
                session.ensure_certificate(endpoint)
        assert pending.value.reason == "CertificatePending", pending.value
        cert_manager.issue(admin, space.name, Signer())
        with with_certificate(worker, infra, issued).open(space) as session:
            found = session.ensure_certificate(endpoint)
        back = with_certificate(worker, infra, CertificateChoice())
        with back.open(space) as session:
            nothing = session.ensure_certificate(endpoint)

        assert found is not None
        assert nothing is None
        assert (
            look.find(Api(admin), public_certificates.CERTIFICATE, space.name, "messaging") is None
        )
        assert look.find(Api(admin), resources.SECRET, space.name, "messaging-tls") is None


def test_objects_of_others_in_a_space_are_left_alone(
    worker: ApiClient, admin: ApiClient, space: Namespace
) -> None:
    core: Any = client.CoreV1Api(worker)
    theirs: Any = client.CoreV1Api(admin)
    theirs.create_namespaced_config_map(space.name, {"metadata": {"name": "theirs"}})

    said = refusal(lambda: core.delete_namespaced_config_map("theirs", space.name))

    assert "labels of Waypost" in said


def test_ours_without_its_labels_is_told_with_what_to_do(
    infra: KubernetesInfra, admin: ApiClient, space: Namespace
) -> None:
    core: Any = client.CoreV1Api(admin)
    with infra.open(space) as session:
        session.ensure_endpoint("broker-0")
    bare = {"metadata": {"labels": {"app.kubernetes.io/part-of": None}}}
    core.patch_namespaced_service("messaging", space.name, bare)

    with infra.open(space) as session:
        session.ensure_namespace(BUDGET)
    with pytest.raises(
        InfraError, match=r"put app\.kubernetes\.io/part-of=waypost and "
    ) as refused:
        with infra.open(space) as session:
            session.ensure_endpoint("broker-0")
    core.delete_namespaced_service("messaging", space.name)
    with infra.open(space) as session:
        session.ensure_namespace(BUDGET)
        session.ensure_endpoint("broker-0")

    assert refused.value.reason == "LabelsMissing"


@pytest.mark.parametrize(
    "call",
    [
        lambda core, name: core.connect_get_namespaced_pod_exec("broker-0", name, command=["sh"]),
        lambda core, name: core.read_namespaced_pod_log("broker-0", name),
        lambda core, name: core.create_namespaced_pod(name, {"metadata": {"name": "own"}}),
        lambda core, name: core.list_node(),
        lambda core, name: core.list_persistent_volume(),
        lambda core, name: core.create_namespaced_service_account_token("broker", name, {}),
    ],
    ids=["exec", "logs", "pods", "nodes", "volumes", "tokens"],
)
def test_what_it_never_needs_it_may_not(
    worker: ApiClient, space: Namespace, call: Callable[[Any, str], object]
) -> None:
    assert "forbidden" in refusal(lambda: call(client.CoreV1Api(worker), space.name))


def bind(api: ApiClient, namespace: str, role: str, account: str) -> None:
    rights: Any = client.RbacAuthorizationV1Api(api)
    rights.create_namespaced_role_binding(
        namespace,
        {
            "metadata": {"name": "extra", "labels": OURS},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": role,
            },
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": CONTROL}],
        },
    )
