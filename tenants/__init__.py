"""Who and what: tenants, their people, and the messaging they want (desired state)."""
