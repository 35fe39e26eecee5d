"""What messaging costs and what limits it: catalog, usage, quotas, pricing, invoices, ledger."""
