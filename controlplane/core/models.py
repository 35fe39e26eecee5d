"""Models of the shared kernel: operations, audit events, leases, idempotency keys.

They refer to objects of other apps by id, never by foreign key, so the kernel depends on no app.
"""

from typing import Any

from django.db import models

from controlplane.core import ids


class Timestamped(models.Model):
    """The base of rows that know when they were created and last saved (UTC).

    ``QuerySet.update`` does not set ``updated_at``.
    """

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class Operation(Timestamped):
    """One long-running request and its outcome; a 202 response refers to it.

    Running -> Succeeded | Failed. A change of a space, address or messaging user succeeds when its
    subject has reached ``target_generation``. Invoices have no generations: the target of a close
    or a verification is 1.

    ``steps`` is a list of {name, state, message}. Each reconcile pass replaces it, and so does each
    step of a close. ``restarts`` has the names of the instances that restart for the change; null
    if the action does not say.
    """

    class State(models.TextChoices):
        RUNNING = "Running"
        SUCCEEDED = "Succeeded"
        FAILED = "Failed"

    id = models.CharField(primary_key=True, max_length=40, default=ids.operation_id)
    tenant_id = models.CharField(max_length=40, db_index=True)
    kind = models.CharField(max_length=60)  # e.g. address_space.create
    # address_space | address | messaging_user | message_request | invoice | invoice_verification
    subject_type = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=40)
    subject_name = models.CharField(max_length=255)
    target_generation = models.BigIntegerField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.RUNNING)
    steps = models.JSONField(default=list)
    restarts = models.JSONField(null=True)
    error_code = models.CharField(max_length=80, blank=True)
    error_message = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["subject_type", "subject_id", "state"])]
        constraints = [
            models.CheckConstraint(
                name="operation_finished_iff_not_running",
                condition=models.Q(state="Running", finished_at__isnull=True)
                | (~models.Q(state="Running") & models.Q(finished_at__isnull=False)),
            )
        ]


class AuditEvent(models.Model):
    """Who did what to what, written in the transaction of the change itself. Append-only.

    ``before`` and ``after`` hold the values that changed, with secrets masked. A database trigger
    refuses UPDATE and DELETE.
    """

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    tenant_id = models.CharField(max_length=40, blank=True, db_index=True)
    actor = models.CharField(max_length=255)  # user:<email> | token:<prefix> | worker | system
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

    def save(self, *args: Any, **kwargs: Any) -> None:
        # The trigger would refuse this too, but the traceback of this error shows the caller.
        if self.pk is not None:
            raise TypeError("audit events are append-only")
        super().save(*args, **kwargs)


class Lease(models.Model):
    """Which process may do the job ``name`` until ``expires_at``; see ``core.leases``."""

    name = models.CharField(primary_key=True, max_length=120)
    holder = models.CharField(max_length=120)
    expires_at = models.DateTimeField()


class IdempotencyKey(models.Model):
    """An Idempotency-Key that a caller sent with a POST, and the encrypted answer."""

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
