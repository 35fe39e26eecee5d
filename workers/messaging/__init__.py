"""Clients of running routers and brokers: AMQP management, drivers, probes."""
