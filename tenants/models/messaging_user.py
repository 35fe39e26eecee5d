"""The model of messaging users: the identities that clients of a space log in with."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from tenants.models.address_space import AddressSpace
from tenants.models.reconciled import Reconciled, reconciled_constraints


class MessagingUser(Reconciled):
    """A login of AMQP clients to one space, with its permissions and verifiers of its password.

    ``name`` is unique in its space until the user is deleted. ``permissions``: list of
    {"addresses": [pattern, ...], "operations": ["send"|"recv", ...]}. Levels of an address are
    separated by ``/``. In a pattern ``*`` matches one level and ``#`` all further ones (``a/#``
    matches ``a/b``, never ``ab``).
    ``verifiers`` can check a password but do not reveal it: {"scram-sha-256": {"salt",
    "iterations", "stored_key", "server_key"} (base64), "artemis": "ENC(…)"}. See
    ``tenants.verifiers``. The password is never stored.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.messaging_user_id)
    space = models.ForeignKey(AddressSpace, on_delete=models.PROTECT, related_name="users")
    name = models.CharField(max_length=63)
    permissions = models.JSONField(default=list)
    # The auth service and the broker check logins, and each needs a verifier of its own form.
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
