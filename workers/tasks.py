"""Celery entries: ids in, one call out. Outcomes live in our rows, never in results.

A message only says "look again", so losing, repeating or reordering one changes nothing. The beat
table is ``workers.schedule``.
"""

from celery import shared_task
from django.utils import timezone

from controlplane.core import expiry, nudge
from workers import fleet, volumes, wiring
from workers.infra import adapters
from workers.metering import closing, live, rounds, sampling, verifying
from workers.reconcile import configured, loop


@shared_task(name="workers.reconcile_space")  # type: ignore[untyped-decorator]
def reconcile_space(*, space_id: str, **_future: str) -> None:
    """Bring one space towards its desired state, if no other worker is at it."""
    loop.reconcile(space_id, wiring.doors())


@shared_task(name="workers.reconcile_due")  # type: ignore[untyped-decorator]
def reconcile_due(**_future: str) -> None:
    """Send one message for each space that should be looked at now."""
    for space_id in loop.list_due(wiring.doors()):
        reconcile_space.apply_async(kwargs={"space_id": space_id}, expires=60)


@shared_task(name="workers.roll_out")  # type: ignore[untyped-decorator]
def roll_out(**_future: str) -> None:
    """Bring the fleet of spaces a step nearer to the newest release of the engines."""
    fleet.advance(configured.release(wiring.doors()), fleet.policy(), timezone.now())


@shared_task(name="workers.release_volumes")  # type: ignore[untyped-decorator]
def release_volumes(**_future: str) -> None:
    """Remove the volumes of deleted spaces that an operator has released."""
    volumes.remove_released(adapters.current())


@shared_task(name="workers.sample")  # type: ignore[untyped-decorator]
def sample(**_future: str) -> None:
    """Read the counters of every active space once; have those with a silent instance looked at.

    So an instance that went away shows within a sampling interval, and what can move, moves.
    """
    for seen in sampling.round_all(wiring.readers()):
        if seen.silent:
            nudge.after_commit("workers.reconcile_space", space_id=seen.space_id)


@shared_task(name="workers.land")  # type: ignore[untyped-decorator]
def land(**_future: str) -> None:
    """Bring what moved since the last landing into bronze."""
    rounds.land()


@shared_task(name="workers.enforce_quotas")  # type: ignore[untyped-decorator]
def enforce_quotas(**_future: str) -> None:
    """Make alerts and spaces agree with the period quotas, live usage included."""
    live.enforce(timezone.now())


@shared_task(name="workers.run_pipeline")  # type: ignore[untyped-decorator]
def run_pipeline(**_future: str) -> None:
    """Bring gold up to bronze by Spark and copy it to where Django reads it."""
    rounds.run_pipeline()


@shared_task(name="workers.close_invoice")  # type: ignore[untyped-decorator]
def close_invoice(*, invoice_id: str, **_future: str) -> None:
    """Gather the evidence of a closing invoice and bring it to draft or held."""
    closing.close(invoice_id, wiring.readers())


@shared_task(name="workers.verify_invoice")  # type: ignore[untyped-decorator]
def verify_invoice(*, invoice_id: str, **_future: str) -> None:
    """Recompute an invoice from its pinned tables and end its verification."""
    verifying.verify(invoice_id)


@shared_task(name="workers.bill_due")  # type: ignore[untyped-decorator]
def bill_due(**_future: str) -> None:
    """Ask for due closes, and look again at invoices whose close or proof is waiting."""
    due = rounds.list_due(timezone.now())
    for invoice_id in due.closing:
        close_invoice.apply_async(kwargs={"invoice_id": invoice_id}, expires=60)
    for invoice_id in due.verifying:
        verify_invoice.apply_async(kwargs={"invoice_id": invoice_id}, expires=60)


@shared_task(name="workers.delete_expired")  # type: ignore[untyped-decorator]
def delete_expired(**_future: str) -> None:
    """Delete sessions and idempotency keys that have ended."""
    expiry.delete_expired(timezone.now())
