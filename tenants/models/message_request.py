"""A request for an operation on the messages of one address; a worker carries it out."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped
from tenants.models.address import Address
from tenants.models.address_space import AddressSpace


class MessageRequestKind(models.TextChoices):
    """What a request does with messages."""

    BROWSE = "browse"
    SEND = "send"
    PURGE = "purge"
    DELETE = "delete"
    MOVE = "move"
    RESEND = "resend"


class MessageRequest(Timestamped):
    """One request. Its ``Operation`` (subject type ``message_request``) has state and progress.

    * ``arguments``: ids of messages, target, rate; no bodies.
    * ``sealed``: the message to send, or the page that was read, encrypted. It is emptied when the
      message is sent. A browse is deleted some minutes after ``finished_at``.
    * ``progress``: how far the worker is on each broker, by the broker's name.
    * ``total``: how many messages there were to change; null until that is known.
    * ``requested_by``: the actor, for the audit event at the end.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.message_request_id)
    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="+")
    address = models.ForeignKey(Address, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=MessageRequestKind.choices)
    arguments = models.JSONField(default=dict)
    sealed = models.TextField(blank=True)
    progress = models.JSONField(default=dict)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    requested_by = models.CharField(max_length=255)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=Q(finished_at__isnull=True),
                name="message_request_open",
            )
        ]
        constraints = [
            models.CheckConstraint(
                name="message_request_kind_known",
                condition=Q(kind__in=["browse", "send", "purge", "delete", "move", "resend"]),
            ),
            # Two changes of one address at once could not tell their counts apart.
            models.UniqueConstraint(
                fields=["address"],
                condition=Q(finished_at__isnull=True) & ~Q(kind="browse"),
                name="message_request_one_change",
            ),
        ]
