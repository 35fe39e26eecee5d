"""What messaging costs and what limits it: catalogue, quotas, pricing, invoices, ledger."""
