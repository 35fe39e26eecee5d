"""Copy the registries' credentials from Waypost's own namespace into that of a space.

The chart's value ``imagePullSecrets`` names these Secrets. In Waypost's own namespace the worker
may read only these Secrets, and the Secret of a provided certificate.
"""

from collections.abc import Sequence

import structlog

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError, Namespace
from workers.infra.kubernetes import isolation, reported, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.infra.kubernetes.snapshot import Snapshot

logger = structlog.get_logger(__name__)

# Source: Kubernetes documentation, "Types of Secret".
_TYPES = frozenset({"kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"})

# Problems that only a person can fix, so a space that serves does not wait for that.
_LASTING = frozenset(
    {Reason.PULL_SECRET_MISSING, Reason.PULL_SECRET_UNFIT, Reason.CLUSTER_FORBIDDEN}
)


def ensure(api: Api, cluster: Cluster, namespace: Namespace, snapshot: Snapshot) -> Sequence[str]:
    """Copy the Secrets, or update the copies; return the names of all copies. Idempotent.

    An original may be missing, have another type or be forbidden to read. If the space has a copy
    or an instance already, such a problem is logged and not raised. The copy is then neither made
    nor updated, but its name is returned, so that the caller keeps an existing copy.

    Raises:
        InfraError: one of these problems, and the space has neither a copy nor an instance; or the
            cluster does not answer.
    """
    names = []
    for original in cluster.images.pull_secrets:
        name = isolation.pull_secret_name(original)
        names.append(name)
        try:
            found = _find(api, cluster, original)
        except InfraError as error:
            is_new = not snapshot.of(resources.STATEFUL_SET)
            is_copied = name in snapshot.of(resources.SECRET)
            if error.reason not in _LASTING or (is_new and not is_copied):
                raise
            logger.warning("a pull secret is not copied", secret=original, reason=str(error))
            continue
        snapshot.ensure(isolation.pull_secret(namespace, found))
    return names


def _find(api: Api, cluster: Cluster, original: str) -> reported.Files:
    """Return the Secret ``original`` in Waypost's own namespace.

    Raises:
        InfraError: ``PullSecretMissing``; ``PullSecretUnfit`` if its type is not one for
            credentials of registries; and what ``Api.find`` raises.
    """
    found = api.find(resources.SECRET, cluster.control_namespace, original)
    if found is None:
        raise InfraError(
            f"There is no secret {original} in the namespace {cluster.control_namespace}: create "
            "it or remove it from `imagePullSecrets`.",
            reason=Reason.PULL_SECRET_MISSING,
            retry=False,
        )
    if found.type not in _TYPES:
        raise InfraError(
            f"The secret {original} of `imagePullSecrets` has the type {found.type}: name "
            f"one of the type {' or '.join(sorted(_TYPES))}.",
            reason=Reason.PULL_SECRET_UNFIT,
            retry=False,
        )
    return found
