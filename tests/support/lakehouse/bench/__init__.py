"""Measures the lakehouse: ``make bench-lakehouse``."""
