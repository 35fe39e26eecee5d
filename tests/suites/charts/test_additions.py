"""What a site adds to the pods of each component, and labels of its own on every object."""

from pathlib import Path

import pytest

from tests.support.charts import rendered
from tests.support.charts.rendered import CHART, Object

_ALL = ("--set", "router.image.repository=r,pipeline.spark=kubernetes,pipeline.runs=cronjob")
_WORKLOADS = {
    "web": "Deployment/wp-web",
    "worker": "Deployment/wp-worker",
    "metering": "Deployment/wp-metering",
    "beat": "Deployment/wp-beat",
    "auth": "StatefulSet/wp-auth",
    "migrate": "Job/wp-migrate",
    "pipeline": "CronJob/wp-pipeline",
}
_ADDED = """
extraEnv: [{name: HTTPS_PROXY, value: "http://proxy.example:3128"}]
extraVolumes: [{name: ca, configMap: {name: site-ca}}]
extraVolumeMounts: [{name: ca, mountPath: /etc/site, readOnly: true}]
initContainers: [{name: first, image: registry.example/first:1}]
podAnnotations: {all: own, own: own}
"""


def added_to(component: str, folder: Path) -> dict[str, Object]:
    """Return every pod template by kind and name, with additions to one component."""
    own = "".join(f"  {line}\n" for line in _ADDED.strip().splitlines())
    values = f"{rendered.TRIAL.read_text()}\npodAnnotations: {{all: all}}\n"
    values = _merged(values, component, own)
    (folder / "values.yaml").write_text(values)
    return _templates(rendered.objects(folder / "values.yaml", *_ALL))


def _merged(values: str, component: str, own: str) -> str:
    """Return the values with ``own`` below the component's key, which may be there already."""
    head, key, tail = values.partition(f"\n{component}:\n")
    return f"{head}{key}{own}{tail}" if key else f"{values}{component}:\n{own}"


def _templates(objects: list[Object]) -> dict[str, Object]:
    found = {}
    for object_ in objects:
        spec = object_.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if "template" in spec:
            name = object_["metadata"]["name"]
            name = "wp-migrate" if name.startswith("wp-migrate") else name
            found[f"{object_['kind']}/{name}"] = spec["template"]
    return found


@pytest.mark.parametrize("component", _WORKLOADS)
def test_each_component_has_its_own(component: str, tmp_path: Path) -> None:
    templates = added_to(component, tmp_path)
    target = templates.pop(_WORKLOADS[component])
    spec = target["spec"]
    (container,) = spec["containers"]

    assert {"name": "HTTPS_PROXY", "value": "http://proxy.example:3128"} in container["env"]
    assert {"name": "ca", "mountPath": "/etc/site", "readOnly": True} in container["volumeMounts"]
    assert {"name": "ca", "configMap": {"name": "site-ca"}} in spec["volumes"]
    assert spec["initContainers"][0] == {"name": "first", "image": "registry.example/first:1"}
    # What the product itself runs first needs the same proxy and the same files.
    for waiting in spec["initContainers"][1:]:
        assert {"name": "HTTPS_PROXY", "value": "http://proxy.example:3128"} in waiting["env"]
        assert waiting["volumeMounts"][-1]["name"] == "ca"
    assert target["metadata"]["annotations"].items() >= {"all": "own", "own": "own"}.items()
    assert "site-ca" not in str(templates)
    assert {e["metadata"]["annotations"]["all"] for e in templates.values()} == {"all"}


def test_the_controller_of_custom_resources_has_only_variables_of_the_site() -> None:
    """So none of them can be there twice, and the chart need not compare them."""
    on = "customResources.enabled=true,customResources.namespaces={shop}"
    own = '[{"name":"WAYPOST_PUBLIC_URL","value":"http://portal.example"}]'
    options = ("--set", on, "--set-json", f"customResources.extraEnv={own}")
    specs = rendered.pod_specs(rendered.objects(rendered.TRIAL, *options))
    (container,) = specs["Deployment/wp-custom-resources"]["containers"]

    assert [variable["name"] for variable in container["env"]] == ["WAYPOST_PUBLIC_URL"]
    assert "envFrom" not in container


def test_a_label_of_the_site_is_on_every_object_and_in_no_selector() -> None:
    external = CHART / "ci" / "external-values.yaml"
    before = rendered.objects(external, *_ALL)
    after = rendered.objects(external, *_ALL, "--set", "commonLabels.cost-center=k7")

    for object_ in after:
        assert object_["metadata"]["labels"]["cost-center"] == "k7", object_["metadata"]["name"]
    for name, template in _templates(after).items():
        assert template["metadata"]["labels"]["cost-center"] == "k7", name
    assert _selectors(after) == _selectors(before)
    assert "cost-center" not in str(_selectors(after))


def _selectors(objects: list[Object]) -> list[object]:
    keys = ("selector", "podSelector", "volumeClaimTemplates", "ingress", "egress")
    return [[e["spec"].get(key) for key in keys] for e in objects if "spec" in e]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--set", "commonLabels.app\\.kubernetes\\.io/name=x"), "app.kubernetes.io/name"),
        (("--set-json", 'web.extraVolumes=[{"name":"scratch","emptyDir":{}}]'), "'not' failed"),
        (("--set-json", 'web.extraEnv=[{"name":"A","values":"b"}]'), "values"),
        (
            (
                "--set-json",
                'beat.extraEnv=[{"name":"WAYPOST_REDIS_URL","value":"redis://queue.example"}]',
            ),
            "beat.extraEnv: the chart itself sets WAYPOST_REDIS_URL",
        ),
        (
            (
                "--set-json",
                'web.extraEnv=[{"name":"WAYPOST_PUBLIC_URL","value":"http://portal.example"}]',
            ),
            "web.extraEnv: the chart itself sets WAYPOST_PUBLIC_URL",
        ),
        (
            ("--set-json", 'worker.extraEnv=[{"name":"WAYPOST_WATCH_PODS","value":"false"}]'),
            "worker.extraEnv: the chart itself sets WAYPOST_WATCH_PODS",
        ),
    ],
)
def test_additions_that_collide_with_the_chart_s_are_refused(
    option: tuple[str, ...], words: str
) -> None:
    ran = rendered.run("template", "wp", str(CHART), "-f", str(rendered.TRIAL), *option)

    assert ran.returncode != 0
    assert words in ran.stderr
