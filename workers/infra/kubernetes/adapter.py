"""The port ``Infra`` on a Kubernetes cluster: one namespace for each address space.

The desired state is in PostgreSQL, so the adapter needs no custom resources. Its only watch is that
of pods (``pod_changes``), which makes passes begin sooner. Callers open a session (``session``),
which lists the live objects and applies those that differ. Nothing waits for readiness:
``observed`` computes it from the live objects. ``workers.infra.base`` documents the methods.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from workers.infra.base import EngineImages, Namespace
from workers.infra.kubernetes import instances, labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.infra.kubernetes.session import KubernetesSession


class KubernetesInfra:
    """The adapter of ``Infra``: runs each instance as a stateful set of one pod."""

    def __init__(self, api: Api, cluster: Cluster) -> None:
        self._api = api
        self._cluster = cluster

    def engine_images(self) -> EngineImages:
        images = self._cluster.images
        return EngineImages(images.broker, images.router, instances.template_hash(self._cluster))

    @contextmanager
    def open(self, namespace: Namespace) -> Iterator[KubernetesSession]:
        session = KubernetesSession(self._api, self._cluster, namespace)
        try:
            yield session
        finally:
            session.close()

    def list_namespaces(self) -> Sequence[str]:
        ours = {**labels.OURS, labels.INSTALLATION: self._cluster.installation}
        return sorted(live.name for live in self._api.list(resources.NAMESPACE, None, ours))
