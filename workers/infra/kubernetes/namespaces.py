"""The namespace of one space: create it, give the worker its rights there, and delete it.

Waypost changes an existing namespace only if it carries the labels of the space, and not the label
of another installation. A namespace without the label of an installation is older than that label,
and counts as this installation's.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError, Namespace
from workers.infra.kubernetes import difference, isolation, labels, observed, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.infra.kubernetes.reported import Reported, WithConditions
from workers.infra.kubernetes.snapshot import Snapshot, marked


class SpaceNamespace:
    """Creates, checks and deletes the namespace with a space's name.

    The namespace may be missing. If it belongs to somebody else, ``ensure``, ``exists`` and
    ``delete`` raise ``InfraError``.
    """

    def __init__(self, api: Api, cluster: Cluster, namespace: Namespace) -> None:
        self._api = api
        self._cluster = cluster
        self._namespace = namespace

    def ensure(self) -> None:
        """Create the namespace, or update its labels; nothing that is in it. Idempotent.

        Raises:
            InfraError: ``NamespaceTaken`` or ``OtherInstallation`` if it belongs to somebody else;
                ``NamespaceEnding`` or ``NamespaceStuck`` while it is being deleted; and what
                ``Api.apply`` raises.
        """
        live = self._find()
        if live is not None:
            self._check_owner(live)
            if live.is_ending:
                _check_end(live)
                raise InfraError(
                    f"Somebody deleted the namespace {live.name}; it is created again once "
                    "the deletion has finished.",
                    reason=Reason.NAMESPACE_ENDING,
                    retry=True,
                )
        ours = marked(isolation.namespace_object(self._namespace), self._cluster.installation)
        wanted = difference.stamped(ours)
        # Not through a snapshot: a namespace is no object inside itself.
        if live is None or not difference.is_settled(wanted, live):
            self._api.apply(wanted)

    def exists(self) -> bool:
        """Return whether the namespace exists and nobody has requested its deletion.

        Raises:
            InfraError: ``NamespaceTaken`` or ``OtherInstallation``: it belongs to somebody else.
        """
        live = self._find()
        if live is None or live.is_ending:
            return False
        self._check_owner(live)
        return True

    def delete(self) -> bool:
        """Request the deletion of the namespace with everything in it; return True once it is gone.

        Raises:
            InfraError: ``NamespaceTaken`` or ``OtherInstallation``: it belongs to somebody else;
                ``NamespaceStuck``: the cluster has not finished an earlier request in time.
        """
        live = self._find()
        if live is None:
            return True
        self._check_owner(live)
        _check_end(live)  # raises with the cluster's reason if the deletion hangs
        return self._api.delete(resources.NAMESPACE, None, live.name)

    def new_snapshot(self) -> Snapshot:
        """Return a snapshot of the objects in the namespace, which has read nothing yet."""
        return Snapshot(self._api, self._namespace.name, self._cluster.installation)

    @contextmanager
    def rights(self, snapshot: Snapshot) -> Iterator[None]:
        """Ensure the worker's role binding in the namespace, then run the block. The binding stays.

        The API server's authorizer reads role bindings from a cache that may lag. So if the binding
        is new, a refusal in the block means "not yet".

        Raises:
            InfraError: ``RightsPending`` in that case.
        """
        wanted = isolation.role_binding(self._cluster, self._namespace)
        is_new = resources.name_of(wanted) not in snapshot.of(resources.ROLE_BINDING)
        snapshot.ensure(wanted)
        try:
            yield
        except InfraError as error:
            if is_new and error.reason == Reason.CLUSTER_FORBIDDEN:
                raise InfraError(
                    "The cluster does not apply the worker's new rights in the namespace yet.",
                    reason=Reason.RIGHTS_PENDING,
                    retry=True,
                ) from error
            raise

    def is_marked_by_another(self, live: Reported) -> bool:
        """Return whether the object carries the label of another installation."""
        own = self._cluster.installation
        return live.metadata.labels.get(labels.INSTALLATION, own) != own

    def _find(self) -> WithConditions | None:
        return self._api.find(resources.NAMESPACE, None, self._namespace.name)

    def _check_owner(self, live: Reported) -> None:
        ours = labels.of_space(self._namespace)
        if not ours.items() <= live.metadata.labels.items():
            raise InfraError(
                f"The namespace {live.name} does not carry the labels of this space: "
                f"{', '.join(f'{key}={value}' for key, value in ours.items())}. If it is this "
                "space's, put them back; if it is somebody else's, give that another name.",
                reason=Reason.NAMESPACE_TAKEN,
                retry=False,
            )
        if self.is_marked_by_another(live):
            wanted = self._cluster.installation
            raise InfraError(
                f"The namespace {live.name} belongs to the installation "
                f"{live.metadata.labels[labels.INSTALLATION]} of Waypost, and this is {wanted}. "
                "Two installations cannot share a database: give one of them another. If this one "
                "takes over the other's spaces, stop that one, label their namespaces "
                f"{labels.INSTALLATION}={wanted} and delete the role bindings that it made there.",
                reason=Reason.OTHER_INSTALLATION,
                retry=False,
            )


def _check_end(live: WithConditions) -> None:
    """Raise ``InfraError`` (``NamespaceStuck``) if the deletion of the namespace takes too long."""
    trouble = observed.ending_trouble(live, datetime.now(UTC))
    if trouble:
        raise InfraError(
            f"The deletion of the namespace {live.name} does not finish: {trouble} Fix what "
            "holds it in the cluster; Waypost then continues automatically.",
            reason=Reason.NAMESPACE_STUCK,
            retry=True,
        )
