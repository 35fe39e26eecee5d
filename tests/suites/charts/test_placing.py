"""Which pods run at all, how they are spread over zones, and how long their names are."""

import re
from pathlib import Path

import pytest
import yaml

from tests.support.charts import rendered
from tests.support.source_tree import ROOT

_ROUTER = ("--set", "router.image.repository=r")


def test_without_a_router_image_nothing_of_the_auth_service_runs() -> None:
    without = {object_["metadata"]["name"] for object_ in rendered.objects()}
    with_router = rendered.objects(rendered.TRIAL, *_ROUTER)

    assert not {name for name in without if name.startswith("wp-auth")}
    assert "StatefulSet/wp-auth" in rendered.pod_specs(with_router)


@pytest.mark.parametrize("values", rendered.VARIANTS, ids=lambda path: path.stem)
def test_web_worker_and_auth_are_spread_over_zones(values: Path) -> None:
    strict = ("--set", "topologySpread=DoNotSchedule")
    specs = rendered.pod_specs(rendered.objects(values, *strict))

    spread = {name: spec.get("topologySpreadConstraints") for name, spec in specs.items()}
    found = {name for name, constraints in spread.items() if constraints}

    assert found == specs.keys() & {
        "Deployment/wp-web",
        "Deployment/wp-worker",
        "StatefulSet/wp-auth",
    }
    for name in found:
        (constraint,) = spread[name] or []
        assert constraint["topologyKey"] == "topology.kubernetes.io/zone"
        assert constraint["whenUnsatisfiable"] == "DoNotSchedule"


def test_a_long_release_name_still_fits() -> None:
    release = "a-release-name-as-long-as-helm-allows-it-to-be-53-chars"[:53]
    ran = rendered.run("template", release, str(rendered.CHART), "-f", str(rendered.TRIAL))

    assert ran.returncode == 0
    found = re.findall(r"^  name: (\S+)$", ran.stdout, re.M)
    assert found
    assert max(len(name) for name in found) <= 63


def _worker_metrics(*options: str) -> list[object]:
    external = rendered.CHART / "ci" / "external-values.yaml"
    scaler = rendered.find(
        rendered.objects(external, *options), "HorizontalPodAutoscaler", "wp-worker"
    )
    return list(scaler["spec"]["metrics"])


def test_workers_follow_the_spaces_that_wait_where_values_say_so() -> None:
    served = "worker.autoscaling.waitingMetric=waypost_spaces_unreconciled"
    (cpu,) = _worker_metrics()
    first, waiting = _worker_metrics(
        "--set", served, "--set", "worker.autoscaling.waitingLabels.release=wp"
    )

    assert first == cpu
    assert waiting == {
        "type": "External",
        "external": {
            "metric": {
                "name": "waypost_spaces_unreconciled",
                "selector": {"matchLabels": {"release": "wp"}},
            },
            "target": {"type": "AverageValue", "averageValue": "20"},
        },
    }


def test_the_adapters_rule_in_the_manual_serves_the_metric_that_values_name() -> None:
    """The rule's form is that of prometheus-adapter's ``externalRules``."""
    page = (ROOT / "docs" / "operate" / "sizes.md").read_text()
    (text,) = re.findall(r"```\n( *externalRules:.*?)```", page, re.S)
    ((rule,),) = yaml.safe_load(text).values()
    metric = rule["seriesQuery"].partition("{")[0]

    assert set(rule) == {"seriesQuery", "resources", "metricsQuery"}
    assert rule["resources"]["overrides"] == {"namespace": {"resource": "namespace"}}
    assert "sum(" not in rule["metricsQuery"]  # each web pod reports the same number
    gauges = (ROOT / "controlplane" / "gauges.py").read_text()
    assert f'"{metric}"' in gauges
    _, waiting = _worker_metrics("--set", f"worker.autoscaling.waitingMetric={metric}")
    assert f"`worker.autoscaling.waitingMetric` to `{metric}`" in page
    assert isinstance(waiting, dict)
    assert waiting["external"]["metric"]["name"] == metric
