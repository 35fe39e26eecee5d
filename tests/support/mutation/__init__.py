"""Mutation tests of what computes invoices and enforces quotas: `make mutation`."""
