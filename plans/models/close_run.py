"""Models of close runs, each of which closes many billing periods."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped


class CloseRun(Timestamped):
    """One run that closes the periods of many tenants, from last samples to drafts.

    * ``skip_grace``: close every period that is over, and not only those whose grace period is
      over. ``again``: close held invoices again, and no new periods. ``tenant_ids``: only these
      tenants; empty: all.
    * ``requested_at`` is when the close of all invoices of the run had been requested. ``skipped``
      are the tenants whose close could not be requested, as {tenant, code, message}.
    * ``step`` is the step that a worker takes now, a value of ``Step``; empty before the first one.
    * ``message`` says what the run waits for; empty if it waits for nothing. ``retry_at`` is when
      a worker tries again after an error.
    * ``finished_at`` is set when every invoice of the run is a draft or held.
    """

    class Step(models.TextChoices):
        REQUEST = "request"
        SAMPLES = "last samples"
        LANDING = "landing"
        PIPELINE = "pipeline"
        RECOMPUTATION = "recomputation"
        RATING = "rating"

    id = models.CharField(primary_key=True, max_length=40, default=ids.close_run_id)
    step = models.CharField(max_length=20, choices=Step.choices, blank=True)
    message = models.TextField(blank=True)
    requested_by = models.CharField(max_length=255)
    skip_grace = models.BooleanField(default=False)
    again = models.BooleanField(default=False)
    tenant_ids = models.JSONField(default=list)
    requested_at = models.DateTimeField(null=True)
    skipped = models.JSONField(default=list)
    retry_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="close_run_newest"),
            models.Index(
                fields=["created_at"], condition=Q(finished_at__isnull=True), name="close_run_open"
            ),
        ]


class CloseRunInvoice(models.Model):
    """An invoice that a run closes. Key: (run, invoice).

    ``evidence`` is the gathered evidence (``plans.invoicing.stored_evidence``). It is null before
    it is gathered, and after the run has ended. ``done_at`` is when the invoice became a draft or
    was held. A run that was killed goes on with the invoices whose ``done_at`` is null.
    """

    run = models.ForeignKey(CloseRun, on_delete=models.CASCADE, related_name="invoices")
    invoice = models.ForeignKey(
        "plans.Invoice", on_delete=models.CASCADE, related_name="close_runs"
    )
    evidence = models.JSONField(null=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "invoice"], name="close_run_invoice_once"),
            # One run at a time closes an invoice, from the evidence that this run gathered.
            models.UniqueConstraint(
                fields=["invoice"],
                condition=Q(done_at__isnull=True),
                name="close_run_invoice_in_one_run",
            ),
        ]
        indexes = [
            models.Index(
                fields=["run", "invoice"],
                condition=Q(done_at__isnull=True),
                name="close_run_invoice_left",
            )
        ]


class CloseRunAction(Timestamped):
    """A request to approve all drafts of a run, or to issue all its approved invoices.

    A worker takes the invoices in the order of their ids: ``cursor`` is the last one that it tried,
    ``n_done`` how many it changed. ``failures`` are those that it could not change, as
    {invoice, code, message}. ``n_invoices`` is how many there were at the request.
    """

    class Kind(models.TextChoices):
        APPROVE = "approve"
        ISSUE = "issue"

    id = models.CharField(primary_key=True, max_length=40, default=ids.close_run_action_id)
    run = models.ForeignKey(CloseRun, on_delete=models.CASCADE, related_name="actions")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    requested_by = models.CharField(max_length=255)
    reason = models.TextField(blank=True)
    cursor = models.CharField(max_length=40, blank=True)
    n_invoices = models.PositiveIntegerField()
    n_done = models.PositiveIntegerField(default=0)
    failures = models.JSONField(default=list)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # One at a time, so that an invoice is not approved and issued by two workers at once.
            models.UniqueConstraint(
                fields=["run"], condition=Q(finished_at__isnull=True), name="close_run_one_action"
            )
        ]
