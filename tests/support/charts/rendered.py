"""The chart as objects: rendered by helm with the values of a variant. Used by the tests here."""

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.support.charts import tools
from tests.support.source_tree import ROOT

CHART = ROOT / "charts" / "waypost"
RELEASE, NAMESPACE = "wp", "waypost"
VARIANTS = sorted((CHART / "ci").glob("*-values.yaml"))
TRIAL = CHART / "ci" / "trial-values.yaml"

Object = dict[str, Any]


@cache  # the chart stays as it is while tests run
def template(values: Path = TRIAL, *options: str) -> str:
    """Return what ``helm template`` prints; fails with what helm says."""
    ran = run("template", RELEASE, str(CHART), "-n", NAMESPACE, "-f", str(values), *options)
    assert ran.returncode == 0, ran.stderr
    return str(ran.stdout)


def objects(values: Path = TRIAL, *options: str) -> list[Object]:
    """Return the rendered objects."""
    return parse(template(values, *options))


def parse(text: str) -> list[Object]:
    """Return the documents of a YAML text that are not empty."""
    # The loader in C: the one in Python takes longer than helm.
    return [object_ for object_ in yaml.load_all(text, Loader=yaml.CSafeLoader) if object_]


def find(among: Sequence[Object], kind: str, name: str) -> Object:
    """Return the one object of that kind and name."""
    (found,) = [e for e in among if e["kind"] == kind and e["metadata"]["name"] == name]
    return found


def pod_specs(among: Sequence[Object]) -> dict[str, Object]:
    """Return the spec of every pod and pod template by kind and name."""
    found = {}
    for object_ in among:
        spec = object_.get("spec", {})
        if object_["kind"] == "Pod":
            found[f"Pod/{object_['metadata']['name']}"] = spec
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if "template" in spec:
            found[f"{object_['kind']}/{object_['metadata']['name']}"] = spec["template"]["spec"]
    return found


def containers(spec: Object) -> list[Object]:
    """Return all containers of a pod's spec."""
    return [*spec.get("initContainers", []), *spec["containers"]]


def run(*arguments: str, environment: dict[str, str] | None = None) -> Any:
    """Run helm; the caller looks at its exit code."""
    return subprocess.run(
        [tools.helm(), *arguments], capture_output=True, text=True, check=False, env=environment
    )
