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
        mounts = {mount["mountPath"]: mount for mount in described["volumeMounts"]}
        kinds = {volume["name"]: volume for volume in spec["volumes"]}
        shown = {
            place: self.files[kinds[mount["name"]]["name"]]
            for place, mount in mounts.items()
            if mount.get("readOnly")
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
        for source in described["envFrom"]:
            name = source["configMapRef"]["name"]
            found |= rendered.find(self.objects, "ConfigMap", name)["data"]
        for variable in described.get("env", []):
            found[variable["name"]] = self._value(variable, found)
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
