"""The development router: Qpid Dispatch's configuration, management and behavior, in Python.

It is for trying, testing and demonstrating Waypost on machines without ``qdrouterd``, never for
production; it logs a warning about this. One conformance suite runs against it and against the real
router.

    wire -> handshake -> engine -> router -> links, forwarding, autolinks, routed -> engine
                                     └── management: agent, entities, rows
"""
