"""Brokers and routers: drivers, configuration files, probes, certificates, and test traffic."""
