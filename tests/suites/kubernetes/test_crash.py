"""Killed after any write to the cluster, the passes after it end as an undisturbed worker's."""

import base64
import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from kubernetes.client import ApiClient

from controlplane.core.audit import SYSTEM
from tenants.actions import address_spaces
from tenants.models import AddressSpace, MessagingUser
from tests.suites.kubernetes.test_rollouts import Site
from tests.suites.reconcile.test_counts import want_routers
from tests.support.kubernetes import look
from tests.support.kubernetes.look import Document
from tests.support.kubernetes.node import Node
from tests.support.reconcile import rows
from tests.support.waiting import eventually
from workers.infra import names
from workers.infra.kubernetes import difference, labels, pods, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.infra.kubernetes.ownership import FIELD_MANAGER
from workers.reconcile.outcome import Done, Failed, Outcome

pytestmark = pytest.mark.django_db

# A worker dies after this many writes that nobody made before it; 0: never. One by one covers the
# state after every write in a few seconds, for no space is recreated for each. The other stride is
# for passes that go on over several writes after a death.
STRIDES = (0, 1, 7)
_KINDS = (*look.APPLIED, resources.VOLUME_CLAIM)
_MADE_BY_THE_API = ("uid", "resourceVersion", "creationTimestamp")
_DIGESTS = (difference.DIGEST, pods.RESTART)
_PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----[^-]+-----END [A-Z ]+-----\n?")


class Killed(BaseException):
    """Nobody catches it, as nobody catches SIGKILL."""


class KillingApi(Api):
    """Dies right after every so many writes that are new: of another object, or other content."""

    def __init__(self, client: ApiClient, stride: int) -> None:
        super().__init__(client)
        self._stride = stride
        self.begin()

    def begin(self) -> None:
        """Forget what was written."""
        self.new: list[tuple[str, str, str]] = []
        self.writes = 0

    def _request(self, method: str, path: str, *args: Any, **options: Any) -> tuple[int, Any]:
        answer = super()._request(method, path, *args, **options)
        write = (method, path, json.dumps(options.get("body"), sort_keys=True))
        self.writes += method != "GET"
        if method != "GET" and write not in self.new:
            self.new.append(write)
            if self._stride and len(self.new) % self._stride == 0:
                raise Killed
        return answer


class KilledSite(Site):
    """A space whose workers each die after so many writes."""

    def __init__(
        self, killing: KillingApi, stride: int, cluster: Cluster, folder: Path, space: AddressSpace
    ) -> None:
        super().__init__(killing, cluster, folder, space)
        self.killing = killing
        self.stride = stride
        self.kills = 0

    def look(self) -> Outcome | None:
        """Make one pass; None where the worker died, or has nothing to do any more."""
        try:
            outcome = self.reconcile(0)
        except Killed:
            self.kills += 1
            return None
        assert not isinstance(outcome, Failed), outcome
        return outcome

    def places(self) -> set[tuple[str, str]]:
        """Return the verb and the place of every write, with no name of this space."""
        return {(method, self.plain(path)) for method, path, _ in self.killing.new}

    def plain(self, text: str) -> str:
        """Return a text in which all spaces are called the same."""
        space = self.space
        name = names.namespace(space.tenant_id, space.id, space.name)
        for own, called in ((name, "NAMESPACE"), (space.id, "SPACE"), (space.tenant_id, "TENANT")):
            text = text.replace(own, called)
        return text

    def contents(self, api: Api) -> dict[str, Any]:
        """Return what every object says, but for what the API gives each of them."""
        found = [look.find(api, resources.NAMESPACE, None, self.namespace) or {}]
        for kind in _KINDS:
            found += look.listed(api, kind, self.namespace, labels.OURS) if kind.namespaced else []
        said = [json.loads(self.plain(json.dumps(comparable(object_)))) for object_ in found]
        return {f"{object_['kind']}/{look.name_of(object_)}": object_ for object_ in said}


def comparable(manifest: Document) -> Document:
    """Return an object without its identity, digests and keys, which differ from space to space.

    Whose each field is stays in, without the times.
    """
    metadata = {k: v for k, v in manifest["metadata"].items() if k not in _MADE_BY_THE_API}
    metadata["managedFields"] = [
        {**managed, "time": ""}
        for managed in metadata.get("managedFields", [])
        if managed["manager"] == FIELD_MANAGER
    ]
    made = {**manifest, "metadata": metadata, "status": None}
    data = made.get("data") or {}
    if made["kind"] == "Secret":
        data = {name: base64.b64decode(text).decode() for name, text in data.items()}
    made["data"] = {name: _PEM.sub(_described, text) for name, text in data.items()}
    if made["kind"] == "Service":
        made["spec"] = {k: v for k, v in made["spec"].items() if not k.startswith("clusterIP")}
    masked = json.dumps(made)
    for digest in _DIGESTS:
        masked = re.sub(rf'("{digest}": )"[0-9a-f]+"', r'\1""', masked)
    # The revision of the users, which depends on when a user was made. No address expires here.
    masked = re.sub(r"(<expiry-delay>)\d+", r"\1", masked)
    found: Document = json.loads(masked)
    return found


def _described(pem: re.Match[str]) -> str:
    if pem[1] != "CERTIFICATE":
        return pem[1]
    certificate = x509.load_pem_x509_certificate(pem[0].encode())
    known = certificate.extensions
    hosts = [str(e.value) for e in known if isinstance(e.value, x509.SubjectAlternativeName)]
    return f"{certificate.subject.rfc4514_string()} {hosts}"


@pytest.fixture(params=["brokered", "standard"])
def sites(
    request: pytest.FixtureRequest,
    admin: ApiClient,
    wanted_cluster: Cluster,
    fake_node: Node,
    tmp_path: Path,
) -> Sequence[KilledSite]:
    """Spaces of one tenant that want the same, one for each stride, the first undisturbed."""
    tenant = rows.make_tenant()
    found = []
    for stride in STRIDES:
        space = rows.make_space(tenant, f"of-{stride}", request.param)
        if request.param == "standard":
            want_routers(space, 2)
            rows.make_address(space, "calls", "anycast")
        rows.make_address(space, "orders")
        rows.make_address(space, "news", "topic")
        rows.make_user(space, "alice", ("#", "send recv"))
        killing = KillingApi(admin, stride)
        found.append(KilledSite(killing, stride, wanted_cluster, tmp_path, space))
    (first, *_) = MessagingUser.objects.order_by("created_at")
    MessagingUser.objects.update(verifiers=first.verifiers)  # or each has a salt of its own
    return found


def until(sites: Sequence[KilledSite], holds: Callable[[KilledSite], object]) -> None:
    """Look at all of them in turn, so that they wait for the cluster together."""
    left = list(sites)

    def all_hold() -> bool:
        kills = sum(site.kills for site in sites)
        left[:] = [site_left for site_left in left if not holds(site_left)]
        if left and kills == sum(site.kills for site in sites):
            time.sleep(0.3)  # they wait for pods, or for the end of their namespaces
        return not left

    eventually(all_hold, seconds=120)


def check_kills(sites: Sequence[KilledSite]) -> set[tuple[str, str]]:
    """Assert that workers died where they should; return the places that the undisturbed wrote."""
    for site in sites[1:]:
        assert 0 < site.kills == len(site.killing.new) // site.stride
    return sites[0].places()


@pytest.mark.drill
def test_killed_after_any_write_of_the_making_and_of_the_end(
    sites: Sequence[KilledSite], api: Api
) -> None:
    until(sites, lambda site: isinstance(site.look(), Done))
    expected = sites[0].contents(api)
    written = check_kills(sites)
    assert {("PATCH", "/api/v1/namespaces/NAMESPACE")} < written
    for site in sites:
        assert site.places() == written
        assert site.contents(api) == expected
        site.killing.begin()
        AddressSpace.objects.filter(pk=site.space.pk).update(last_full_pass_at=None)
        assert isinstance(site.look(), Done)
        assert site.killing.writes == 0, "so the digests that are not compared are right too"

    for site in sites:
        address_spaces.delete(space=site.space, by=SYSTEM)
        site.kills = 0

    def ended(site: KilledSite) -> bool:
        site.look()
        return site.space.deleted_at is not None

    until(sites, ended)
    written = check_kills(sites)
    for site in sites:
        # What is half gone is recreated, to be emptied; then it goes again.
        again = site.places() - written
        assert {verb for verb, _ in again} <= {"PATCH"}
        assert site.places() >= written
        namespace = names.namespace(site.space.tenant_id, site.space.id, site.space.name)
        assert site.killing.new[-1][:2] == ("DELETE", f"/api/v1/namespaces/{namespace}")
        ours = {labels.SPACE: site.space.id}
        assert [one for kind in _KINDS for one in look.listed(api, kind, None, ours)] == []
