"""Models of the shared kernel: operations, audit events, leases, idempotency keys.

They refer to objects of other apps by id, never by foreign key, so the kernel depends on no app.
"""

from typing import Any

from django.db import models

from controlplane.core import ids


class Timestamped(models.Model):
    """The abstract base of models whose rows store when they were created and last saved (UTC).

    ``QuerySet.update`` does not set ``updated_at``.
    """

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class Operation(Timestamped):
    """One long-running request and its outcome, for the caller of the API to poll.

    Running -> Succeeded | Failed. An operation on a space, address or messaging user succeeds when
    the workers have applied ``target_generation`` of the subject. Other subjects, such as invoices,
    have no generations: the target is 1, and the worker that does the work ends the operation.

    ``steps`` is a list of {name, state, message}, which the worker replaces as its work goes on:
    each reconcile pass, each step of a close. ``restarts`` has the names of the instances that
    restart for the change; null if the action does not say. ``messages_changed``: how many stored
    messages it has purged, deleted, moved or resent so far; null while no worker has counted them,
    and for other operations. ``token_id``: the tenant's token that started it, which may read it;
    empty if a person or the system did.
    """

    class State(models.TextChoices):
        RUNNING = "Running"
        SUCCEEDED = "Succeeded"
        FAILED = "Failed"

    id = models.CharField(primary_key=True, max_length=40, default=ids.operation_id)
    tenant_id = models.CharField(max_length=40, db_index=True)
    kind = models.CharField(max_length=60)  # e.g. address_space.create
    # address_space | address | messaging_user | message_request | connections | invoice |
    # invoice_verification | invoice_file_verification | sample_reading
    subject_type = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=40)
    subject_name = models.CharField(max_length=255)
    target_generation = models.BigIntegerField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.RUNNING)
    steps = models.JSONField(default=list)
    restarts = models.JSONField(null=True)
    messages_changed = models.BigIntegerField(null=True)
    # ``db_default``: the previous version does not write it while an installation is upgraded.
    token_id = models.CharField(max_length=40, blank=True, default="", db_default="")
    error_code = models.CharField(max_length=80, blank=True)
    error_message = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["subject_type", "subject_id", "state"]),
            models.Index(fields=["tenant_id", "-created_at", "-id"], name="operation_of_tenant"),
            # Pages of spaces and the operators' health page ask for what runs now.
            models.Index(
                fields=["tenant_id", "created_at"],
                condition=models.Q(state="Running"),
                name="operation_running",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                name="operation_finished_iff_not_running",
                condition=models.Q(state="Running", finished_at__isnull=True)
                | (~models.Q(state="Running") & models.Q(finished_at__isnull=False)),
            )
        ]


class AuditEvent(models.Model):
    """One entry of the audit log: who did what to what. Append-only.

    ``core.audit`` writes it in the transaction of the change itself. ``before`` and ``after`` hold
    the values that changed, with secrets masked. ``tenant_id`` is empty for what belongs to no
    tenant. A database trigger refuses UPDATE and DELETE.
    """

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    tenant_id = models.CharField(max_length=40, blank=True, db_index=True)
    actor = models.CharField(max_length=255)  # ``core.audit.Actor.name``, such as user:<email>
    action = models.CharField(max_length=80)  # e.g. address.delete
    subject_type = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=40)
    subject_name = models.CharField(max_length=255, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    reason = models.TextField(blank=True)
    source_ip = models.CharField(max_length=60, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["tenant_id", "-at", "-id"], name="audit_of_tenant"),
            models.Index(fields=["tenant_id", "actor", "-at", "-id"], name="audit_of_actor"),
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        # The trigger would refuse this too, but the traceback of this error shows the caller.
        if self.pk is not None:
            raise TypeError("audit events are append-only")
        super().save(*args, **kwargs)


class Lease(models.Model):
    """The right of the process ``holder`` to do the job ``name`` alone until ``expires_at``.

    ``core.leases`` writes the rows. The row of an expired lease may still exist.
    """

    name = models.CharField(primary_key=True, max_length=120)
    holder = models.CharField(max_length=120)
    expires_at = models.DateTimeField()


class IdempotencyKey(models.Model):
    """An Idempotency-Key that a caller sent with a POST, and the answer of that POST.

    ``body`` is {"sealed": body and headers, encrypted}. ``core.idempotency`` reads and writes the
    rows; a row older than 24 hours counts as absent.
    """

    scope = models.CharField(max_length=80)  # hash of the caller: controlplane.api.idempotency
    key = models.CharField(max_length=255)
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    body = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scope", "key"], name="idempotency_key_once")
        ]
