"""Celery tasks. Those for one space or invoice take its id; the periodic ones take no arguments.

A task reads from the database what is to be done, and stores the outcome there. So a lost, repeated
or reordered message does no harm. ``workers.schedule`` has the periods and the queues. Every task
accepts unknown arguments: during an upgrade a newer version may send some to an older worker.
"""

from celery import shared_task
from django.utils import timezone

from controlplane.core import enqueue, expiry
from tenants import reading_history
from workers import disconnecting, message_requests, volumes, wiring
from workers.infra import adapters
from workers.metering import closing, live, periodic, sampling, silence, verifying
from workers.reconcile import loop
from workers.rollouts import fleet, release


@shared_task(name="workers.reconcile_space")  # type: ignore[untyped-decorator]
def reconcile_space(*, space_id: str, **_future: str) -> None:
    """Run reconcile passes over one space for some seconds, unless another worker has its lease."""
    loop.reconcile(space_id, wiring.ports())


@shared_task(name="workers.reconcile_due")  # type: ignore[untyped-decorator]
def reconcile_due(**_future: str) -> None:
    """Enqueue ``reconcile_space`` for each space that is due."""
    # Messages expire, because the next run lists every space again that is still due.
    for space_id in loop.list_due(wiring.ports()):
        reconcile_space.apply_async(kwargs={"space_id": space_id}, expires=60)


@shared_task(name="workers.roll_out")  # type: ignore[untyped-decorator]
def roll_out(**_future: str) -> None:
    """Begin a rollout if the configured release is new, and take the next step of the open one."""
    ports = wiring.ports()
    images = release.configured(ports.infra, ports.routing)
    fleet.advance(images, fleet.policy(), timezone.now())


@shared_task(name="workers.release_volumes")  # type: ignore[untyped-decorator]
def release_volumes(**_future: str) -> None:
    """Delete the kept volumes of deleted spaces, once an operator has permitted it."""
    volumes.remove_released(adapters.current())


@shared_task(name="workers.sample")  # type: ignore[untyped-decorator]
def sample(**_future: str) -> None:
    """Sample every active space once; enqueue a reconcile pass for each with a silent instance.

    The pass updates the space's conditions. So they report a lost instance within about one
    sampling interval.
    """
    for space_id in silence.record(sampling.sample_all(wiring.readers()), timezone.now()):
        enqueue.after_commit("workers.reconcile_space", space_id=space_id)


@shared_task(name="workers.disconnect")  # type: ignore[untyped-decorator]
def disconnect(*, disconnection_id: str, **_future: str) -> None:
    """Close the connections that a request names, unless another worker does so now."""
    disconnecting.run(disconnection_id, wiring.ports())


@shared_task(name="workers.disconnect_due")  # type: ignore[untyped-decorator]
def disconnect_due(**_future: str) -> None:
    """Enqueue all unfinished requests, whose messages may have been lost."""
    for disconnection_id in disconnecting.list_due():
        disconnect.apply_async(kwargs={"disconnection_id": disconnection_id}, expires=10)


@shared_task(name="workers.land")  # type: ignore[untyped-decorator]
def land(**_future: str) -> None:
    """Write what the samples since the last landing changed to the bronze table."""
    periodic.land()


@shared_task(name="workers.enforce_quotas")  # type: ignore[untyped-decorator]
def enforce_quotas(**_future: str) -> None:
    """Raise and lift the alerts of period quotas, and withdraw or restore the right to send.

    Usage that is not in gold yet counts too.
    """
    live.enforce(timezone.now())


@shared_task(name="workers.run_pipeline")  # type: ignore[untyped-decorator]
def run_pipeline(**_future: str) -> None:
    """Compute gold from new bronze rows with Spark, and copy it to the database.

    The task leaves the run to a close that waits for Spark. It also deletes old outbox rows and the
    temporary files of killed processes.
    """
    periodic.run_pipeline(timezone.now())


@shared_task(name="workers.close_invoice")  # type: ignore[untyped-decorator]
def close_invoice(*, invoice_id: str, **_future: str) -> None:
    """Gather the evidence for a closing invoice, then make the invoice a draft or hold it."""
    closing.close(invoice_id, wiring.readers())


@shared_task(name="workers.verify_invoice")  # type: ignore[untyped-decorator]
def verify_invoice(*, invoice_id: str, **_future: str) -> None:
    """Recompute an invoice from its pinned table versions, and store whether it came out the same.

    The result finishes the operation of the requested verification.
    """
    verifying.verify(invoice_id)


@shared_task(name="workers.bill_due")  # type: ignore[untyped-decorator]
def bill_due(**_future: str) -> None:
    """Request due closes, mark overdue invoices, and enqueue what waits for a worker.

    That is every invoice in ``closing``, and every invoice with a requested verification.
    """
    due = periodic.list_due(timezone.now())
    for invoice_id in due.closing:
        close_invoice.apply_async(kwargs={"invoice_id": invoice_id}, expires=60)
    for invoice_id in due.verifying:
        verify_invoice.apply_async(kwargs={"invoice_id": invoice_id}, expires=60)


@shared_task(name="workers.delete_expired")  # type: ignore[untyped-decorator]
def delete_expired(**_future: str) -> None:
    """Delete expired login sessions and idempotency keys, and old history of addresses.

    It also makes the partitions of the next days of history.
    """
    now = timezone.now()
    expiry.delete_expired(now)
    reading_history.make_partitions(now)


@shared_task(name="workers.run_message_request")  # type: ignore[untyped-decorator]
def run_message_request(*, request_id: str, **_future: str) -> None:
    """Carry out one operation on messages, unless another worker does."""
    seconds = wiring.message_worker().run(request_id)
    if seconds is not None:
        run_message_request.apply_async(kwargs={"request_id": request_id}, countdown=seconds)


@shared_task(name="workers.message_requests_due")  # type: ignore[untyped-decorator]
def message_requests_due(**_future: str) -> None:
    """Enqueue the operations on messages that have not ended; delete answers that are old."""
    message_requests.delete_old(timezone.now())
    for request_id in message_requests.list_due():
        run_message_request.apply_async(kwargs={"request_id": request_id}, expires=10)
