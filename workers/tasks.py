"""Celery tasks. Each takes ids and makes one call; outcomes are stored in rows, not in results.

A message only triggers another look at the rows, so a lost, repeated or reordered message does no
harm. ``workers.schedule`` is the table of the periodic tasks. Every task accepts unknown arguments,
because a newer version may send more while two versions run.
"""

from celery import shared_task
from django.utils import timezone

from controlplane.core import enqueue, expiry
from workers import volumes, wiring
from workers.infra import adapters
from workers.metering import closing, live, periodic, sampling, verifying
from workers.reconcile import loop
from workers.rollouts import fleet, release


@shared_task(name="workers.reconcile_space")  # type: ignore[untyped-decorator]
def reconcile_space(*, space_id: str, **_future: str) -> None:
    """Reconcile one space, unless another worker holds its lease."""
    loop.reconcile(space_id, wiring.ports())


@shared_task(name="workers.reconcile_due")  # type: ignore[untyped-decorator]
def reconcile_due(**_future: str) -> None:
    """Enqueue ``reconcile_space`` for each space that is due."""
    # Messages expire, because the next run lists every space again that is still due.
    for space_id in loop.list_due(wiring.ports()):
        reconcile_space.apply_async(kwargs={"space_id": space_id}, expires=60)


@shared_task(name="workers.roll_out")  # type: ignore[untyped-decorator]
def roll_out(**_future: str) -> None:
    """Take the next step of the rollout of the newest engine release."""
    ports = wiring.ports()
    images = release.configured(ports.infra, ports.routing)
    fleet.advance(images, fleet.policy(), timezone.now())


@shared_task(name="workers.release_volumes")  # type: ignore[untyped-decorator]
def release_volumes(**_future: str) -> None:
    """Remove the volumes of deleted spaces that an operator has released."""
    volumes.remove_released(adapters.current())


@shared_task(name="workers.sample")  # type: ignore[untyped-decorator]
def sample(**_future: str) -> None:
    """Sample every active space once; enqueue a reconcile pass where an instance is silent.

    So the conditions of a space report a lost instance within one sampling interval.
    """
    for sampled in sampling.sample_all(wiring.readers()):
        if sampled.silent:
            enqueue.after_commit("workers.reconcile_space", space_id=sampled.space_id)


@shared_task(name="workers.land")  # type: ignore[untyped-decorator]
def land(**_future: str) -> None:
    """Write the samples since the last landing to the bronze table."""
    periodic.land()


@shared_task(name="workers.enforce_quotas")  # type: ignore[untyped-decorator]
def enforce_quotas(**_future: str) -> None:
    """Apply the period quotas to alerts and spaces, counting usage that is not in gold yet."""
    live.enforce(timezone.now())


@shared_task(name="workers.run_pipeline")  # type: ignore[untyped-decorator]
def run_pipeline(**_future: str) -> None:
    """Compute gold from bronze with Spark, and copy it to the database."""
    periodic.run_pipeline(timezone.now())


@shared_task(name="workers.close_invoice")  # type: ignore[untyped-decorator]
def close_invoice(*, invoice_id: str, **_future: str) -> None:
    """Gather the evidence for a closing invoice, then make it a draft or hold it."""
    closing.close(invoice_id, wiring.readers())


@shared_task(name="workers.verify_invoice")  # type: ignore[untyped-decorator]
def verify_invoice(*, invoice_id: str, **_future: str) -> None:
    """Recompute an invoice from its pinned table versions, and store the result."""
    verifying.verify(invoice_id)


@shared_task(name="workers.bill_due")  # type: ignore[untyped-decorator]
def bill_due(**_future: str) -> None:
    """Begin due closes, and enqueue every invoice that waits for its close or verification."""
    due = periodic.list_due(timezone.now())
    for invoice_id in due.closing:
        close_invoice.apply_async(kwargs={"invoice_id": invoice_id}, expires=60)
    for invoice_id in due.verifying:
        verify_invoice.apply_async(kwargs={"invoice_id": invoice_id}, expires=60)


@shared_task(name="workers.delete_expired")  # type: ignore[untyped-decorator]
def delete_expired(**_future: str) -> None:
    """Delete expired sessions and idempotency keys."""
    expiry.delete_expired(timezone.now())
