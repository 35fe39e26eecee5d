"""The demonstration: two tenants with real clients, and their invoices compared with the traffic.

``story`` runs the ``chapters``. In them ``customers`` act over REST, ``exchanges`` send and receive
with real AMQP clients, and ``bills`` compares what Waypost metered and billed with what the clients
counted. These modules use only REST and AMQP, and never the database.

The modules ``bench*`` and ``figures`` measure Waypost and write docs/performance.md.
"""
