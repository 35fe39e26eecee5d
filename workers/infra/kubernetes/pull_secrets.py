"""The registry's credentials, copied from Waypost's own namespace into that of a space.

The chart names them; the worker may read those in its own namespace, and no other secret there.
"""

from collections.abc import Sequence

import structlog

from workers.infra.base import InfraError, Namespace
from workers.infra.kubernetes import isolation, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.infra.kubernetes.resources import Manifest
from workers.infra.kubernetes.snapshot import Snapshot

logger = structlog.get_logger(__name__)

# Source: Kubernetes documentation, "Types of Secret".
_TYPES = frozenset({"kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"})


def ensure(api: Api, cluster: Cluster, namespace: Namespace, snapshot: Snapshot) -> Sequence[str]:
    """Bring the copies up to their originals; return their names. Idempotent.

    Raises:
        InfraError: an original is not there and was never copied here, or is of another type.
    """
    names = []
    for original in cluster.images.pull_secrets:
        name = isolation.pull_secret_name(original)
        names.append(name)
        found = api.find(resources.SECRET, cluster.control_namespace, original)
        if found is not None:
            _check(found, original)
            snapshot.ensure(isolation.pull_secret(namespace, found))
        elif name in snapshot.of(resources.SECRET):
            # What runs may need it again; a new one is copied when it comes.
            logger.warning("a pull secret is gone", secret=original)
        else:
            raise _missing(cluster, original)
    return names


def _check(found: Manifest, original: str) -> None:
    if found.get("type") not in _TYPES:
        raise InfraError(
            f"The secret {original} of `imagePullSecrets` is of the type {found.get('type')}: name "
            f"one of the type {' or '.join(sorted(_TYPES))}.",
            reason="PullSecretUnfit",
            retry=False,
        )


def _missing(cluster: Cluster, original: str) -> InfraError:
    return InfraError(
        f"There is no secret {original} in the namespace {cluster.control_namespace}: make it, or "
        "take it out of `imagePullSecrets`.",
        reason="PullSecretMissing",
        retry=False,
    )
