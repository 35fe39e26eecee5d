"""Celery tasks. Those for one space, invoice or request take its id; periodic ones need none.

A task reads from the database what is to be done, and stores the outcome there. So a task that is
lost, repeated or reordered does no harm. ``workers.schedule`` has the periods and the queues. Every
task accepts unknown arguments: during an upgrade a newer version may send some to an older worker.
"""

from collections.abc import Sequence

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from controlplane.core import enqueue, expiry
from plans.invoicing import back_testing, open_periods, sample_readings
from plans.payments import dunning, refunds
from plans.payments import events as payment_events
from tenants import reading_history
from tenants.actions import catalog_drafts, closures, plan_versions
from tenants.notifications import deliveries, watching
from workers import disconnecting, message_requests, volumes, wiring
from workers.infra import adapters
from workers.metering import (
    back_tests,
    closing,
    connection_lists,
    live,
    periodic,
    reading_samples,
    run_actions,
    run_closing,
    sampling,
    silence,
    verifying,
)
from workers.metering.sampling import Sampled
from workers.notifications import delivering, spend
from workers.reconcile import loop
from workers.rollouts import fleet, release


@shared_task(name="workers.reconcile_space")  # type: ignore[untyped-decorator]
def reconcile_space(*, space_id: str, **_future: str) -> None:
    """Run one or more reconcile passes over one space, unless another worker has its lease.

    If a pass has to wait for at most a second, or a change came in during it, the task runs the
    next pass itself when that is due. It begins no further pass after 20 seconds.
    """
    loop.reconcile(space_id, wiring.ports())


@shared_task(name="workers.reconcile_due")  # type: ignore[untyped-decorator]
def reconcile_due(**_future: str) -> None:
    """Enqueue ``reconcile_space`` for each space that is due and that no worker has a lease on."""
    # With an expiry, because the next run lists every space again that is still due.
    for space_id in loop.list_due(wiring.ports()):
        reconcile_space.apply_async(kwargs={"space_id": space_id}, expires=60)


@shared_task(name="workers.roll_out")  # type: ignore[untyped-decorator]
def roll_out(**_future: str) -> None:
    """Begin a rollout if the configured engine release is new; then take a step of the running one.

    A paused or stopped rollout gets no step. Nothing happens while another worker runs this task.
    """
    ports = wiring.ports()
    images = release.configured(ports.infra, ports.routing)
    fleet.advance(images, fleet.policy(), timezone.now())


@shared_task(name="workers.release_volumes")  # type: ignore[untyped-decorator]
def release_volumes(**_future: str) -> None:
    """Delete the kept volumes of those deleted spaces for which an operator has permitted it."""
    volumes.remove_released(adapters.current())


@shared_task(name="workers.sample")  # type: ignore[untyped-decorator]
def sample(**_future: str) -> None:
    """Sample once every space that has been Active and is not being deleted.

    With more than one shard (``SAMPLE_SHARDS``), enqueue ``sample_shard`` for each shard instead.
    A reconcile pass is enqueued for a space when an instance does not answer (is silent), and when
    all answer again. A space that is known as silent, and no longer Active, gets no further pass
    from here. The pass updates the space's conditions, so they show a lost instance within about
    one sampling interval.
    """
    n_shards = settings.SAMPLE_SHARDS
    if n_shards == 1:
        _record_silence(sampling.sample_all(wiring.readers()))
        return
    for shard in range(n_shards):
        sample_shard.apply_async(
            kwargs={"shard": shard, "n_shards": n_shards}, expires=settings.SAMPLE_SECONDS
        )


@shared_task(name="workers.sample_shard")  # type: ignore[untyped-decorator]
def sample_shard(*, shard: int, n_shards: int, **_future: str) -> None:
    """Sample the spaces of one shard, as ``sample`` does all spaces if there is only one shard.

    Nothing happens while another worker still samples this shard.
    """
    _record_silence(sampling.sample_shard(wiring.readers(), shard, n_shards))


def _record_silence(cycle: Sequence[Sampled]) -> None:
    for space_id in silence.record(cycle, timezone.now()):
        enqueue.after_commit("workers.reconcile_space", space_id=space_id)


@shared_task(name="workers.disconnect")  # type: ignore[untyped-decorator]
def disconnect(*, disconnection_id: str, **_future: str) -> None:
    """Close the client connections that one ``Disconnection`` names, unless another worker does."""
    disconnecting.run(disconnection_id, wiring.ports())


@shared_task(name="workers.disconnect_due")  # type: ignore[untyped-decorator]
def disconnect_due(**_future: str) -> None:
    """Enqueue ``disconnect`` for each ``Disconnection`` that has not ended.

    So none is forgotten if its first task was lost, or while an instance does not answer.
    """
    for disconnection_id in disconnecting.list_due():
        disconnect.apply_async(kwargs={"disconnection_id": disconnection_id}, expires=10)


@shared_task(name="workers.land")  # type: ignore[untyped-decorator]
def land(**_future: str) -> None:
    """Write the samples since the last landing to files, and commit the files to the bronze table.

    An expected error, such as a full disk, is only logged: the samples wait for the next run.
    """
    periodic.land()


@shared_task(name="workers.enforce_quotas")  # type: ignore[untyped-decorator]
def enforce_quotas(*, tenant_id: str | None = None, **_future: str) -> None:
    """Raise and lift alerts of period quotas and spend caps; restrict spaces, or end that.

    With ``tenant_id`` only for this tenant, else for all tenants that are due. Usage that Spark has
    not computed yet counts too.
    """
    live.enforce(timezone.now(), tenant_id)


@shared_task(name="workers.keep_lakehouse")  # type: ignore[untyped-decorator]
def keep_lakehouse(**_future: str) -> None:
    """Once a day, rewrite the small files of the lakehouse and delete files that nothing needs."""
    periodic.keep_lakehouse(timezone.now())


@shared_task(name="workers.run_pipeline")  # type: ignore[untyped-decorator]
def run_pipeline(**_future: str) -> None:
    """Compute gold with Spark if bronze has new rows, and copy gold to the database.

    While a close waits for Spark, the task computes nothing: the close does. An expected error is
    only logged. In any case the task deletes old outbox rows and temporary files of killed
    processes.
    """
    periodic.run_pipeline(timezone.now())


@shared_task(name="workers.close_invoice")  # type: ignore[untyped-decorator]
def close_invoice(*, invoice_id: str, **_future: str) -> None:
    """Gather the evidence for a closing invoice, then make the invoice a draft or hold it.

    While a part of the evidence is missing, the invoice stays ``closing``. ``bill_due`` enqueues it
    again.
    """
    closing.close(invoice_id, wiring.readers())


@shared_task(name="workers.close_run")  # type: ignore[untyped-decorator]
def close_run(*, run_id: str, **_future: str) -> None:
    """Carry out a close run: bring its invoices from the last samples to drafts, or hold them.

    What cannot be done yet is left to the next run of the task; ``bill_due`` enqueues it again.
    """
    run_closing.advance(run_id, wiring.readers())


@shared_task(name="workers.act_on_close_run")  # type: ignore[untyped-decorator]
def act_on_close_run(*, action_id: str, **_future: str) -> None:
    """Approve or issue the invoices of a close run, for a minute at most.

    If some are left, the task enqueues itself again, so that other tasks have their turn. Should
    that be lost, ``bill_due`` enqueues it.
    """
    if run_actions.carry_out(action_id):
        act_on_close_run.apply_async(kwargs={"action_id": action_id}, expires=60)


@shared_task(name="workers.verify_invoice")  # type: ignore[untyped-decorator]
def verify_invoice(*, invoice_id: str, **_future: str) -> None:
    """Recompute an invoice from its pinned table versions, and compare it with the stored one.

    The operation of the requested verification succeeds if no comparison finds a difference.
    Otherwise it fails with the differences, or with the error that prevented the comparison. The
    invoice itself does not change.
    """
    verifying.verify(invoice_id)


@shared_task(name="workers.read_samples")  # type: ignore[untyped-decorator]
def read_samples(*, reading_id: str, **_future: str) -> None:
    """Read the usage and samples of a part of an invoice's period, and store them for a day.

    The operation of the request succeeds, or fails with the error that prevented the reading.
    """
    reading_samples.read(reading_id)


@shared_task(name="workers.run_back_test")  # type: ignore[untyped-decorator]
def run_back_test(*, back_test_id: str, **_future: str) -> None:
    """Rate past months of all tenants under a draft catalog (``back_tests``).

    Nothing happens while another worker has the lease of the back-test, which it keeps for 15
    minutes at most.
    """
    back_tests.run(back_test_id)


@shared_task(name="workers.back_tests_due")  # type: ignore[untyped-decorator]
def back_tests_due(**_future: str) -> None:
    """Enqueue ``run_back_test`` for each back-test that has not ended."""
    for back_test_id in back_testing.waiting():
        run_back_test.apply_async(kwargs={"back_test_id": back_test_id}, expires=60)


@shared_task(name="workers.advance_catalog")  # type: ignore[untyped-decorator]
def advance_catalog(**_future: str) -> None:
    """Publish the scheduled catalog if it is due, notify tenants, and move subscriptions to it.

    One batch of each; if more is left, the task enqueues itself again.
    """
    now = timezone.now()
    catalog_drafts.publish_due(now)
    more = plan_versions.announce(now), plan_versions.move_due(now)
    if any(more):
        advance_catalog.apply_async(expires=30)


@shared_task(name="workers.bill_due")  # type: ignore[untyped-decorator]
def bill_due(**_future: str) -> None:
    """Begin a close run of the billing periods that are due, and enqueue what waits for a worker.

    Also mark the invoices that are overdue, and book the credit that has expired.

    It enqueues ``close_run`` for every run that has not ended, ``act_on_close_run`` for every
    approval or issue of its invoices, ``close_invoice`` for every other invoice in ``closing``,
    ``verify_invoice`` for every invoice whose verification is requested and not finished, and
    ``read_samples`` for every sample reading that is not finished.
    """
    due = periodic.list_due(timezone.now())
    for run_id in due.runs:
        close_run.apply_async(kwargs={"run_id": run_id}, expires=60)
    for action_id in due.actions:
        act_on_close_run.apply_async(kwargs={"action_id": action_id}, expires=60)
    for invoice_id in due.closing:
        close_invoice.apply_async(kwargs={"invoice_id": invoice_id}, expires=60)
    for invoice_id in due.verifying:
        verify_invoice.apply_async(kwargs={"invoice_id": invoice_id}, expires=60)
    for reading_id in due.reading:
        read_samples.apply_async(kwargs={"reading_id": reading_id}, expires=60)


@shared_task(name="workers.settle_payments")  # type: ignore[untyped-decorator]
def settle_payments(**_future: str) -> None:
    """Send the refunds that wait for their provider, and apply the events that wait for a payment.

    An event waits if it refers to a payment that the provider has not reported yet.
    """
    now = timezone.now()
    try:
        refunds.send_requested(now)
    finally:  # events of payments do not depend on refunds
        payment_events.apply_waiting(now)


@shared_task(name="workers.dun")  # type: ignore[untyped-decorator]
def dun(*, tenant_id: str = "", **_future: str) -> None:
    """Remind tenants of unpaid invoices, and stop or restore sending and connections.

    With ``tenant_id`` only for this tenant, such as after a payment.
    """
    if tenant_id:
        dunning.advance(tenant_id, timezone.now())
    else:
        dunning.advance_all(timezone.now())


@shared_task(name="workers.delete_expired")  # type: ignore[untyped-decorator]
def delete_expired(**_future: str) -> None:
    """Delete rows that are kept for a limited time.

    These are expired login sessions and idempotency keys, old notifications, old sample readings,
    lists of connections that a late sampling cycle stored of a deleted space, and the history of
    addresses' readings. The history is deleted by dropping partitions. The task
    also creates its partitions of the next days.
    """
    now = timezone.now()
    expiry.delete_expired(now)
    deliveries.delete_old(now)
    sample_readings.delete_old(now)
    connection_lists.delete_ended()
    reading_history.make_partitions(now)


@shared_task(name="workers.erase_tenants")  # type: ignore[untyped-decorator]
def erase_tenants(**_future: str) -> None:
    """Go on with the erasure of tenants that were closed long enough ago."""
    closures.erase_due(timezone.now(), is_settled=open_periods.is_settled)


@shared_task(name="workers.run_message_request")  # type: ignore[untyped-decorator]
def run_message_request(*, request_id: str, **_future: str) -> None:
    """Carry out one ``MessageRequest`` (such as to browse or purge a queue), or a slice of it.

    If messages are left, the task enqueues itself again. It does nothing if another worker carries
    out the same request, or if the request has ended.
    """
    seconds = wiring.message_worker().run(request_id)
    if seconds is not None:
        run_message_request.apply_async(kwargs={"request_id": request_id}, countdown=seconds)


@shared_task(name="workers.message_requests_due")  # type: ignore[untyped-decorator]
def message_requests_due(**_future: str) -> None:
    """Enqueue ``run_message_request`` for each ``MessageRequest`` that has not ended.

    Before that, delete the rows of browses that ended more than 5 minutes ago, and those of all
    requests that ended more than 30 days ago.
    """
    message_requests.delete_old(timezone.now())
    for request_id in message_requests.list_due():
        run_message_request.apply_async(kwargs={"request_id": request_id}, expires=10)


@shared_task(name="workers.notify")  # type: ignore[untyped-decorator]
def notify(**_future: str) -> None:
    """Create the deliveries of new events, and send the mails, webhooks and chats that are due.

    Does nothing while another worker runs this task. If something was sent, more may wait: then the
    task enqueues itself again, so that a full outbox does not wait for the next period.
    """
    if delivering.run(timezone.now):
        notify.apply_async(expires=5)


@shared_task(name="workers.watch")  # type: ignore[untyped-decorator]
def watch(**_future: str) -> None:
    """Write events about changes that no request caused.

    They are about spaces in trouble or recovered, certificates and API tokens that expire soon, and
    maintenance in the next window of a tenant.
    """
    watching.watch(timezone.now())


@shared_task(name="workers.watch_spend")  # type: ignore[untyped-decorator]
def watch_spend(**_future: str) -> None:
    """Write events for tenants whose running month has cost a part of their budget."""
    spend.watch(timezone.now())
