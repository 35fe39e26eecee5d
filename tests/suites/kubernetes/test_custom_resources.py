"""Custom resources on a real API server become spaces, addresses and users in the real API."""

import base64
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiClient

from controlplane.core.audit import SYSTEM
from tenants.actions import api_tokens, messaging_users, space_plans
from tenants.models import AddressSpace, KeptVolumes, Role, Tenant
from tests.support import domain
from tests.support.domain import Cast
from tests.support.entrance import Entrance, guarded
from tests.support.kubernetes import chart
from tests.support.kubernetes.custom_resources import Process, Resources, controller
from tests.support.reconcile.world import World, time_with
from tests.support.waiting import eventually
from workers.custom_resources import requests
from workers.custom_resources.kinds import ADDRESS_SPACE, GROUP, KINDS
from workers.custom_resources.resource import Resource
from workers.custom_resources.tenant_api import TenantApi
from workers.reconcile import loop

CONTROL, RELEASE = "waypost-resources", "resources"
NAMESPACES = ("shop-a", "shop-b")
ACCOUNT = f"{RELEASE}-custom-resources"
SPACE = {"type": "brokered", "plan": "brokered-small", "deadLetters": False}
GRANTS = [{"addresses": ["orders"], "operations": ["send", "recv"]}]


@pytest.fixture(scope="module")
def installed(kubeconfig: Path, admin: ApiClient, tmp_path_factory: Any) -> Iterator[Path]:
    """The chart with the controller switched on; yields the kubeconfig of its service account."""
    for name in (CONTROL, *NAMESPACES):
        chart.make_namespace(admin, name)
    watched = ",".join(NAMESPACES)
    values = f"customResources.enabled=true,customResources.namespaces={{{watched}}}"
    chart.install(kubeconfig, RELEASE, CONTROL, "--set", values)
    extensions: Any = client.ApiextensionsV1Api(admin)
    for kind in KINDS:
        eventually(partial(_is_served, extensions, f"{kind.plural}.{GROUP}"))
    account = chart.as_account(admin, CONTROL, ACCOUNT)
    path = tmp_path_factory.mktemp("account") / "kubeconfig"
    yield chart.write_kubeconfig(path, account)
    for namespace in NAMESPACES:
        Resources(admin, namespace).clear()
    chart.helm(kubeconfig, "uninstall", RELEASE, "-n", CONTROL)
    for kind in KINDS:  # an uninstallation keeps them
        extensions.delete_custom_resource_definition(f"{kind.plural}.{GROUP}")


def _is_served(extensions: Any, name: str) -> bool:
    status = extensions.read_custom_resource_definition(name).status
    return any(one.type == "Established" and one.status == "True" for one in status.conditions)


@pytest.fixture(scope="module")
def entrance(live_server: Any) -> Iterator[Entrance]:
    with guarded(live_server) as entrance:
        yield entrance


@pytest.fixture(scope="module")
def process(
    installed: Path, live_server: Any, entrance: Entrance, tmp_path_factory: Any
) -> Iterator[Process]:
    log = tmp_path_factory.mktemp("controller") / "log"
    namespaces = [f"--namespace={name}" for name in NAMESPACES]
    options = (f"--api-url={live_server.url}", "--resync-seconds=1", *namespaces)
    with controller(installed, log, *options) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The workers, with fakes for brokers; no queue runs."""
    made = World(tmp_path)
    monkeypatch.setattr("controlplane.core.enqueue._send", lambda *_: None)
    monkeypatch.setattr(loop, "time", time_with(lambda _: None))
    return made


@pytest.fixture
def tenants(
    transactional_db: None, world: World, process: Process, entrance: Entrance
) -> Iterator[Cast]:
    """Two tenants; afterwards no request is left that would lock a table.

    The controller is paused so that a closed entrance is no failure to it.
    """
    entrance.open()
    process.go_on()
    yield domain.cast()
    process.pause()
    entrance.close()


@pytest.fixture
def shop(admin: ApiClient, process: Process, tenants: Cast) -> Iterator[Resources]:
    """The resources of the namespace that belongs to the tenant."""
    resources = Resources(admin, NAMESPACES[0])
    resources.give_token(token_of(tenants.tenant))
    yield resources
    resources.clear()


@pytest.fixture
def foreign(admin: ApiClient, process: Process, tenants: Cast) -> Iterator[Resources]:
    """The resources of the namespace that belongs to the other tenant."""
    resources = Resources(admin, NAMESPACES[1])
    resources.give_token(token_of(tenants.other))
    yield resources
    resources.clear()


def token_of(tenant: Tenant, name: str = "resources") -> str:
    _, token = api_tokens.issue(
        tenant=tenant, name=name, role=Role.DEVELOPER, expires_at=None, by=SYSTEM
    )
    return token


def space_of(tenant: Tenant, name: str = "orders") -> AddressSpace:
    """Return the tenant's space as soon as it exists."""
    found = AddressSpace.objects.filter(tenant=tenant, name=name, deleted_at__isnull=True)
    eventually(found.exists, f"there is a space {name}")
    return found.get()


def test_a_space_with_its_address_and_user_becomes_ready(
    shop: Resources, tenants: Cast, world: World, admin: ApiClient, process: Process
) -> None:
    shop.create("AddressSpace", "orders", **SPACE)
    shop.create(
        "Address",
        "jobs",
        space="orders",
        address="jobs/now",
        type="queue",
        plan="brokered-small-queue",
        maxDeliveryAttempts=3,
    )
    shop.create("MessagingUser", "app", space="orders", permissions=GRANTS)
    space = space_of(tenants.tenant)
    shop.until("AddressSpace", "orders", "Synced", "Applied")
    for kind, name in (("Address", "jobs"), ("MessagingUser", "app")):
        shop.until(kind, name, "Synced", "Applied")

    world.settle(space)
    for kind, name in (("AddressSpace", "orders"), ("Address", "jobs"), ("MessagingUser", "app")):
        shop.until_ready(kind, name)

    assert space.addresses.get().settings.max_delivery_attempts == 3
    status = shop.status("AddressSpace", "orders")
    assert (status["id"], status["created"], status["tenant"]) == (
        space.id,
        True,
        tenants.tenant.slug,
    )
    core: Any = client.CoreV1Api(admin)
    login = core.read_namespaced_secret("app", shop.namespace)
    password = base64.b64decode(login.data["password"]).decode()
    assert base64.b64decode(login.data["username"]).decode() == "app"
    assert login.metadata.owner_references[0].kind == "MessagingUser"
    assert password not in process.log.read_text()
    token = core.read_namespaced_secret("waypost-token", shop.namespace).data["token"]
    assert base64.b64decode(token).decode() not in process.log.read_text()


def test_what_somebody_changes_in_waypost_is_put_back(shop: Resources, tenants: Cast) -> None:
    shop.create("AddressSpace", "orders", **SPACE)
    shop.create("MessagingUser", "app", space="orders", permissions=GRANTS)
    queue = {"type": "queue", "plan": "brokered-small-queue"}
    shop.create("Address", "jobs", space="orders", address="jobs", ringSize=5, **queue)
    space = space_of(tenants.tenant)
    shop.until("Address", "jobs", "Synced", "Applied")
    shop.until("MessagingUser", "app", "Synced", "Applied")
    user, address = space.users.get(), space.addresses.get()

    space_plans.change(space=space, space_plan="brokered-medium", by=SYSTEM)
    messaging_users.update(user=user, permissions=domain.EVERYTHING, by=SYSTEM)
    domain.gone(address)  # deleted by somebody, and by the workers

    eventually(lambda: _reread(space).space_plan.key == "brokered-small", "the plan is put back")
    eventually(lambda: _reread(user).permissions == GRANTS, "the permissions are put back")
    again = space.addresses.filter(deleted_at__isnull=True, ring_size=5)
    eventually(again.exists, "the address is created again")
    eventually(lambda: shop.status("Address", "jobs")["id"] == again.get().id, "its id is noted")


def test_a_refusal_is_a_condition_with_code_and_text_until_its_cause_is_gone(
    shop: Resources, tenants: Cast
) -> None:
    limit = domain.limit(tenants.tenant, "spaces", 0)
    shop.create("AddressSpace", "orders", **SPACE)
    shop.create("AddressSpace", "wrong", **{**SPACE, "plan": "brokered-huge"})

    over = shop.until("AddressSpace", "orders", "Synced", "QuotaExceeded")
    wrong = shop.until("AddressSpace", "wrong", "Synced", "SpacePlanUnknown")

    assert over["status"] == wrong["status"] == "False"
    assert over["message"].startswith("quota_exceeded: ")
    assert "brokered-huge" in wrong["message"]
    limit.delete()
    shop.until("AddressSpace", "orders", "Synced", "Applied")


def test_a_namespace_reaches_its_own_tenant_only(
    shop: Resources, foreign: Resources, tenants: Cast
) -> None:
    shop.create("AddressSpace", "orders", **SPACE)
    space = space_of(tenants.tenant)
    shop.until("AddressSpace", "orders", "Synced", "Applied")
    queue = {"type": "queue", "plan": "brokered-small-queue"}

    # The same name, with all that a resource can ask for.
    foreign.create("Address", "jobs", space="orders", address="jobs", adopt=True, **queue)
    refused = foreign.until("Address", "jobs", "Synced", "AddressSpaceMissing")
    foreign.create("AddressSpace", "orders", adopt=True, deletionPolicy="Delete", **SPACE)
    other = space_of(tenants.other)
    foreign.until("AddressSpace", "orders", "Synced", "Applied")
    foreign.delete("AddressSpace", "orders")
    eventually(lambda: _reread(other).deletion_requested_at, "the other space is being deleted")

    assert refused["message"].startswith("address_space.missing: ")
    assert other.id != space.id
    assert _reread(space).deletion_requested_at is None
    assert not space.addresses.exists()
    # A token of another tenant in the same namespace changes nothing either.
    shop.give_token(token_of(tenants.other, "second"))
    shop.until("AddressSpace", "orders", "Synced", "ResourcesTenantChanged")
    shop.change("AddressSpace", "orders", deletionPolicy="Delete")
    shop.delete("AddressSpace", "orders")
    shop.until("AddressSpace", "orders", "Synced", "ResourcesTenantChanged")
    assert _reread(space).deletion_requested_at is None


def test_only_a_policy_deletes_and_only_what_the_resource_created(
    shop: Resources, tenants: Cast
) -> None:
    present = domain.space(tenants.tenant, "brokered")
    own = {**SPACE, "deletionPolicy": "Delete"}
    shop.create("AddressSpace", "kept", **SPACE)
    shop.create("AddressSpace", "own", **own)
    shop.create("AddressSpace", "messages", **{**SPACE, "deletionPolicy": "DeleteKeepingMessages"})
    shop.create("AddressSpace", "foreign", name=present.name, **own)
    refused = shop.until("AddressSpace", "foreign", "Synced", "ResourcesNotAdopted")
    shop.change("AddressSpace", "foreign", adopt=True)
    names = ("kept", "own", "messages", "foreign")
    for name in names:
        shop.until("AddressSpace", name, "Synced", "Applied")
    spaces = {name: space_of(tenants.tenant, name) for name in names[:3]}

    for name in names:
        shop.delete("AddressSpace", name)
    shop.until_gone("AddressSpace", "kept")
    shop.until_gone("AddressSpace", "foreign")
    for name in ("own", "messages"):
        eventually(partial(_is_going, spaces[name]), f"{name} ends")
        assert shop.find("AddressSpace", name) is not None  # until it is really gone
        domain.gone(spaces[name])
        shop.until_gone("AddressSpace", name)

    assert "adopt" in refused["message"]
    assert _reread(present).deletion_requested_at is None
    assert _reread(spaces["kept"]).deletion_requested_at is None
    kept = KeptVolumes.objects.filter(space__in=spaces.values())
    assert [row.space_id for row in kept] == [spaces["messages"].id]


def test_a_controller_that_was_killed_after_a_creation_finds_its_own(
    shop: Resources, tenants: Cast, process: Process, live_server: Any
) -> None:
    """Of its request, not of its note: who comes with another key created something else."""
    process.kill()
    shop.create("AddressSpace", "orders", **SPACE)
    found = shop.find("AddressSpace", "orders")
    assert found is not None
    token = token_of(tenants.tenant, "killed")
    shop.give_token(token)
    api = TenantApi(live_server.url, token)
    body = requests.creation(Resource.of(ADDRESS_SPACE, found))
    api.create("/address-spaces", body, key=f"{found['metadata']['uid']}.first")
    api.close()

    process.start()

    shop.until("AddressSpace", "orders", "Synced", "Applied")
    assert shop.status("AddressSpace", "orders")["created"] is True
    assert AddressSpace.objects.filter(tenant=tenants.tenant).count() == 1


def _is_going(space: AddressSpace) -> bool:
    return _reread(space).deletion_requested_at is not None


def _reread(row: Any) -> Any:
    row.refresh_from_db()
    return row
