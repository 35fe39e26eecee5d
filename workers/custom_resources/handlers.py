"""kopf's handlers: they call ``controller`` and write the status. Only this module imports kopf.

kopf watches the resources, keeps their finalizers, and calls a handler again after a
``TemporaryError``. A timer compares every resource again, so that a change that somebody made in
Waypost is put back, and so that a missed event does no harm.
"""

from collections.abc import Sequence
from typing import Any

import kopf

from workers.custom_resources.controller import Controller, Outcome
from workers.custom_resources.kinds import GROUP, KINDS, VERSION, ResourceKind

_ANY_HOST = "0.0.0.0"  # a kubelet probes the address of the pod
_FINALIZER = f"{GROUP}/finalizer"
_SLOWEST = 6  # times the first delay


def run(
    controller: Controller, namespaces: Sequence[str], resync_seconds: float, probe_port: int | None
) -> None:
    """Watch the namespaces until SIGTERM or SIGINT."""
    registry = kopf.OperatorRegistry()
    kopf.on.startup(registry=registry)(_configure)
    kopf.on.login(registry=registry)(_log_in)
    for kind in KINDS:
        _register(registry, controller, kind, resync_seconds)
    kopf.run(
        registry=registry,
        namespaces=list(namespaces),
        standalone=True,  # the chart runs one pod
        liveness_endpoint=f"http://{_ANY_HOST}:{probe_port}/healthz" if probe_port else None,
    )


def _configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    # Events and custom resource definitions are not watched: the controller has no right to.
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.persistence.finalizer = _FINALIZER
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=GROUP)
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix=GROUP)
    settings.execution.max_workers = 8
    settings.execution.default_backoff = 15
    # A deletion that comes during a comparison waits for its end: kopf would look once a minute.
    settings.background.cancellation_polling = 1


def _log_in(**arguments: Any) -> Any:
    return kopf.login_with_service_account(**arguments) or kopf.login_with_kubeconfig(**arguments)


def _register(
    registry: kopf.OperatorRegistry,
    controller: Controller,
    kind: ResourceKind,
    resync_seconds: float,
) -> None:
    def apply(body: kopf.Body, patch: kopf.Patch, retry: int, **_: Any) -> None:
        _report(controller.apply(kind, body), patch, retry)

    def remove(body: kopf.Body, patch: kopf.Patch, retry: int, **_: Any) -> None:
        _report(controller.remove(kind, body), patch, retry)

    def compare(body: kopf.Body, patch: kopf.Patch, **arguments: Any) -> None:
        _report(controller.apply(kind, body), patch, arguments.get("retry", 0))

    where: Any = (GROUP, VERSION, kind.plural)
    kopf.on.create(*where, id="apply", registry=registry)(apply)
    kopf.on.update(*where, id="apply", registry=registry)(apply)
    # What exists when the controller starts: it may have changed while none ran.
    kopf.on.resume(*where, id="apply", registry=registry)(apply)
    kopf.on.delete(*where, id="remove", registry=registry)(remove)
    kopf.timer(
        *where,
        id="compare",
        interval=resync_seconds,
        initial_delay=resync_seconds,
        registry=registry,
    )(compare)


def _report(outcome: Outcome, patch: kopf.Patch, retry: int) -> None:
    patch.status.update(outcome.status)
    if outcome.again_seconds is not None:
        delay = outcome.again_seconds * min(1 + retry / 3, _SLOWEST)
        raise kopf.TemporaryError(outcome.message, delay=delay)
