"""The containers of a rendered release, to be run here: secrets and addresses filled in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.charts import rendered
from tests.support.images.inside import Container


@dataclass(frozen=True)
class Release:
    """``objects`` of the chart; ``secrets`` by (secret, key); ``files`` by volume."""

    objects: list[rendered.Object]
    secrets: Mapping[tuple[str, str], str]
    files: Mapping[str, Path]
    settings: Mapping[str, str]

    def container(self, workload: str, root: Path, *more: str, **options: Any) -> Container:
        """Return the one container of a workload, such as ``Deployment/wp-web``."""
        spec = rendered.pod_specs(self.objects)[workload]
        (described,) = spec["containers"]
        mounts = {each["mountPath"]: each for each in described["volumeMounts"]}
        kinds = {each["name"]: each for each in spec["volumes"]}
        shown = {
            place: self.files[kinds[each["name"]]["name"]]
            for place, each in mounts.items()
            if each.get("readOnly")
        }
        return Container(
            root,
            [*described["command"], *more],
            {**self._environment(described), **self.settings},
            writable=[place for place in mounts if place not in shown],
            shown=shown,
            **options,
        )

    def _environment(self, described: rendered.Object) -> dict[str, str]:
        found: dict[str, str] = {}
        for each in described["envFrom"]:
            name = each["configMapRef"]["name"]
            found |= rendered.find(self.objects, "ConfigMap", name)["data"]
        for each in described.get("env", []):
            found[each["name"]] = self._value(each, found)
        return found

    def _value(self, variable: rendered.Object, known: Mapping[str, str]) -> str:
        if "value" in variable:  # the kubelet fills in what was named before
            return re.sub(r"\$\((\w+)\)", lambda match: known[match[1]], variable["value"])
        source = variable["valueFrom"]
        if "fieldRef" in source:
            return "127.0.0.1"
        if "resourceFieldRef" in source:
            return "4096"  # MiB: all that is asked for is a limit of memory
        return self.secrets[source["secretKeyRef"]["name"], source["secretKeyRef"]["key"]]
