"""Build the probes of an engine's container, by which the node's kubelet judges it. Pure.

``pods`` calls it. docs/adr/0021 says why the probes are as they are.
"""

from dataclasses import dataclass

from kubernetes import client as k8s

from controlplane.core.instance_names import Listener
from workers.infra.kinds.base import HealthPaths, InstanceKind


@dataclass(frozen=True)
class Probes:
    """The three probes of a container.

    * ``startup``: ``InstanceKind.ready_listener`` accepts a connection, within an hour. A broker
      opens it after it has read its journal, which may take long. A router answers over HTTP
      whether it listens for clients or not, so without this check the service could lead clients
      to a closed port. No other probe runs before this one has passed, once.
    * ``readiness``: ready.
    * ``liveness``: alive. The cluster restarts the container after six failures, in three minutes.
      A busy engine must not be restarted: each attempt has 20 s, and a broker answers from a thread
      that does nothing else.

    The worker also checks that messages pass. Readiness does not depend on it, so that a failed
    peer takes no instance out of service.
    """

    startup: k8s.V1Probe
    readiness: k8s.V1Probe
    liveness: k8s.V1Probe


def of_container(row: InstanceKind, health: HealthPaths | None) -> Probes:
    """Return the probes of a container with an engine of this kind.

    Without ``health`` all of them only test that a listener accepts connections.
    """
    listens = _accepts(row.ready_listener)
    ready = _answers(health.ready) if health else listens
    alive = _answers(health.alive) if health else _accepts(Listener.MANAGEMENT)
    return Probes(
        startup=_probe(listens, period_seconds=2, timeout_seconds=5, failures=1800),
        readiness=_probe(ready, period_seconds=5, timeout_seconds=5, failures=3),
        liveness=_probe(alive, period_seconds=30, timeout_seconds=20, failures=6),
    )


def _probe(
    check: k8s.V1HTTPGetAction | k8s.V1TCPSocketAction,
    *,
    period_seconds: int,
    timeout_seconds: int,
    failures: int,
) -> k8s.V1Probe:
    """Return a probe that fails after ``failures`` failed checks in a row."""
    return k8s.V1Probe(
        http_get=check if isinstance(check, k8s.V1HTTPGetAction) else None,
        tcp_socket=check if isinstance(check, k8s.V1TCPSocketAction) else None,
        period_seconds=period_seconds,
        timeout_seconds=timeout_seconds,
        failure_threshold=failures,
    )


def _answers(path: str) -> k8s.V1HTTPGetAction:
    """Return the check that the health listener answers at ``path``."""
    # The API's default for the scheme. Without it the live object would always differ.
    return k8s.V1HTTPGetAction(path=path, port=Listener.HEALTH.value, scheme="HTTP")


def _accepts(listener: Listener) -> k8s.V1TCPSocketAction:
    """Return the check that a listener accepts connections."""
    return k8s.V1TCPSocketAction(port=listener.value)
