"""What messaging costs and what limits it: catalog, quotas, pricing, invoices, ledger."""
