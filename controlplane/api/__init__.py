"""The REST API under /api/v1/: one module for each resource, and a few shared modules.

Shared are ``views`` (caller, tenant and permission of a request), ``problem`` (every error as
problem+json), ``authentication``, ``pagination``, ``etags``, ``idempotency`` and ``schema``. A view
parses the request, calls ``tenants`` or ``plans``, and serializes the result.
"""
