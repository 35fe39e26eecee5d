"""Artemis brokers: desired state and configuration files (both pure), and the driver."""
