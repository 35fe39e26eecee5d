"""Prices, bills and limits what tenants use: catalog, usage, quotas, pricing, invoices, ledger."""
