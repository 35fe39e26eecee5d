"""Values: what the schema refuses, what the chart refuses, and what they turn into."""

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane import celery as celery_app
from controlplane.core.instance_names import Listener
from tests.support.charts import rendered
from tests.support.charts.rendered import CHART, RELEASE, VARIANTS
from tests.support.source_tree import ROOT
from workers import schedule
from workers.infra.kubernetes import cluster_file, labels, sizes
from workers.infra.kubernetes.cluster import (
    CertificateChoice,
    CertificateSource,
    Cluster,
    EndpointChoice,
    Identity,
    Images,
    Issuer,
    Pods,
)
from workers.infra.kubernetes.endpoints import registry

SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text())
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
SOURCES = ROOT
STORES = ("--set", "database.url=postgresql://u:p@h/d,queue.url=redis://h/0")


def schema_objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from schema_objects(part)


def paths(schema: dict[str, Any], at: str = "") -> Iterator[str]:
    """Yield every value that the schema knows, as a dotted path."""
    schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
    for name, part in schema.get("properties", {}).items():
        yield f"{at}{name}"
        yield from paths(part, f"{at}{name}.")


def given(values: dict[str, Any], at: str = "") -> Iterator[str]:
    for name, value in values.items():
        yield f"{at}{name}"
        if isinstance(value, dict):
            yield from given(value, f"{at}{name}.")


def refused(*options: str) -> str:
    ran = rendered.run("template", RELEASE, str(CHART), *options)
    assert ran.returncode != 0
    said: str = ran.stderr
    return said


def described(values: Path, tmp_path: Path, *options: str) -> Cluster:
    held = rendered.find(rendered.objects(values, *options), "ConfigMap", f"{RELEASE}-cluster")
    (tmp_path / "cluster.yaml").write_text(held["data"]["cluster.yaml"])
    return cluster_file.load(tmp_path / "cluster.yaml")


def plain(cluster: Cluster) -> Any:
    """Return its fields; a list and a tuple are the same."""
    return json.loads(json.dumps(dataclasses.asdict(cluster)))


def settings(values: Path, *options: str) -> dict[str, str]:
    objects = rendered.objects(values, *options)
    held: dict[str, str] = rendered.find(objects, "ConfigMap", f"{RELEASE}-settings")["data"]
    return held


def test_the_schema_refuses_what_it_does_not_know() -> None:
    loose = [
        object_
        for object_ in schema_objects(SCHEMA)
        if object_.get("additionalProperties", True) is True and "description" not in object_
    ]

    assert loose == [
        {"type": "object"},
        {"type": "object"},
    ]  # peers and tolerations: Kubernetes' own
    assert "additional properties 'replica' not allowed" in refused(
        *STORES, "--set", "web.replica=2"
    )


def test_schema_and_values_know_the_same() -> None:
    known, there = set(paths(SCHEMA)), set(given(VALUES))
    amounts = {name for name in known | there if ".resources." in name}

    assert known - amounts - {"global"} == there - amounts


def test_no_value_may_be_empty_but_those_that_are_by_default() -> None:
    """An empty value is none: a template would take it for "off", or for nothing at all."""
    empty = {"trustedProxies", "revision"}

    def unguarded(schema: dict[str, Any], values: dict[str, Any], at: str) -> Iterator[str]:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
        for name, value in values.items() if "properties" in schema else ():
            path = f"{at}{name}"
            if name not in schema["required"]:
                yield path
            if isinstance(value, dict) and name != "resources":
                yield from unguarded(schema["properties"][name], value, f"{path}.")

    assert set(unguarded(SCHEMA, VALUES, "")) == empty


def test_a_refused_address_is_not_printed() -> None:
    said = refused("--set", "database.url=postgresql://u:topsecret@h/d?x,queue.bundled=true")

    assert "topsecret" not in said


@pytest.mark.parametrize("name", ["9wp", "my.rel"])
def test_a_release_whose_name_no_service_can_have_is_refused(name: str) -> None:
    ran = rendered.run("template", name, str(CHART), *STORES)

    assert "must begin with a letter" in ran.stderr


def _certificate(*values: str) -> tuple[str, ...]:
    return (*STORES, "--set", ",".join(f"spaces.endpoint.certificate.{value}" for value in values))


LOGIN = (*STORES, "--set", "oidc.issuer=https://a.example")
BULK = "settings.WAYPOST_PIPELINE_BULK"
MEMORY = "settings.WAYPOST_PIPELINE_CONTAINER_MB"


def _bucket(*values: str) -> tuple[str, ...]:
    return (*STORES, "--set", ",".join(f"lakehouse.objectStore.{value}" for value in values))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "set exactly one of database.url"),
        (("--set", "database.bundled=true,queue.bundled=true,queue.url=redis://h"), "exactly one"),
        ((*STORES, "--set", "expose.kind=ingress"), "needs expose.host"),
        ((*STORES, "--set", "expose.kind=gateway,expose.host=a.example"), "expose.gateway"),
        ((*STORES, "--set", "spaces.endpoint.kind=route"), "spaces.endpoint.domain"),
        (_certificate("source=secret", "secret=tls"), "needs spaces.endpoint.domain"),
        (_certificate("source=secret"), "needs spaces.endpoint.certificate.secret"),
        (_certificate("source=issuer"), "needs spaces.endpoint.certificate.issuer.name"),
        (_certificate("source=file"), "value must be one of"),
        (_certificate("source=secret", "secret=../other"), "does not match pattern"),
        ((*STORES, "--set", "pipeline.spark=kubernetes"), "needs pipeline.runs cronjob"),
        ((*STORES, "--set", "database.sslMode=verify-full"), "database.sslAuthority"),
        ((*STORES, "--set", "oidc.issuer=https://a.example"), "oidc.existingSecret"),
        (_bucket("enabled=true"), "needs lakehouse.objectStore.bucket"),
        (_bucket("enabled=true", "bucket=usage"), "set existingSecret"),
        (_bucket("enabled=true", "bucket=b-1", "accessKey=a", "existingSecret=e"), "keys access-"),
        (_bucket("enabled=true", "bucket=usage", "accessKey=a"), "set existingSecret"),
        (_bucket("endpoint=objects.example"), "does not match pattern"),
        (_bucket("bucket=Not/One"), "does not match pattern"),
        (("--set", "database.url=postgresql://h/db?sslmode=require"), "TLS is database.sslMode"),
        (("--set", "database.url=postgres://h/db"), "database.url must be postgresql://"),
        ((*STORES, "--set", "queue.url=http://queue.example"), "queue.url must be redis://"),
        ((*STORES, "--set", "database.url=postgresql://u:p@h:6432/d"), "is at port 6432 and data"),
        ((*STORES, "--set", "queue.url=redis://h/0,queue.port=6380"), "is at port 6379 and queue"),
        ((*STORES, "--set", "rights.admissionPolicy=null"), "missing property 'admissionPolicy'"),
        ((*STORES, "--set", "networkPolicy.enabled=null"), "missing property 'enabled'"),
        ((*STORES, "--set", "dns=null"), "missing property 'dns'"),
        ((*STORES, "--set", "broker.image.tag=null"), "missing property 'tag'"),
        (
            (*STORES, "--set", "settings.WAYPOST_PUBLIC_URL=https://a.example"),
            "is set by the chart",
        ),
        (
            (*STORES, "--set", "pipeline.runs=cronjob", "--set-string", f"{BULK}=false"),
            "is for pipeline.runs worker: pods of",
        ),
        ((*STORES, "--set-string", f"{MEMORY}=9"), "use metering.resources.limits.memory."),
        (
            (*STORES, "--set", "pipeline.runs=cronjob", "--set-string", f"{MEMORY}=9"),
            "use metering.resources.limits.memory and pipeline.resources.limits.memory.",
        ),
        ((*LOGIN, "--set", "oidc.existingSecret=e"), "oidc.issuer needs oidc.clientId"),
        (
            (
                *STORES,
                "--set",
                "oidc.issuer=http://id.example,oidc.existingSecret=e,oidc.clientId=c",
            ),
            "https",
        ),
        ((*STORES, "--set", "localAccounts=false"), "Nobody could log in"),
        ((*STORES, "--set", "publicUrl=http://portal.example"), "must begin with https://"),
        (("--set", "database.bundled=true,database.port=5433"), "database.port is for one of"),
        ((*STORES, "--set", "identity.user=null"), "missing property 'user'"),
        ((*STORES, "--set", "spaces.user=null"), "missing property 'user'"),
        ((*STORES, "--set", "image.digest=sha256:short"), "does not match pattern"),
        ((*STORES, "--set", "imageRegistry=https://registry.example"), "does not match pattern"),
        ((*STORES, "--set", "imageRegistry=registry.example/"), "does not match pattern"),
        ((*STORES, "--set", "broker.image.registry=docker.io/"), "does not match pattern"),
        ((*STORES, "--set", "dns.cidrs={169.254.20.10}"), "does not match pattern"),
        ((*STORES, "--set", "broker.image.repository=apache/artemis"), "no broker would start"),
        (
            (*STORES, "--set", "broker.image.repository=mirror/apache/activemq-artemis"),
            "broker.plugin=false",
        ),
        ((*STORES, "--set", "settings.PATH=/tmp"), "propertyName"),
        ((*STORES, "--set", "web.replicas=0"), "minimum"),
        ((*STORES, "--set", "mail.host=smtp.example.com"), "mail.host needs mail.from"),
        ((*STORES, "--set", "payments.provider=stripe"), "needs payments.existingSecret"),
        (
            (*STORES, "--set", "payments.provider=webhook,payments.existingSecret=pay"),
            "needs payments.page",
        ),
        ((*STORES, "--set", "dunning.limitDays=9"), "dunning.reminderDays needs a day before"),
        ((*STORES, "--set", "mail.user=waypost"), "mail.user needs mail.existingSecret"),
        (
            (*STORES, "--set", "mail.user=waypost,mail.existingSecret=m,mail.security=none"),
            "in plain text",
        ),
    ],
)
def test_values_that_contradict_each_other_are_refused(
    options: tuple[str, ...], words: str
) -> None:
    assert words in refused(*options)


def test_the_cluster_is_described_as_the_worker_reads_it(tmp_path: Path) -> None:
    found = described(rendered.TRIAL, tmp_path)

    ours = {"app.kubernetes.io/instance": "wp"}
    assert plain(found) == plain(
        Cluster(
            installation="waypost.wp",
            images=Images(broker="waypost/broker:0.1.0"),
            control_namespace="waypost",
            worker_account="wp-worker",
            space_role="wp-space",
            metering_account="wp-metering",
            metering_role="wp-metering",
            worker=Pods("waypost", {**ours, "waypost.io/manages-spaces": "true"}),
            auth_service=Pods(
                "waypost",
                {
                    **ours,
                    "app.kubernetes.io/name": "waypost",
                    "app.kubernetes.io/component": "auth",
                },
            ),
            auth_port=5671,
        )
    )


def test_openshift_assigns_users_and_has_its_own_names(tmp_path: Path) -> None:
    found = described(CHART / "ci" / "openshift-values.yaml", tmp_path)

    assert found.identity == Identity(None, None)
    assert found.dns.namespace == "openshift-dns"
    assert tuple(found.dns_ports) == (5353,)
    assert found.endpoint == EndpointChoice("route", "apps.example.com")


def test_the_worker_is_told_where_else_names_are_asked(tmp_path: Path) -> None:
    found = described(rendered.TRIAL, tmp_path, "--set", "dns.cidrs={169.254.20.10/32,fd00::a/128}")

    assert tuple(found.dns_cidrs) == ("169.254.20.10/32", "fd00::a/128")


@pytest.mark.parametrize("kind", registry.REGISTRY)
def test_every_kind_of_endpoint_can_be_chosen(kind: str, tmp_path: Path) -> None:
    chosen = (
        f"spaces.endpoint.kind={kind},spaces.endpoint.domain=s.example,spaces.endpoint.gateway=a/b"
    )

    found = described(rendered.TRIAL, tmp_path, "--set", chosen)

    assert found.endpoint == EndpointChoice(kind, "s.example", gateway="a/b")


@pytest.mark.parametrize(
    ("variant", "choice"),
    [
        ("trial", CertificateChoice()),
        ("external", CertificateChoice(CertificateSource.SECRET, "spaces-tls")),
        ("gateway", CertificateChoice(CertificateSource.ISSUER, issuer=Issuer(name="public"))),
    ],
)
def test_the_worker_is_told_who_signs_and_reads_no_other_secret(
    variant: str, choice: CertificateChoice, tmp_path: Path
) -> None:
    values = CHART / "ci" / f"{variant}-values.yaml"
    objects = rendered.objects(values)

    readers = [
        object_ for object_ in objects if object_["metadata"]["name"] == f"{RELEASE}-certificate"
    ]

    assert described(values, tmp_path).endpoint.certificate == choice
    is_supplied = choice.source is CertificateSource.SECRET
    assert [reader["kind"] for reader in readers] == ["Role", "RoleBinding"] * is_supplied
    for reader in readers:
        if reader["kind"] == "RoleBinding":
            assert [subject["name"] for subject in reader["subjects"]] == [f"{RELEASE}-worker"]
        else:
            assert reader["rules"] == [
                {
                    "apiGroups": [""],
                    "resources": ["secrets"],
                    "resourceNames": ["spaces-tls"],
                    "verbs": ["get"],
                }
            ]


def test_one_value_moves_every_image(tmp_path: Path) -> None:
    registry = "registry.example:5000/mirror"
    moved = ("--set", f"imageRegistry={registry},router.image.repository=r")
    objects = rendered.objects(rendered.TRIAL, *moved, *_SPARK)

    named = {
        c["image"] for s in rendered.pod_specs(objects).values() for c in rendered.containers(s)
    }
    cluster = described(rendered.TRIAL, tmp_path, *moved)
    spark = rendered.find(objects, "ConfigMap", f"{RELEASE}-spark")["data"]["spark-defaults.conf"]
    named |= {cluster.images.broker, cluster.images.router}
    named |= set(re.findall(r"container\.image (\S+)", spark))

    assert len(named) == 7
    assert all(name.startswith(f"{registry}/") for name in named)


_SPARK = ("--set", "pipeline.spark=kubernetes,pipeline.runs=cronjob")


def test_spark_gets_the_room_that_values_give() -> None:
    sizes = "pipeline.threads=3,pipeline.timeoutSeconds=3000,pipeline.executors=4"
    options = (*_SPARK, "--set", f"{sizes},pipeline.executorCores=5")
    objects = rendered.objects(rendered.TRIAL, *options)
    job = rendered.find(objects, "CronJob", "wp-pipeline")["spec"]["jobTemplate"]["spec"]
    memory = {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}

    common = settings(rendered.TRIAL, *options)
    worker, cron = (
        {
            variable["name"]: variable.get("value", variable.get("valueFrom"))
            for variable in container["env"]
        }
        for name in ("Deployment/wp-metering", "CronJob/wp-pipeline")
        for container in rendered.pod_specs(objects)[name]["containers"]
    )

    assert common["WAYPOST_PIPELINE_THREADS"] == "3"
    # Less than the time that a worker's task has.
    of_tasks = celery_app.app.conf.task_soft_time_limit
    assert int(common["WAYPOST_PIPELINE_TIMEOUT_SECONDS"]) < of_tasks
    assert worker["WAYPOST_PIPELINE_CONTAINER_MB"] == memory
    assert cron["WAYPOST_PIPELINE_CONTAINER_MB"] == memory
    assert cron["WAYPOST_PIPELINE_THREADS"] == "20"  # in pods of their own: cores of all of them
    assert cron["WAYPOST_PIPELINE_BULK"] == "true"
    assert int(cron["WAYPOST_PIPELINE_TIMEOUT_SECONDS"]) == 3000 < job["activeDeadlineSeconds"]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ((), "WAYPOST_PIPELINE_BULK"),
        (("metering.resources.limits.memory=null",), "WAYPOST_PIPELINE_CONTAINER_MB"),
        (("metering.resources.limits=null",), "WAYPOST_PIPELINE_CONTAINER_MB"),
        (
            ("pipeline.runs=cronjob", "pipeline.resources.limits.memory=null"),
            "WAYPOST_PIPELINE_CONTAINER_MB",
        ),
    ],
)
def test_what_no_value_stands_for_is_a_setting(options: tuple[str, ...], name: str) -> None:
    chosen = [word for option in options for word in ("--set", option)]

    found = settings(rendered.TRIAL, *chosen, "--set-string", f"settings.{name}=given")

    assert found[name] == "given"


def test_a_digest_goes_before_the_tag() -> None:
    digest = "sha256:" + "a" * 64
    specs = rendered.pod_specs(rendered.objects(rendered.TRIAL, "--set", f"image.digest={digest}"))

    (container,) = specs["Deployment/wp-web"]["containers"]
    assert container["image"] == f"waypost/control-plane@{digest}"


@pytest.mark.parametrize("values", VARIANTS, ids=lambda path: path.stem)
def test_every_setting_is_one_that_is_read(values: Path) -> None:
    read = set()
    for package in ("controlplane", "workers", "lakehouse"):
        for module in (SOURCES / package).rglob("*.py"):
            read |= set(re.findall(r"\bWAYPOST_[A-Z_]+\b", module.read_text()))
    objects = rendered.objects(values)
    named = {name for name in settings(values) if name.startswith("WAYPOST_")}
    for spec in rendered.pod_specs(objects).values():
        for container in rendered.containers(spec):
            names = [variable["name"] for variable in container.get("env", [])]
            named |= {name for name in names if name.startswith("WAYPOST_")}

    assert len(named) > 15
    assert named <= read


def test_the_portal_s_address_follows_from_how_it_is_exposed() -> None:
    exposed = settings(CHART / "ci" / "external-values.yaml")
    inside = settings(rendered.TRIAL)

    assert exposed["WAYPOST_PUBLIC_URL"] == "https://waypost.example.com"
    assert exposed["WAYPOST_TRUSTED_PROXIES"] == "1"
    assert inside["WAYPOST_PUBLIC_URL"] == "http://localhost:8000"
    assert inside["WAYPOST_TRUSTED_PROXIES"] == "0"


def test_the_portal_answers_at_the_host_that_is_exposed_and_at_its_public_url() -> None:
    """A name that the ingress serves and the portal refuses is an answer 400."""
    external = CHART / "ci" / "external-values.yaml"
    objects = rendered.objects(external, "--set", "publicUrl=https://other.example.com")
    held = rendered.find(objects, "ConfigMap", "wp-settings")["data"]

    assert {"waypost.example.com", "other.example.com"} <= set(_allowed(objects))
    assert set(held["WAYPOST_CSRF_TRUSTED_ORIGINS"].split(",")) == {
        "https://waypost.example.com",
        "https://other.example.com",
    }
    assert "" not in _allowed(rendered.objects())


def _allowed(objects: Sequence[rendered.Object]) -> list[str]:
    (web,) = rendered.pod_specs(objects)["Deployment/wp-web"]["containers"]
    (hosts,) = [e["value"] for e in web["env"] if e["name"] == "WAYPOST_ALLOWED_HOSTS"]
    return str(hosts).split(",")


def test_without_a_router_image_only_brokered_spaces_are_offered() -> None:
    name = "WAYPOST_STANDARD_SPACES_OFFERED"

    assert settings(rendered.TRIAL)[name] == "false"
    with_router = settings(rendered.TRIAL, "--set", "router.image.repository=r")
    assert with_router[name] == "true"


@pytest.mark.parametrize(("options", "revision"), [((), "1"), (("--set", "revision=12"), "12")])
def test_the_worker_s_pod_knows_its_revision(options: tuple[str, ...], revision: str) -> None:
    specs = rendered.pod_specs(rendered.objects(rendered.TRIAL, *options))

    (container,) = specs["Deployment/wp-worker"]["containers"]
    assert {"name": "WAYPOST_REVISION", "value": revision} in container["env"]
    assert "WAYPOST_REVISION" not in settings(rendered.TRIAL, *options)


def test_there_is_a_worker_for_every_queue() -> None:
    used = {route["queue"] for route in schedule.ROUTES.values()}
    used.add(celery_app.app.conf.task_default_queue)
    commands = [
        word
        for spec in rendered.pod_specs(rendered.objects()).values()
        for container in rendered.containers(spec)
        for word in container.get("command", [])
    ]

    assert used == {word.split("=")[1] for word in commands if word.startswith("--queues=")}


def test_ports_and_labels_are_those_of_the_adapter() -> None:
    policy = rendered.find(rendered.objects(), "NetworkPolicy", "wp-workers")
    to_spaces = policy["spec"]["egress"][-1]

    assert to_spaces["ports"] == [{"protocol": "TCP", "port": sizes.PORTS[Listener.MANAGEMENT]}]
    assert to_spaces["to"] == [{"namespaceSelector": {"matchLabels": dict(labels.OURS)}}]
