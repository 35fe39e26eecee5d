"""The development router: Qpid Dispatch's configuration, management and behaviour, in Python.

For machines without ``qdrouterd``: to try Waypost, to test it, to show it. Never for production,
and its log says so. One conformance suite runs against it and against the real router.

    wire -> handshake -> engine -> router -> links, forwarding, autolinks, routed -> engine
                                     └── management: agent, entities, rows
"""
