"""Read Waypost's objects in a namespace once for each session, and write those that differ."""

from collections.abc import Collection, Mapping
from typing import cast

from workers.infra.kubernetes import difference, labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.reported import Reported
from workers.infra.kubernetes.resources import (
    Applied,
    ReportedT,
    Resource,
    metadata_of,
    name_of,
)


def marked(wanted: Applied, installation: str) -> Applied:
    """Return a copy of the object with the label of the installation in its own metadata.

    Pod and claim templates do not get the label, because a change of them would restart the pods.
    """
    metadata = metadata_of(wanted)
    labeled = {**(metadata.labels or {}), labels.INSTALLATION: installation}
    return wanted.model_copy(update={"metadata": metadata.model_copy(update={"labels": labeled})})


class Snapshot:
    """Reads and writes Waypost's objects in one namespace; keeps what it has read.

    The objects of a kind are listed at the first use of this kind. ``ensure`` and ``prune`` keep
    the lists up to date with their own writes. An object that already matches is not written. So a
    pass over an unchanged space costs one list request for each kind, and no write.
    """

    def __init__(self, api: Api, namespace: str, installation: str) -> None:
        self._api = api
        self._namespace = namespace
        self._installation = installation
        self._seen: dict[str, dict[str, Reported]] = {}

    def of(self, resource: Resource[ReportedT]) -> Mapping[str, ReportedT]:
        """Return the objects of a kind that carry Waypost's labels, by name, as last known."""
        if resource.kind not in self._seen:
            found = self._api.list(resource, self._namespace, labels.OURS)
            self._seen[resource.kind] = {live.name: live for live in found}
        # The cast is safe: all objects of a kind are read by the model of the same resource.
        return cast(Mapping[str, ReportedT], self._seen[resource.kind])

    def ensure(self, wanted: Applied) -> Reported:
        """Apply the object unless it matches already; return the live object."""
        resource = resources.of(wanted)
        # ``stamped`` after ``marked``, because the digest covers the label too.
        stamped = difference.stamped(marked(wanted, self._installation))
        live = self.of(resource).get(name_of(wanted))
        if live is None or not difference.is_settled(stamped, live):
            live = self._seen[resource.kind][name_of(wanted)] = self._api.apply(stamped)
        return live

    def prune(
        self, resource: Resource[Reported], keep: Collection[str], selector: Mapping[str, str]
    ) -> None:
        """Delete the objects of a kind that match ``selector``, except those named in ``keep``."""
        for name, live in dict(self.of(resource)).items():
            if name not in keep and selector.items() <= live.metadata.labels.items():
                self._api.delete(resource, self._namespace, name)
                del self._seen[resource.kind][name]

    def forget(self, *kinds: Resource[Reported]) -> None:
        """Drop the lists of these kinds, so that the next use reads them again."""
        for resource in kinds:
            self._seen.pop(resource.kind, None)
