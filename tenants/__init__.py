"""Tenants, their members, and the desired state of their address spaces."""
