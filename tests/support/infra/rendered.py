"""Every object that the builders make, over all settings that change one. For ``test_rendered``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from controlplane.core.instance_names import Kind
from tests.support.infra.places import BUDGET, SPACE, broker, cluster, router
from workers.infra.kubernetes import (
    difference,
    instances,
    isolation,
    public_certificates,
    reported,
    resources,
    snapshot,
)
from workers.infra.kubernetes.cluster import (
    CertificateChoice,
    CertificateSource,
    Cluster,
    EndpointChoice,
    Identity,
    Images,
    Issuer,
    IssuerKind,
    Storage,
)
from workers.infra.kubernetes.endpoints import registry
from workers.infra.kubernetes.isolation import Taken
from workers.infra.kubernetes.objects import JsonObject
from workers.infra.kubernetes.resources import Applied

BARE = replace(cluster(), images=Images("b:1"), endpoint=EndpointChoice(), storage=Storage(3))
CLUSTERS: Mapping[str, Cluster] = {
    "usual": cluster(),
    "bare": BARE,
    "openshift": cluster(identity=Identity(None, None)),
    "user": cluster(identity=Identity(7, None)),
    "group": cluster(identity=Identity(None, 7)),
    "storage": cluster(storage=Storage(20, "fast")),
    "pulling": replace(cluster(), images=Images("b@sha256:0", "r@sha256:1", "Always", ["a", "b"])),
    "java": replace(cluster(), java="/opt/java/bin/java", artemis_home="/opt/other"),
    "names": replace(
        cluster(), dns_cidrs=("169.254.20.10/32", "fd00::a/128"), dns_ports=(53, 5353)
    ),
}
SPECS = {
    "broker": broker(),
    "router": router(),
    "image": replace(broker(), image="other/broker:3", memory_mb=1024),
    "no_files": replace(router(), files={}, memory_mb=0),
    "text": replace(
        broker(),
        name="broker-12",
        files={"broker.xml": 'é😀\u2028\\"\n', "server.key": "ü", "x": ""},
    ),
}
TAKEN = Taken({Kind.BROKER: [4096, 0], Kind.ROUTER: [192]}, volumes=5, storage_mb=40000)
LIVE = reported.StatefulSet.of(
    {
        "spec": {
            "volumeClaimTemplates": [
                {"spec": {"resources": {"requests": {"storage": "9Gi"}}, "storageClassName": "old"}}
            ]
        }
    }
)
LIVE_DEFAULT_CLASS = reported.StatefulSet.of(
    {"spec": {"volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": "9Gi"}}}}]}}
)
ORIGINAL = reported.Files.of(
    {
        "metadata": {"name": "pull"},
        "type": "kubernetes.io/dockercfg",
        "data": {".dockercfg": "e30="},
    }
)


def endpoint_choices() -> Mapping[str, EndpointChoice]:
    found = {}
    for name, kind in registry.REGISTRY.items():
        full = EndpointChoice(name, "mq.example.org", "haproxy", "edge/public")
        found[f"{name} full"] = full
        if not kind.needs:
            found[f"{name} bare"] = EndpointChoice(name, gateway="edge/public")
        found[f"{name} annotated"] = replace(
            full,
            annotations={
                "haproxy.org/ssl-passthrough": "false",
                "external-dns.alpha.kubernetes.io/hostname": "own.example.org",
                "a.example.org/b": "c",
            },
        )
    return found


def objects() -> Mapping[str, Sequence[Applied]]:
    """Return the objects by the name of a case."""
    found: dict[str, Sequence[Applied]] = {}
    for name, configured in CLUSTERS.items():
        for spec_name, spec in SPECS.items():
            found[f"instance {name} {spec_name}"] = instances.build(configured, spec)
        found[f"isolation {name}"] = isolation.build(configured, SPACE, BUDGET)
    for budget in (replace(BUDGET, routers=0), replace(BUDGET, brokers=0, routers=0)):
        found[f"isolation {budget}"] = isolation.build(cluster(), SPACE, budget)
        found[f"isolation {budget} taken"] = isolation.build(cluster(), SPACE, budget, TAKEN)
    for case, choice in endpoint_choices().items():
        for kind in Kind:
            found[f"endpoint {case} {kind.value}"] = choice.strategy.build(choice, SPACE, kind)
    found["disruption"] = [instances.disruption_budget(SPACE, kind) for kind in Kind]
    found["pull secret"] = [isolation.pull_secret(SPACE, ORIGINAL)]
    for storage in (Storage(20, "fast"), Storage(3)):
        wanted = instances.stateful_set(cluster(storage=storage), broker())
        found[f"former claims {storage}"] = [
            instances.with_former_claims(wanted, live) for live in (None, LIVE, LIVE_DEFAULT_CLASS)
        ]
    issuers = [Issuer(name="public"), Issuer(IssuerKind.ISSUER, "own")]
    found["certificates"] = [
        public_certificates.build(issuer, SPACE, host)
        for issuer in issuers
        for host in ("wp-a.mq.example.org", "192.0.2.7", "fd00::1")
    ]
    return found


def template_hashes() -> Mapping[str, str]:
    """Return the template hash of each cluster."""
    found = {name: instances.template_hash(configured) for name, configured in CLUSTERS.items()}
    supplied = CertificateChoice(CertificateSource.SECRET, secret="tls")
    with_supplied = replace(cluster(), endpoint=EndpointChoice(certificate=supplied))
    return {**found, "supplied": instances.template_hash(with_supplied)}


def applied() -> Mapping[str, Sequence[JsonObject]]:
    """Return what is sent to the API for each case, each object with its digest and label."""
    return {
        case: [
            resources.document_of(difference.stamped(snapshot.marked(part, "waypost.waypost")))
            for part in found
        ]
        for case, found in objects().items()
    }
