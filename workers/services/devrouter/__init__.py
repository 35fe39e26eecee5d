"""The development router: Qpid Dispatch's configuration, management and behavior, in Python.

It is for trying, testing and demonstrating Waypost on machines without ``qdrouterd``, never for
production; it logs a warning about this. One conformance suite runs against this router and against
the real one.

The way of bytes and messages through the main modules:

    wire -> handshake -> engine -> router -> links, forwarding, configured, routed -> engine
                                     └── management: agent, entities, rows
"""
