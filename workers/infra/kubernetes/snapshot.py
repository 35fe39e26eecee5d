"""Read Waypost's objects of a namespace once per reconcile pass, and update those that differ."""

from collections.abc import Collection, Mapping

from workers.infra.kubernetes import difference, labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.resources import Manifest, Resource, name_of


def marked(manifest: Manifest, installation: str) -> Manifest:
    """Return the manifest with the label of the installation, but without it on pod templates."""
    metadata = manifest["metadata"]
    labeled = {**metadata.get("labels", {}), labels.INSTALLATION: installation}
    return {**manifest, "metadata": {**metadata, "labels": labeled}}


class Snapshot:
    """The objects of one namespace by kind, listed at the first use.

    An object that already matches its manifest is not written. So a pass over an unchanged space
    costs one list call for each kind, and no write.
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
            self._seen[resource.kind] = {name_of(live): live for live in found}
        return self._seen[resource.kind]

    def ensure(self, manifest: Manifest) -> Manifest:
        """Apply the object unless it matches already; return the live object."""
        resource = resources.of(manifest)
        wanted = difference.stamped(marked(manifest, self._installation))
        live = self.of(resource).get(name_of(manifest))
        if live is not None and difference.is_settled(resource, wanted, live):
            return live
        applied = self._api.apply(wanted)
        self._seen[resource.kind][name_of(manifest)] = applied
        return applied

    def prune(self, resource: Resource, keep: Collection[str], selector: Mapping[str, str]) -> None:
        """Delete the objects of a kind that have these labels and are not in ``keep``."""
        for name, live in dict(self.of(resource)).items():
            live_labels = live["metadata"].get("labels", {}).items()
            if name not in keep and selector.items() <= live_labels:
                self._api.delete(resource, self._namespace, name)
                del self._seen[resource.kind][name]

    def forget(self, *kinds: Resource) -> None:
        """Make the next use list these kinds again."""
        for resource in kinds:
            self._seen.pop(resource.kind, None)
