"""A real broker and a real router show real clients the certificates that were given for them."""

import os
import secrets
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from django.utils import timezone
from kubernetes.client import ApiClient
from proton import ConnectionException

from controlplane.console import snippets
from controlplane.console.snippets import Target
from controlplane.core.audit import SYSTEM
from controlplane.core.instance_names import Kind
from controlplane.core.reasons import Reason
from controlplane.embedded import artifacts
from tenants.actions import address_spaces
from tenants.models import AddressSpace
from tests.support.kubernetes import cert_manager, chart, process_node, service_names
from tests.support.kubernetes.process_node import ProcessNode
from tests.support.messaging import amqp, routing_rig
from tests.support.messaging.auth_process import AuthProcess
from tests.support.messaging.recording_metering import RecordingMetering
from tests.support.reconcile import rows
from tests.support.signing import Signer
from tests.support.waiting import eventually
from workers.infra.base import Namespace
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import (
    CertificateChoice,
    CertificateSource,
    Cluster,
    EndpointChoice,
    Issuer,
)
from workers.messaging import certificates
from workers.messaging.brokers import driver
from workers.messaging.routers import driver as routers
from workers.messaging.routers.routing import Routing
from workers.reconcile import loop, space_rows
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports

# Real transactions: the auth service is another process and must see the rows.
pytestmark = [
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.allow_hosts(process_node.ADDRESSES),
]

CONTROL, SECRET = "waypost-presented", "spaces-tls"
_PENDING = "CertificatePending"
OWN = CertificateChoice()
SUPPLIED = CertificateChoice(CertificateSource.SECRET, secret=SECRET)
ISSUED = CertificateChoice(CertificateSource.ISSUER, issuer=Issuer(name="public"))


@dataclass
class Site:
    """An installation on a cluster whose node runs processes; ``choice`` may be changed."""

    admin: ApiClient
    cluster: Cluster
    node: ProcessNode
    folder: Path
    auth_port: int
    choice: CertificateChoice = OWN

    @property
    def ports(self) -> Ports:
        endpoint = EndpointChoice(certificate=self.choice)
        cluster = replace(self.cluster, control_namespace=CONTROL, endpoint=endpoint)
        return Ports(
            infra=KubernetesInfra(Api(self.admin), cluster),
            brokers=driver,
            routers=routers,
            routing=Routing("qdrouterd", "127.0.0.1", self.auth_port, self._authority),
            metering=RecordingMetering(),
            clock=timezone.now,
            identities_dir=self.folder / "identities",
        )

    def _authority(self, now: datetime) -> certificates.KeyPair:
        return certificates.control_authority(self.folder / "control-ca", now)

    def look(self, space: AddressSpace) -> Outcome | None:
        """Reconcile, as the beat does when it is due, until only cert-manager is waited for."""
        deadline = time.monotonic() + 120
        outcome: Outcome | None = Wait(0, Reason.CLUSTER_BUSY)
        while isinstance(outcome, Wait) and not outcome.text.startswith(_PENDING):
            assert time.monotonic() < deadline, outcome
            outcome = loop.reconcile(space.id, self.ports, budget_seconds=20)
        space.refresh_from_db()
        return outcome

    def supply(self, signer: Signer, host: str, *, authority: bool = False) -> x509.Certificate:
        """Put a new certificate into the operator's secret."""
        signed = signer.sign(host)
        held = {"tls.crt": signed.chain_pem, "tls.key": signed.key_pem}
        held |= {"ca.crt": signer.root_pem} if authority else {}
        cert_manager.put_secret(self.admin, CONTROL, SECRET, held, {})
        return signed.certificate


@dataclass
class Instance:
    """The instance that clients reach, as they and the node see it."""

    site: Site
    namespace: Namespace
    kind: Kind

    @property
    def name(self) -> str:
        return f"{self.kind.value}-0"

    @property
    def pid(self) -> int:
        return self.site.node.process_of(self.namespace.name, self.name).pid

    @property
    def host(self) -> str:
        """Where clients find the space."""
        return f"messaging.{self.namespace.name}.svc"

    def shows(self, trusted_pem: str) -> x509.Certificate:
        """Return what a client is shown that trusts these alone and verifies the host's name."""
        return _shown_at(self.host, 5671, trusted_pem)

    def shows_inside(self, trusted_pem: str) -> x509.Certificate:
        """Return what routers and workers are shown, who know each instance by its own name."""
        return _shown_at(f"{self.name}.{self.namespace.name}.svc", 5673, trusted_pem)


def _shown_at(host: str, port: int, trusted_pem: str) -> x509.Certificate:
    context = ssl.create_default_context(cadata=trusted_pem)
    with (
        socket.create_connection((host, port), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname=host) as wrapped,
    ):
        found = wrapped.getpeercert(binary_form=True)
    assert found is not None
    return x509.load_der_x509_certificate(found)


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


@pytest.fixture
def site(
    admin: ApiClient, wanted_cluster: Cluster, tmp_path: Path, settings: Any
) -> Iterator[Site]:
    settings.ARTEMIS_HOME = str(artifacts.artemis_home())
    chart.make_namespace(admin, CONTROL)
    auth_port = routing_rig.free_port()
    auth = AuthProcess(auth_port, tmp_path, tmp_path / "control-ca")
    with process_node.running(admin, tmp_path / "pods") as running:
        auth.start()
        yield Site(admin, wanted_cluster, running, tmp_path, auth_port)
        auth.stop()


@pytest.fixture(params=["brokered", pytest.param("standard", marks=pytest.mark.drill)])
def space(request: pytest.FixtureRequest, site: Site) -> Iterator[AddressSpace]:
    made = rows.make_space(rows.make_tenant(), kind=request.param)
    rows.make_address(made, "orders")
    rows.make_user(made, "alice", ("#", "send recv"))
    yield made
    address_spaces.delete(space=made, by=SYSTEM)
    assert isinstance(site.look(made), Done)


def instance(site: Site, space: AddressSpace) -> Instance:
    kind = Kind.BROKER if space.type == "brokered" else Kind.ROUTER
    loaded = space_rows.load(space, now=timezone.now(), full=False)
    return Instance(site, loaded.namespace, kind)


def own(space: AddressSpace) -> str:
    return space.secrets.get(name="authority").public


def certificate_condition(space: AddressSpace) -> tuple[str, str]:
    found = next(condition for condition in space.conditions if condition["type"] == "Certificate")
    return found["status"], found["reason"]


def carries(space: AddressSpace, folder: Path) -> bool:
    """Send and receive as a client that trusts what the endpoint says.

    A listener that takes another certificate may be closed for a moment.
    """
    body = secrets.token_hex(8)
    try:
        with amqp.connected(space, folder, "alice", rows.PASSWORD) as connection:
            amqp.send(connection, "orders", body)
            while amqp.receive(connection, "orders", 1) != [body]:
                pass  # of a try that was cut off; where nothing is left, this fails
            return True
    except (ConnectionException, ConnectionError):
        return False


def test_a_supplied_certificate_is_shown_and_its_renewal_without_a_restart(
    site: Site, space: AddressSpace, signer: Signer, tmp_path: Path
) -> None:
    site.choice = SUPPLIED
    public = instance(site, space)
    first = site.supply(signer, public.host, authority=True)
    assert isinstance(site.look(space), Done)
    life = public.pid

    eventually(lambda: shown(public, signer.root_pem) == first)
    assert space.endpoints.get().certificate_pem == signer.root_pem
    eventually(lambda: carries(space, tmp_path))
    # inside, the authority of the space vouches and no other
    public.shows_inside(own(space))
    with pytest.raises(ssl.SSLCertVerificationError):
        public.shows_inside(signer.root_pem)

    second = site.supply(signer, public.host)
    assert isinstance(site.look(space), Done)
    eventually(lambda: shown(public, signer.root_pem) == second)
    assert space.endpoints.get().certificate_pem == ""
    assert public.pid == life
    assert says_hello(site, space, signer)

    # one that clients would refuse is not shown to them
    site.supply(signer, "elsewhere.example.org")
    assert isinstance(site.look(space), Done)
    assert certificate_condition(space) == ("False", "CertificateHostMissing")
    assert public.shows(signer.root_pem) == second


@pytest.mark.drill
def test_cert_manager_issues_and_renews(
    site: Site, space: AddressSpace, signer: Signer, admin: ApiClient, tmp_path: Path
) -> None:
    site.choice = ISSUED
    public = instance(site, space)
    name = public.namespace.name
    with cert_manager.installed(admin):
        awaited = site.look(space)
        assert isinstance(awaited, Wait)
        assert awaited.text.startswith("CertificatePending: Waiting for cert-manager to issue")
        first = cert_manager.issue(admin, name, signer)
        assert isinstance(site.look(space), Done)
        life = public.pid
        eventually(lambda: shown(public, signer.root_pem) == first.certificate)
        eventually(lambda: carries(space, tmp_path))

        second = cert_manager.issue(admin, name, signer)
        assert isinstance(site.look(space), Done)
        eventually(lambda: shown(public, signer.root_pem) == second.certificate)
        assert public.pid == life


@pytest.mark.drill
def test_a_space_that_serves_moves_to_another_source_and_back(
    site: Site, space: AddressSpace, signer: Signer, tmp_path: Path
) -> None:
    assert isinstance(site.look(space), Done)
    public = instance(site, space)
    first_life = public.pid
    public.shows(own(space))

    site.choice = SUPPLIED
    given = site.supply(signer, public.host, authority=True)
    assert isinstance(site.look(space), Done)  # one restart, to read files of their own
    second_life = public.pid
    assert second_life != first_life
    eventually(lambda: carries(space, tmp_path))
    assert isinstance(site.look(space), Done)
    eventually(lambda: shown(public, signer.root_pem) == given)
    eventually(lambda: carries(space, tmp_path))

    site.choice = OWN
    assert isinstance(site.look(space), Done)
    eventually(lambda: shown(public, own(space)) is not None)
    eventually(lambda: carries(space, tmp_path))
    assert public.pid == second_life


def says_hello(site: Site, space: AddressSpace, signer: Signer) -> bool:
    """Run the portal's program on a machine that knows the signer; it is given no file."""
    known = site.folder / "known.pem"
    known.write_text(signer.root_pem)
    endpoint = space.endpoints.get()
    at = Target(space.name, endpoint.host, endpoint.port, "alice", "orders", "queue", False)
    (program,) = [snippet.text for snippet in snippets.build_all(at) if snippet.key == "python"]
    (site.folder / "hello.py").write_text(program)
    environment = {
        **os.environ,
        "PYTHONPATH": str(site.folder),
        "SSL_CERT_FILE": str(known),
        "WAYPOST_MESSAGING_PASSWORD": rows.PASSWORD,
    }
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            service_names.__name__,
            str(site.node.hosts),
            "hello",
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout == "received: hello\n"


def shown(public: Instance, trusted_pem: str) -> x509.Certificate | None:
    """Return what a client is shown; None while it trusts nothing there, or nobody listens.

    A listener that takes another certificate may end a handshake that has begun.
    """
    try:
        return public.shows(trusted_pem)
    except (ssl.SSLError, ConnectionError, TimeoutError, socket.gaierror):
        return None
