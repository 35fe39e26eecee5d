"""The chart on a real API server: accepted whole, installed, upgraded, its keys kept."""

import base64
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiClient

from controlplane.core import secrets
from tests.support.charts import rendered, tools
from tests.support.kubernetes import chart, foreign_kinds
from tests.support.kubernetes.node import Node
from tests.support.waiting import eventually
from workers.messaging import certificates

NAMESPACE, RELEASE = "waypost-chart", "shop"
NOW = datetime.now(UTC)


@pytest.fixture(scope="module", autouse=True)
def place(admin: ApiClient) -> None:
    chart.make_namespace(admin, NAMESPACE)
    foreign_kinds.make(admin)


@pytest.fixture
def installed(kubeconfig: Path) -> Any:
    chart.install(kubeconfig, RELEASE, NAMESPACE)
    yield RELEASE
    chart.helm(kubeconfig, "uninstall", RELEASE, "-n", NAMESPACE)


def stored(admin: ApiClient, name: str) -> dict[str, str]:
    """Return the secret's content as text."""
    core: Any = client.CoreV1Api(admin)
    held = core.read_namespaced_secret(f"{RELEASE}-{name}", NAMESPACE).data
    return {key: base64.b64decode(value).decode() for key, value in held.items()}


@pytest.fixture(scope="module")
def service_account(admin: ApiClient) -> None:
    """The one of the pod of `helm test`: a pod is refused without it, and a dry run makes none."""
    core: Any = client.CoreV1Api(admin)
    core.create_namespaced_service_account(
        NAMESPACE, {"metadata": {"name": f"{rendered.RELEASE}-pods"}}
    )


@pytest.mark.usefixtures("service_account")
@pytest.mark.parametrize("values", rendered.VARIANTS, ids=lambda path: path.stem)
def test_every_object_of_a_variant_is_accepted(kubeconfig: Path, values: Path) -> None:
    text = rendered.template(values, "-n", NAMESPACE, "--set", "podAnnotations.tried=yes")

    ran = subprocess.run(
        [tools.kubectl(), "apply", "--server-side", "--dry-run=server", "-n", NAMESPACE, "-f", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""  # warnings too: pod security, fields that are going
    accepted = [line for line in ran.stdout.splitlines() if "serverside-applied" in line]
    assert len(accepted) == len(chart.manifests(text))


def test_keys_are_made_once_and_outlive_the_release(kubeconfig: Path, admin: ApiClient) -> None:
    names = ("secrets", "connections", "control-authority")
    chart.install(kubeconfig, RELEASE, NAMESPACE)
    made = {name: stored(admin, name) for name in names}

    chart.install(kubeconfig, RELEASE, NAMESPACE, "--set", "web.resources.requests.cpu=300m")
    upgraded = {name: stored(admin, name) for name in names}
    chart.helm(kubeconfig, "uninstall", RELEASE, "-n", NAMESPACE)
    left = {name: stored(admin, name) for name in names}
    chart.install(kubeconfig, RELEASE, NAMESPACE)
    again = {name: stored(admin, name) for name in names}
    chart.helm(kubeconfig, "uninstall", RELEASE, "-n", NAMESPACE)

    assert made == upgraded == left == again
    assert made["connections"]["database-password"] in made["connections"]["database-url"]


def test_keys_that_are_made_are_keys(
    installed: str, admin: ApiClient, settings: Any, tmp_path: Path
) -> None:
    keys = stored(admin, "secrets")
    authority = stored(admin, "control-authority")
    settings.SECRET_KEYS = [keys["sealing-keys"]]
    (tmp_path / "authority.pem").write_text(authority["authority.pem"])

    found = certificates.control_authority(tmp_path, NOW)
    issued = certificates.issue_client(found, "spc_1", NOW)

    assert secrets.decrypt(secrets.encrypt("word")) == "word"
    assert found.certificate_pem == authority["ca.pem"]
    assert certificates.is_good(issued, found, (), NOW)
    assert len(keys["secret-key"]) == 50
    assert len(keys["operator-password"]) == 20


def test_an_upgrade_replaces_what_changed_and_nothing_else(
    installed: str, kubeconfig: Path, admin: ApiClient
) -> None:
    before = _versions(admin)

    chart.install(kubeconfig, RELEASE, NAMESPACE)
    same = _versions(admin)
    chart.install(
        kubeconfig, RELEASE, NAMESPACE, "--set-string", "settings.WAYPOST_SAMPLE_SECONDS=30"
    )
    changed = _versions(admin)

    def between(one: dict[str, int], other: dict[str, int]) -> set[str]:
        return {name.removeprefix(f"{RELEASE}-") for name in one if one[name] != other[name]}

    # Workers are told of which revision they are.
    assert between(before, same) == {"worker"}
    assert between(same, changed) == {"web", "worker", "metering", "beat"}


@pytest.mark.drill
def test_an_upgrade_takes_back_what_was_scaled_by_hand(
    installed: str, kubeconfig: Path, admin: ApiClient
) -> None:
    """As docs/operate/upgrade.md says; Helm 4 stops at a number that another has set."""
    apps: Any = client.AppsV1Api(admin)
    is_helm_3 = rendered.run("version", "--short").stdout.startswith("v3")

    def scale(component: str, replicas: int) -> None:
        name = f"deployment/{RELEASE}-{component}"
        command = [tools.kubectl(), "-n", NAMESPACE, "scale", name, f"--replicas={replicas}"]
        subprocess.run(command, check=True, env={**os.environ, "KUBECONFIG": str(kubeconfig)})

    def replicas(component: str) -> int:
        found = apps.read_namespaced_deployment(f"{RELEASE}-{component}", NAMESPACE)
        return int(found.spec.replicas)

    scale("beat", 0)
    chart.install(kubeconfig, RELEASE, NAMESPACE)
    back = replicas("beat")
    scale("worker", 3)
    chart.install(kubeconfig, RELEASE, NAMESPACE, *([] if is_helm_3 else ["--force-conflicts"]))

    assert (back, replicas("worker")) == (1, 1)


@pytest.mark.drill
def test_after_a_rollback_of_helm_an_upgrade_makes_workers_the_newest(
    installed: str, kubeconfig: Path, admin: ApiClient
) -> None:
    """A worker of a lower revision than was rolled out before leaves the fleet alone."""
    apps: Any = client.AppsV1Api(admin)

    def revision() -> int:
        worker = apps.read_namespaced_deployment(f"{RELEASE}-worker", NAMESPACE)
        (container,) = worker.spec.template.spec.containers
        (found,) = [
            variable.value for variable in container.env if variable.name == "WAYPOST_REVISION"
        ]
        return int(found)

    chart.install(kubeconfig, RELEASE, NAMESPACE)
    newest = revision()
    chart.helm(kubeconfig, "rollback", RELEASE, "1", "-n", NAMESPACE)
    rolled_back = revision()
    chart.install(kubeconfig, RELEASE, NAMESPACE)

    assert rolled_back < newest < revision()


@pytest.mark.drill
def test_each_upgrade_runs_the_migration_again(
    installed: str, kubeconfig: Path, admin: ApiClient
) -> None:
    """One that failed for good, for a wrong password say, runs again once that is fixed."""
    batch: Any = client.BatchV1Api(admin)

    def jobs() -> list[str]:
        return [item.metadata.name for item in batch.list_namespaced_job(NAMESPACE).items]

    (first,) = jobs()
    chart.install(kubeconfig, RELEASE, NAMESPACE)
    eventually(lambda: jobs() != [first] and len(jobs()) == 1)


@pytest.mark.drill
def test_a_bundled_database_s_password_outlives_a_time_with_another_one(
    installed: str, kubeconfig: Path, admin: ApiClient
) -> None:
    """Its volume stays, and knows that password only."""
    first = stored(admin, "connections")["database-password"]
    other = "database.bundled=false,database.existingSecret=elsewhere"

    chart.install(kubeconfig, RELEASE, NAMESPACE, "--set", other)
    meanwhile = stored(admin, "connections")
    chart.install(kubeconfig, RELEASE, NAMESPACE)

    assert "database-url" not in meanwhile
    assert stored(admin, "connections")["database-password"] == first


def test_every_pod_is_let_in_by_pod_security(
    installed: str, admin: ApiClient, fake_node: Node
) -> None:
    core: Any = client.CoreV1Api(admin)

    def components() -> set[str]:
        pods = core.list_namespaced_pod(
            NAMESPACE, label_selector=f"app.kubernetes.io/instance={RELEASE}"
        )
        return {p.metadata.labels["app.kubernetes.io/component"] for p in pods.items}

    eventually(
        lambda: (
            components() == {"web", "worker", "metering", "beat", "migrate", "database", "queue"}
        )
    )


@pytest.mark.drill
def test_a_node_is_drained_while_no_portal_is_ready(
    kubeconfig: Path, installed: str, admin: ApiClient, fake_node: Node
) -> None:
    """As when PostgreSQL is away: the budget would refuse each eviction."""
    core: Any = client.CoreV1Api(admin)
    two = "web.replicas=2,web.autoscaling.enabled=false"
    chart.install(kubeconfig, RELEASE, NAMESPACE, "--set", two)

    def portals() -> list[Any]:
        chosen = "app.kubernetes.io/component=web"
        found = core.list_namespaced_pod(NAMESPACE, label_selector=chosen).items
        return [object_ for object_ in found if object_.status.phase == "Running"]

    eventually(lambda: len(portals()) == 2)
    for pod in portals():
        fake_node.withheld.add(pod.metadata.name)
        fake_node.report(pod, ready=False)
    name = portals()[0].metadata.name
    core.create_namespaced_pod_eviction(name, NAMESPACE, {"metadata": {"name": name}})

    eventually(lambda: name not in [portal.metadata.name for portal in portals()])


def _versions(admin: ApiClient) -> dict[str, int]:
    """Return the generation of every workload; it rises with each change of its spec."""
    apps: Any = client.AppsV1Api(admin)
    found = [
        *apps.list_namespaced_deployment(NAMESPACE).items,
        *apps.list_namespaced_stateful_set(NAMESPACE).items,
    ]
    return {object_.metadata.name: object_.metadata.generation for object_ in found}
