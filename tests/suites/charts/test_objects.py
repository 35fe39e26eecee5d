"""The rendered objects: restricted pods, no fixed ids on OpenShift, a linter."""

import functools
import json
import re
import subprocess
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.charts import rendered, tools
from tests.support.charts.rendered import CHART, VARIANTS, Object

EACH = pytest.mark.parametrize("values", VARIANTS, ids=lambda path: path.stem)
SPARK = ("--set", "pipeline.spark=kubernetes,pipeline.runs=cronjob")
Finding = tuple[str, str, str]
EVERYWHERE = frozenset(path.stem.removesuffix("-values") for path in VARIANTS)
GATEWAY, OPENSHIFT, TRIAL = (frozenset({variant}) for variant in ("gateway", "openshift", "trial"))
# The containers of the chart, and the variants that have them.
OWN_CONTAINERS = {
    **dict.fromkeys(("web/web", "worker/worker", "metering/metering"), EVERYWHERE),
    **{f"{component}/wait-for-tables": EVERYWHERE for component in ("web", "worker", "metering")},
    **dict.fromkeys(("beat/beat", "auth/auth", "migrate/migrate"), EVERYWHERE),
    "test-portal/portal": EVERYWHERE,
    "pipeline/pipeline": frozenset({"external", "objectstore", "openshift"}),
}
CONTAINERS = {**OWN_CONTAINERS, "database/database": TRIAL, "queue/queue": TRIAL}
_IDS = "container-security-context-user-group-id"
ON_OPENSHIFT = {kind: found & OPENSHIFT for kind, found in OWN_CONTAINERS.items()}


@dataclass(frozen=True)
class Explained:
    """What kube-score says, of which containers or objects in which variants, and why it stays."""

    check: str
    says: str
    of: Mapping[str, Set[str]]
    why: str


# A finding that is not here fails, and so does an explanation that explains nothing.
EXPLAINED = (
    Explained(
        "container-resources",
        "CPU limit is not set",
        CONTAINERS,
        "A limit of CPU throttles whoever has work while nodes idle.",
    ),
    Explained(
        "container-image-pull-policy",
        "ImagePullPolicy is not set to Always",
        CONTAINERS,
        "Images are named by version or digest; see imagePullPolicy.",
    ),
    Explained(
        "pod-probes-identical",
        "Container has the same readiness and liveness probe",
        {"auth": EVERYWHERE},
        "The auth service is ready when it listens; its thresholds differ.",
    ),
    Explained(
        "pod-networkpolicy",
        "The pod does not have a matching NetworkPolicy",
        dict.fromkeys(
            ("web", "worker", "metering", "beat", "auth", "migrate", "test-portal"), GATEWAY
        ),
        "The variant switches policies off.",
    ),
    Explained(_IDS, "The container is running with a low user ID", ON_OPENSHIFT, "It assigns ids."),
    Explained(_IDS, "The container running with a low group ID", ON_OPENSHIFT, "It assigns ids."),
    Explained(
        "deployment-replicas",
        "Deployment few replicas",
        {"web": TRIAL, "queue": TRIAL},
        "A trial runs one of each.",
    ),
    Explained(
        "deployment-strategy",
        "Deployment update strategy",
        {"queue": TRIAL},
        "Two queues at once would each hold a part of the messages.",
    ),
    Explained(
        "networkpolicy-targets-pod",
        "The NetworkPolicys selector doesn't match any pods",
        {"executors": {"external", "objectstore"}},
        "Spark's executors are made by its driver, not by the chart.",
    ),
)


@EACH
def test_helm_lint_is_content(values: Path) -> None:
    ran = rendered.run("lint", "--strict", str(CHART), "-f", str(values))

    assert ran.returncode == 0, ran.stdout


@EACH
def test_every_pod_is_restricted(values: Path) -> None:
    specs = rendered.pod_specs(rendered.objects(values))

    assert len(specs) >= 6
    for name, spec in specs.items():
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] in (True, False)
        for container in rendered.containers(spec):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]


def test_openshift_gets_no_fixed_id_anywhere() -> None:
    text = rendered.template(
        CHART / "ci" / "openshift-values.yaml",
        "--set",
        "database.bundled=true,database.existingSecret=,queue.bundled=true,queue.existingSecret=",
        *SPARK,
    )

    assert re.findall(r"runAsUser|runAsGroup|fsGroup", text) == []
    assert "kind: Route" in text


def test_other_platforms_get_them() -> None:
    assert "runAsUser: 10001" in rendered.template()


@EACH
def test_no_pod_is_evicted_for_its_logs(values: Path) -> None:
    """A kubelet counts them towards the limit; OpenShift's keeps five files of up to 50 MiB."""
    logs = 5 * 50
    for name, spec in rendered.pod_specs(rendered.objects(values)).items():
        scratch = [volume["emptyDir"] for volume in spec.get("volumes", []) if "emptyDir" in volume]
        needed = logs + sum(_mebibytes(volume["sizeLimit"]) for volume in scratch)

        for container in rendered.containers(spec):
            assert _storage_limit(container) >= logs, (name, container["name"])
        assert sum(map(_storage_limit, spec["containers"])) >= needed, name


_ROUTER = ("--set", "router.image.repository=r")


def _storage_limit(container: Object) -> int:
    return _mebibytes(container["resources"]["limits"]["ephemeral-storage"])


def _mebibytes(amount: str) -> int:
    number, unit = int(amount[:-2]), amount[-2:]
    return number * {"Mi": 1, "Gi": 1024}[unit]


@EACH
def test_an_unready_pod_does_not_hold_up_a_drain(values: Path) -> None:
    """It serves nobody, and all are unready while PostgreSQL is away."""
    budgets = [e for e in rendered.objects(values) if e["kind"] == "PodDisruptionBudget"]

    auth = set() if values == rendered.TRIAL else {"wp-auth"}
    assert {budget["metadata"]["name"] for budget in budgets} == {"wp-web", "wp-worker"} | auth
    for budget in budgets:
        assert budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"


def test_failed_migrations_stay_to_be_read_and_wait_long_for_a_database() -> None:
    """Kubernetes ends a pod that restarts in place, with its logs, when the limit is reached.

    Pods that are recreated come after 10 s, 20 s, 40 s and so on up to six minutes at least
    (Kubernetes documentation, "Jobs").
    """
    (job,) = [object_ for object_ in rendered.objects() if _is_job(object_)]

    waits = [min(10 * 2**n, 360) for n in range(job["spec"]["backoffLimit"])]

    assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    assert 40 * 60 < sum(waits) < 80 * 60


@EACH
def test_names_are_given_in_one_place(values: Path) -> None:
    names = [f"{e['kind']}/{e['metadata']['name']}" for e in rendered.objects(values)]

    assert len(set(names)) == len(names)
    assert all(name.split("/")[1].startswith("wp") for name in names)


@EACH
def test_a_linter_finds_nothing_unexplained(values: Path) -> None:
    assert findings(values) - explained(values) == set()


@EACH
def test_every_explanation_explains_something(values: Path) -> None:
    assert explained(values) - findings(values) == set()


def explained(values: Path) -> Set[Finding]:
    variant = values.stem.removesuffix("-values")
    return {
        (explained.check, explained.says, name)
        for explained in EXPLAINED
        for name, variants in explained.of.items()
        # The trial has no router, so nothing of the auth service runs.
        if variant in variants and not (values == rendered.TRIAL and name.startswith("auth"))
    }


@functools.cache
def findings(values: Path) -> Set[Finding]:
    """Return what kube-score is not content with: check, its words, and where."""
    ran = subprocess.run(
        [tools.kube_score(), "score", "--kubernetes-version", "v1.30", "-o", "json", "-"],
        input=rendered.template(values),
        capture_output=True,
        text=True,
        check=False,
    )
    found: list[dict[str, Any]] = json.loads(ran.stdout)
    assert len(found) > 10
    passing = 10
    return {
        (check["check"]["id"], comment["summary"], _place(object_["object_name"], comment["path"]))
        for object_ in found
        for check in object_["checks"] or []
        if not check["skipped"] and check["grade"] < passing
        for comment in check["comments"] or [{"summary": "", "path": ""}]
    }


def _place(scored: str, container: str) -> str:
    """Return ``web`` or ``web/wait-for-tables`` for kube-score's words; jobs end in a digest."""
    name = scored.rpartition("/")[2].removeprefix("wp-")
    name = re.sub(r"^migrate-[0-9a-f]{8}$", "migrate", name)
    return f"{name}/{container}" if container else name


def test_an_auth_service_without_users_is_left_waiting_for_them() -> None:
    """It listens once it knows some: an outage of the database must not look like a hang."""
    specs = rendered.pod_specs(rendered.objects(rendered.TRIAL, *_ROUTER))
    (container,) = specs["StatefulSet/wp-auth"]["containers"]

    starting = container["startupProbe"]

    assert starting["periodSeconds"] * starting["failureThreshold"] >= 24 * 3600


def test_templates_are_short() -> None:
    sizes = {
        path.name: path.read_text().count("\n")
        for path in CHART.rglob("templates/**/*")
        if path.is_file()
    }

    assert sizes
    assert {name: size for name, size in sizes.items() if size > 100} == {}


@pytest.mark.parametrize(
    "option",
    [
        "podAnnotations.a=b",
        "imagePullPolicy=Always",
        "nodeSelector.a=b",
        "migrate.resources.requests.cpu=200m",
        "priorityClassName=high",
        "oidc.clientId=portal",
    ],
)
def test_a_changed_value_makes_another_job_of_the_migration(option: str) -> None:
    """The template of a job is immutable: under the same name an upgrade would be refused."""

    def job(*options: str) -> rendered.Object:
        jobs = [job for job in rendered.objects(rendered.TRIAL, *options) if _is_job(job)]
        (found,) = jobs
        return found

    before, after = job(), job("--set", option)

    assert before == job()
    assert after["metadata"]["name"] != before["metadata"]["name"]


def _is_job(manifest: rendered.Object) -> bool:
    return bool(manifest["kind"] == "Job")


_STORE = "lakehouse.objectStore"


@pytest.mark.parametrize(
    "option",
    [
        "database.url=postgresql://waypost:other@database.example/waypost",
        "queue.url=redis://:other@queue.example",
        f"{_STORE}.accessKey=other",
        f"{_STORE}.secretKey=other",
    ],
)
def test_all_that_read_a_connection_start_again_when_it_changes(option: str) -> None:
    """In the same secret under the same key: no pod would notice by itself."""
    given = (
        "database.bundled=false,database.url=postgresql://waypost:a@database.example/waypost,"
        "queue.bundled=false,queue.url=redis://:a@queue.example,"
        f"{_STORE}.enabled=true,{_STORE}.bucket=usage,{_STORE}.accessKey=a,{_STORE}.secretKey=a"
    )

    def annotations(*options: str) -> dict[str, Object]:
        return {
            object_["metadata"]["name"]: object_["spec"]["template"]["metadata"]["annotations"]
            for object_ in rendered.objects(rendered.TRIAL, *_ROUTER, "--set", given, *options)
            if object_["kind"] in ("Deployment", "StatefulSet")
        }

    before, again, after = annotations(), annotations(), annotations("--set", option)

    assert before == again
    assert set(before) == {"wp-web", "wp-worker", "wp-metering", "wp-beat", "wp-auth"}
    assert all(after[name] != was for name, was in before.items())
