"""A client identity of a space."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from tenants.models.address_space import AddressSpace
from tenants.models.reconciled import Reconciled, reconciled_constraints


class MessagingUser(Reconciled):
    """A client identity with permissions. Name unique in its space while not deleted.

    ``permissions``: list of {"addresses": [pattern, ...], "operations": ["send"|"recv", ...]};
    in a pattern ``*`` is one level and ``#`` the rest (``a/#`` opens ``a/b``, never ``ab``).
    ``verifiers``: what can check a password and cannot be turned back into it:
    {"scram-sha-256": {"salt", "iterations", "stored_key", "server_key"} (base64),
    "artemis": "ENC(…)"} ; the password itself is never stored.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.messaging_user_id)
    space = models.ForeignKey(AddressSpace, on_delete=models.PROTECT, related_name="users")
    name = models.CharField(max_length=63)
    permissions = models.JSONField(default=list)
    verifiers = models.JSONField(default=dict)

    class Meta:
        constraints = [
            *reconciled_constraints("messaging_user"),
            models.UniqueConstraint(
                fields=["space", "name"],
                condition=Q(deleted_at__isnull=True),
                name="messaging_user_once",
            ),
            models.CheckConstraint(
                name="messaging_user_name_legal",
                condition=Q(name__regex=r"^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$"),
            ),
        ]
