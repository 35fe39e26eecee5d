"""What a namespace holds of ours, read once a pass, and brought to what it should hold."""

from collections.abc import Collection, Mapping

from workers.infra.kubernetes import difference, labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.resources import Manifest, Resource, name_of


def marked(manifest: Manifest, installation: str) -> Manifest:
    """Return the manifest with the label that says whose it is; not in the template of its pods."""
    metadata = manifest["metadata"]
    held = {**metadata.get("labels", {}), labels.INSTALLATION: installation}
    return {**manifest, "metadata": {**metadata, "labels": held}}


class Snapshot:
    """The objects of one namespace by kind, listed when first asked for.

    An object that says what it should already is not written: a pass over a settled space costs one
    list call for each kind and no write.
    """

    def __init__(self, api: Api, namespace: str, installation: str) -> None:
        self._api = api
        self._namespace = namespace
        self._installation = installation
        self._seen: dict[str, dict[str, Manifest]] = {}

    def of(self, resource: Resource) -> Mapping[str, Manifest]:
        """Return the objects of a kind by name."""
        if resource.kind not in self._seen:
            found = self._api.list(resource, self._namespace, labels.OURS)
            self._seen[resource.kind] = {name_of(each): each for each in found}
        return self._seen[resource.kind]

    def ensure(self, manifest: Manifest) -> Manifest:
        """Apply the object unless it says so already; return the live one."""
        resource = resources.of(manifest)
        wanted = difference.stamped(marked(manifest, self._installation))
        live = self.of(resource).get(name_of(manifest))
        if live is not None and difference.is_settled(resource, wanted, live):
            return live
        applied = self._api.apply(wanted)
        self._seen[resource.kind][name_of(manifest)] = applied
        return applied

    def prune(self, resource: Resource, keep: Collection[str], selector: Mapping[str, str]) -> None:
        """Delete objects of a kind that carry these labels and are not to be kept."""
        for name, live in dict(self.of(resource)).items():
            held = live["metadata"].get("labels", {}).items()
            if name not in keep and selector.items() <= held:
                self._api.delete(resource, self._namespace, name)
                del self._seen[resource.kind][name]

    def forget(self, *kinds: Resource) -> None:
        """Read these kinds anew when next asked for."""
        for each in kinds:
            self._seen.pop(each.kind, None)
