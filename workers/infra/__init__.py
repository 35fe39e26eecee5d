"""Run routers and brokers: one port, ``base.Infra``, with one adapter for each platform."""
