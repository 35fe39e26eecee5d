"""The network policies of the release: who may reach what."""

from dataclasses import replace

import pytest

from tests.support.charts import rendered
from tests.support.charts.rendered import CHART, Object
from tests.support.kubernetes import policies
from tests.support.kubernetes.policies import Pod

_ROUTER = ("--set", "router.image.repository=r")
_MAIL = ("--set", "mail.host=smtp.example.com,mail.from=waypost@example.com")
SPARK = ("--set", "pipeline.spark=kubernetes,pipeline.runs=cronjob")


def component(name: str) -> Pod:
    labels = {
        "app.kubernetes.io/name": "waypost",
        "app.kubernetes.io/instance": "wp",
        "app.kubernetes.io/component": name,
    }
    return Pod(name, "waypost", labels, {"kubernetes.io/metadata.name": "waypost"})


STRANGER = Pod("stranger", "default", {}, {"kubernetes.io/metadata.name": "default"})
_SPACE = {"app.kubernetes.io/part-of": "waypost", "app.kubernetes.io/managed-by": "waypost"}
ROUTER = Pod("router", "wp-1", {**_SPACE, "app.kubernetes.io/component": "router"}, _SPACE)
BROKER = Pod("broker", "wp-1", {**_SPACE, "app.kubernetes.io/component": "broker"}, _SPACE)
OWN = (
    *("web", "worker", "metering", "beat", "auth", "migrate", "test", "pipeline", "executor"),
    "custom-resources",
)
RESOURCES = ("--set", "customResources.enabled=true,customResources.namespaces={shop}")
# Who may reach what, by port; every other pair is refused.
WAYS = {
    ("stranger", "web", 8000),
    ("router", "auth", 5671),
    *(
        (component, "database", 5432)
        for component in ("web", "worker", "metering", "auth", "migrate")
    ),
    ("pipeline", "database", 5432),
    *((component, "queue", 6379) for component in ("web", "worker", "metering", "beat")),
    *(
        (component, place, 5673)
        for component in ("worker", "metering")
        for place in ("router", "broker")
    ),
    ("worker", "broker", 5671),
    ("test", "web", 8000),
    ("custom-resources", "web", 8000),
    ("executor", "pipeline", 7078),
    ("executor", "pipeline", 7079),
    ("pipeline", "executor", 7080),
    ("executor", "executor", 7080),
}


def test_policies_open_these_ways_and_no_others() -> None:
    rules = [
        _placed(e)
        for e in rendered.objects(rendered.TRIAL, *_ROUTER, *SPARK, *RESOURCES)
        if e["kind"] == "NetworkPolicy"
    ]
    pods = [*map(component, (*OWN, "database", "queue")), STRANGER, ROUTER, BROKER]
    ports = sorted({port for _, _, port in WAYS})

    open_ways = {
        (source.name, target.name, port)
        for source in pods
        for target in pods
        for port in ports
        if (source.namespace == "waypost" or target.namespace == "waypost")
        and policies.allows(rules, source, target, port, "TCP")
    }

    from_outside = {("router", "web", 8000), ("broker", "web", 8000)}
    assert open_ways == WAYS | from_outside


def test_the_release_s_test_reaches_a_portal_that_few_may_reach() -> None:
    limited = ("--set-json", 'networkPolicy.webFrom=[{"ipBlock":{"cidr":"192.0.2.0/24"}}]')
    rules = [
        _placed(e)
        for e in rendered.objects(rendered.TRIAL, *limited, *RESOURCES)
        if e["kind"] == "NetworkPolicy"
    ]

    for own in ("test", "custom-resources"):
        assert policies.allows(rules, component(own), component("web"), 8000, "TCP")
    assert not policies.allows(rules, STRANGER, component("web"), 8000, "TCP")


def test_names_are_asked_of_a_cache_in_the_host_s_network_where_values_say_so() -> None:
    """No selector of pods names it: NodeLocal DNSCache."""
    named = ("--set", "dns.cidrs={169.254.20.10/32}")
    host = {"kubernetes.io/metadata.name": "kube-system"}
    cache = Pod("cache", "kube-system", {}, host, "169.254.20.10")

    def asks(port: int, address: str, *options: str) -> bool:
        rules = [
            _placed(object_)
            for object_ in rendered.objects(rendered.TRIAL, *options)
            if object_["kind"] == "NetworkPolicy"
        ]
        target = replace(cache, address=address)
        return policies.allows(rules, component("web"), target, port, "UDP")

    assert asks(53, cache.address, *named)
    assert not asks(53, cache.address)
    assert not asks(53, "169.254.20.11", *named)
    assert not asks(54, cache.address, *named)


@pytest.mark.parametrize(
    ("source", "address", "port", "options", "through"),
    [
        ("worker", "192.0.2.7", 443, (), True),
        ("worker", "10.0.0.7", 443, (), False),
        ("worker", "169.254.169.254", 443, (), False),
        ("worker", "192.0.2.7", 443, ("--set", "networkPolicy.webhooks=false"), False),
        ("web", "192.0.2.7", 443, (), False),
        ("worker", "10.0.0.7", 587, (), False),
        ("worker", "10.0.0.7", 587, _MAIL, True),
        ("web", "10.0.0.7", 587, _MAIL, True),
        ("beat", "10.0.0.7", 587, _MAIL, False),
    ],
)
def test_workers_reach_receivers_of_notifications(
    source: str, address: str, port: int, options: tuple[str, ...], through: bool
) -> None:
    # With addresses of the API server: without them workers reach its ports anywhere.
    api = ("--set-json", 'networkPolicy.apiTo=[{"ipBlock":{"cidr":"198.51.100.1/32"}}]')
    rules = [
        _placed(object_)
        for object_ in rendered.objects(rendered.TRIAL, *api, *options)
        if object_["kind"] == "NetworkPolicy"
    ]
    receiver = Pod("receiver", "elsewhere", {}, {}, address)

    assert policies.allows(rules, component(source), receiver, port, "TCP") is through


@pytest.mark.parametrize(("scrapes", "through"), [("metrics", True), ("", False)])
def test_what_scrapes_reaches_the_portal_where_few_others_do(scrapes: str, through: bool) -> None:
    own = '[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"ingress"}}}]'
    options = (
        *("--set-json", f"networkPolicy.webFrom={own}"),
        *("--set", f"monitoring.enabled=true,monitoring.namespace={scrapes}"),
    )
    rules = [
        _placed(object_)
        for object_ in rendered.objects(rendered.TRIAL, *options)
        if object_["kind"] == "NetworkPolicy"
    ]

    def reaches(namespace: str) -> bool:
        source = Pod("x", namespace, {}, {"kubernetes.io/metadata.name": namespace})
        return policies.allows(rules, source, component("web"), 8000, "TCP")

    assert (reaches("ingress"), reaches("metrics"), reaches("default")) == (True, through, False)


@pytest.mark.parametrize(
    ("value", "port"),
    [
        ("tokenEndpoint=https://login.example/token", 443),
        ("tokenEndpoint=https://login.example:8443/token", 8443),
        ("issuer=https://login.example:9443/realm", 9443),
    ],
)
def test_the_portal_may_ask_the_identity_provider(value: str, port: int) -> None:
    external = CHART / "ci" / "external-values.yaml"
    objects = rendered.objects(external, "--set", f"oidc.{value}")

    policy = rendered.find(objects, "NetworkPolicy", "wp-web")

    assert {"ports": [{"protocol": "TCP", "port": port}]} in policy["spec"]["egress"]


def _placed(policy: Object) -> Object:
    return {**policy, "metadata": {**policy["metadata"], "namespace": "waypost"}}
