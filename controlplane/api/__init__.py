"""The REST API under /api/v1/: one module per resource, and a few shared modules.

Shared: ``views`` (caller, tenant and permission of a request), ``problem`` (every error as
problem+json), ``authentication``, ``pagination``, ``etags``, ``idempotency`` and ``schema``. A view
parses the request, makes one call into ``tenants`` or ``plans`` and serializes the result.
"""
