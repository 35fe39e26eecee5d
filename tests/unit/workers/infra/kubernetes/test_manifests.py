"""Every builder's objects, literally, and as the client's own models read them.

``expected/*.yaml`` are read by people: change one only with the builder, and look at it.
"""

import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client import ApiClient

from controlplane.core.instance_names import Kind
from tests.support.infra.places import BUDGET, SPACE, broker, cluster, router
from workers.infra.kubernetes import (
    instances,
    isolation,
    network,
    pods,
    public_certificates,
    reported,
    resources,
)
from workers.infra.kubernetes.cluster import (
    CertificateChoice,
    CertificateSource,
    Cluster,
    EndpointChoice,
    Identity,
    Issuer,
    IssuerKind,
    Storage,
)
from workers.infra.kubernetes.endpoints import registry
from workers.infra.kubernetes.resources import Applied, Resource

EXPECTED = Path(__file__).parent / "expected"
CASES: dict[str, Sequence[Applied]] = {
    "isolation_standard": isolation.build(cluster(), SPACE, BUDGET),
    "isolation_brokered": isolation.build(cluster(), SPACE, replace(BUDGET, brokers=1, routers=0)),
    "broker": instances.build(cluster(storage=Storage(20, "fast")), broker()),
    "router": instances.build(cluster(), router()),
    "disruption_budgets": [instances.disruption_budget(SPACE, kind) for kind in Kind],
    **{
        f"endpoint_{name}": kind.build(cluster(name).endpoint, SPACE, Kind.BROKER)
        for name, kind in registry.REGISTRY.items()
    },
    "certificate": [
        public_certificates.build(Issuer(name="public"), SPACE, "wp-a.mq.example.org"),
        public_certificates.build(Issuer(IssuerKind.ISSUER, "own"), SPACE, "192.0.2.7"),
    ],
}
OPENSHIFT = cluster(identity=Identity(None, None))


@pytest.mark.parametrize("name", CASES)
def test_objects_are_literally(name: str) -> None:
    expected = list(yaml.load_all((EXPECTED / f"{name}.yaml").read_text(), Loader=yaml.CSafeLoader))

    assert [resources.document_of(part) for part in CASES[name]] == expected


@pytest.mark.parametrize("name", CASES)
def test_the_clients_models_keep_every_field(name: str) -> None:
    client: Any = ApiClient()
    for wanted in CASES[name]:
        model = _model(resources.of(wanted))
        document = resources.document_of(wanted)
        if model is not None:
            read = client.deserialize(json.dumps(document), model, "application/json")
            assert client.sanitize_for_serialization(read) == document


def test_on_openshift_no_user_or_group_is_fixed() -> None:
    for spec in (broker(), router()):
        text = yaml.safe_dump(resources.document_of(instances.stateful_set(OPENSHIFT, spec)))
        for field in ("runAsUser", "runAsGroup", "fsGroup"):
            assert field not in text
        assert "runAsNonRoot: true" in text


def test_only_cold_files_are_in_the_template() -> None:
    def template(**files: str) -> object:
        spec = broker()
        changed = {**spec.files, **files}
        return instances.stateful_set(cluster(), replace(spec, files=changed))

    assert template() == template(**{"broker.xml": "<other/>"})
    assert template() != template(**{"login.config": "other"})


def test_routers_ask_for_names_at_addresses_too() -> None:
    cached = replace(cluster(), dns_cidrs=("169.254.20.10/32",))
    policies: list[Any] = [
        resources.document_of(policy) for policy in network.policies(cached, SPACE, BUDGET)
    ]

    (names,) = [policy["spec"] for policy in policies if policy["metadata"]["name"] == "names"]
    (rule,) = names["egress"]

    assert [set(peer) for peer in rule["to"]] == [{"namespaceSelector", "podSelector"}, {"ipBlock"}]
    assert rule["to"][1] == {"ipBlock": {"cidr": "169.254.20.10/32"}}
    assert [port["port"] for port in rule["ports"]] == [53, 53]


def _model(resource: Resource[reported.Reported]) -> str | None:
    """Return the name of the client's model, None for kinds that the client does not know."""
    group, _, version = resource.api_version.rpartition("/")
    if ("." in group and not group.endswith(".k8s.io")) or group.startswith("gateway"):
        return None
    return f"{version.capitalize()}{resource.kind}"


def wrote(manager: str, *files: str) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Apply" if manager == "waypost" else "Update",
        "fieldsV1": {"f:data": {".": {}, **{f"f:{file}": {} for file in files}}},
    }


def test_a_spec_that_is_held_back_takes_on_nothing_that_others_wrote() -> None:
    former = {
        "kind": "Secret",
        "metadata": {
            "managedFields": [wrote("waypost", "server.key"), wrote("kubectl-edit", "login.config")]
        },
        "data": {"server.key": "Zm9ybWVy", "login.config": "/w==", "spy": "/w=="},
    }

    held = instances.with_former(broker(), [reported.Files.of(former)])

    assert held.files == {**broker().files, "server.key": "former"}


def test_a_spec_that_is_held_back_keeps_former_files_and_lacks_none() -> None:
    """Somebody deleted the object of one: a pod that started without it would not come up."""
    former = {
        "kind": "ConfigMap",
        "metadata": {"managedFields": [wrote("waypost", "broker.xml", "logging.properties")]},
        "data": {"broker.xml": "<former/>", "logging.properties": "former"},
    }

    held = instances.with_former(broker(), [reported.Files.of(former)])

    assert held.files == {
        "broker.xml": "<configuration/>",  # live: as wanted
        "logging.properties": "former",
        "login.config": "login",
        "server.key": "key",
    }


def test_the_shape_is_of_how_pods_are_made_and_of_no_space_or_image() -> None:
    images = replace(cluster().images, broker="other/broker:3", router="other/router:9")
    template_hash = instances.template_hash(cluster())

    assert instances.template_hash(cluster("route")) == template_hash
    assert instances.template_hash(replace(cluster(), images=images)) == template_hash
    assert instances.template_hash(OPENSHIFT) != template_hash
    assert instances.template_hash(replace(cluster(), java="/opt/java/bin/java")) != template_hash


def test_given_certificates_are_another_shape_whoever_gives_them() -> None:
    def template_hash(choice: CertificateChoice) -> str:
        return instances.template_hash(
            replace(cluster(), endpoint=EndpointChoice(certificate=choice))
        )

    supplied = template_hash(CertificateChoice(CertificateSource.SECRET, secret="tls"))
    issued = template_hash(
        CertificateChoice(CertificateSource.ISSUER, issuer=Issuer(name="public"))
    )

    assert template_hash(CertificateChoice()) == instances.template_hash(cluster())
    assert supplied == issued != instances.template_hash(cluster())


def command_of(configured: Cluster) -> Sequence[str]:
    """Return the command of a broker's container."""
    return pods.container(configured, broker()).command or []


def test_a_broker_with_the_plugin_is_another_template() -> None:
    plain, guarded = cluster(broker_plugin=False), cluster()

    before, after = (command_of(configured) for configured in (plain, guarded))

    assert [part for part in after if part not in before] == [
        "-Dwaypost.health=0.0.0.0:5675",
        "-Dwaypost.guard=waypost.broker.Guard",
        "-Dwaypost.unguarded-connections=-1",
        "-Dwaypost.replies=waypost-replies",
    ]
    # A change of the value is announced: it begins a rollout.
    assert instances.template_hash(plain) != instances.template_hash(guarded)


def test_a_broker_without_the_plugin_is_probed_by_connections() -> None:
    """It has no health listener."""
    container = pods.container(cluster(broker_plugin=False), broker())
    probes = [container.startup_probe, container.readiness_probe, container.liveness_probe]

    assert [probe and probe.http_get for probe in probes] == [None] * 3
    assert [probe and probe.tcp_socket and probe.tcp_socket.port for probe in probes] == [
        "management"
    ] * 3
    assert "health" not in {port.name for port in container.ports or []}


def test_the_native_library_is_that_of_the_machine(tmp_path: Path) -> None:
    """The command names no processor: the script finds it where the broker runs."""
    shown = tmp_path / "java"
    shown.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    shown.chmod(0o755)
    command = command_of(cluster(java=str(shown)))

    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    folder = f"/opt/activemq-artemis/bin/lib/linux-{platform.machine()}"
    assert f"-Djava.library.path={folder}" in printed.splitlines()
    assert printed.splitlines()[-2:] == ["org.apache.activemq.artemis.cli.Artemis", "run"]
    assert platform.machine() not in " ".join(command)
