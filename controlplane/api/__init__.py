"""The REST API under /api/v1/: one module per resource on top of a few shared parts.

Shared: ``views`` (who calls, which tenant, what the role allows), ``problem`` (every error as
problem+json), ``authentication``, ``pagination``, ``etags``, ``idempotency``,
``schema``. A view parses, makes one call into ``tenants`` or ``plans`` and serializes.
"""
