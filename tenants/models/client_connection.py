"""Models of clients' connections: those that were open lately, and requests to close some."""

from django.db import models
from django.db.models import Q

from controlplane.core import ids
from controlplane.core.models import Timestamped
from tenants.models.address_space import AddressSpace


class InstanceConnections(models.Model):
    """When the sampler last read one instance's client connections. Key: (space, instance).

    ``as_of`` is that time, ``total`` the number of open connections, and ``listed`` how many of
    them have a row in ``ClientConnection``, which takes only so many. ``boot_id`` is the
    incarnation that was read.
    """

    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="+")
    instance = models.CharField(max_length=40)
    boot_id = models.CharField(max_length=255)
    as_of = models.DateTimeField()
    total = models.PositiveIntegerField()
    listed = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["space", "instance"], name="instance_connections_once")
        ]


class ClientConnection(models.Model):
    """One open connection of a client, as the sampler last saw it. Key: (space, name).

    ``name`` is ``<instance>.<connection_id>``. The engine chooses ``connection_id``, which is
    unique in one incarnation of the instance. A field that the engine does not report is empty or
    null. ``tls`` is ``none`` for a connection without encryption. ``sent`` and ``received`` count
    messages from the client's point of view: on a broker since the connection was opened, on a
    router on the links that were open at that time. ``addresses`` lists the addresses of these
    links. ``sent_per_second`` and ``received_per_second`` are between the last two samples. Both
    rates are null before the second sample, and on a router after a link was closed, whose messages
    are no longer counted.

    Waypost's own connections (probes, management, between routers) never have a row.
    """

    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="connections")
    name = models.CharField(max_length=160)
    instance = models.CharField(max_length=40)
    connection_id = models.CharField(max_length=120)
    messaging_user = models.CharField(max_length=255, blank=True)
    container = models.CharField(max_length=255, blank=True)
    remote_host = models.CharField(max_length=255, blank=True)
    protocol = models.CharField(max_length=40, blank=True)
    product = models.CharField(max_length=120, blank=True)
    tls = models.CharField(max_length=120, blank=True)
    opened_at = models.DateTimeField(null=True)
    sessions = models.PositiveIntegerField(null=True)
    links = models.PositiveIntegerField(default=0)
    addresses = models.JSONField(default=list)
    sent = models.BigIntegerField(null=True)
    received = models.BigIntegerField(null=True)
    sent_per_second = models.FloatField(null=True)
    received_per_second = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["space", "name"], name="client_connection_once")
        ]


class Disconnection(Timestamped):
    """A request to close connections of a space's clients; a worker carries it out.

    Either ``messaging_user`` names a user, all of whose connections are closed, or ``targets``
    lists connections as {"instance", "boot_id", "id"}. ``done_on`` names the instances that need no
    more work. ``closed`` is how many connections the instances have closed. ``finished_at`` is null
    until the worker has ended the operation whose subject is this row.
    """

    id = models.CharField(primary_key=True, max_length=40, default=ids.disconnection_id)
    space = models.ForeignKey(AddressSpace, on_delete=models.CASCADE, related_name="+")
    messaging_user = models.CharField(max_length=255, blank=True)
    targets = models.JSONField(default=list)
    done_on = models.JSONField(default=list)
    closed = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=Q(finished_at__isnull=True),
                name="disconnection_unfinished",
            )
        ]
