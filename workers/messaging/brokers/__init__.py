"""Artemis brokers: what one should hold and its files (both pure), and the driver."""
