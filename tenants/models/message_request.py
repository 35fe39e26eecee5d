"""The model of requests for operations on the messages of one address."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped
from tenants.models.address import Address
from tenants.models.address_space import AddressSpace


class MessageRequestKind(models.TextChoices):
    """What a request does with the messages of an address. All but BROWSE change messages."""

    BROWSE = "browse"
    SEND = "send"
    PURGE = "purge"
    DELETE = "delete"
    MOVE = "move"
    RESEND = "resend"


class MessageRequest(Timestamped):
    """One request. Its ``Operation`` (subject type ``message_request``) says whether it succeeded.

    * ``arguments``: position of a page, ids of messages, target, rate; no bodies.
    * ``sealed``: the message to send, or the page that was read, encrypted. The worker empties it
      when a request other than a browse ends.
    * ``progress``: how far the worker is on each broker, by the broker's name.
    * ``done``: how many messages were read, sent or changed so far.
    * ``total``: how many messages there were to change; null until that is known.
    * ``requested_by``: the name of the actor, for the audit event at the end.

    Workers delete the row of a browse some minutes after ``finished_at``, any other after 30 days.
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
            # If two changes of one address ran at once, nobody could say which of them changed how
            # many.
            models.UniqueConstraint(
                fields=["address"],
                condition=Q(finished_at__isnull=True) & ~Q(kind="browse"),
                name="message_request_one_change",
            ),
        ]

    @property
    def changed(self) -> int | None:
        """How many stored messages were changed so far; None for a browse and a sent message."""
        is_change = self.kind not in (MessageRequestKind.BROWSE, MessageRequestKind.SEND)
        return self.done if is_change else None
