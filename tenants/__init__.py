"""Tenants, their members, and the desired and observed state of their address spaces."""
