"""The double-entry ledger, and the credit of tenants with legal entities."""
