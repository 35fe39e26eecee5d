"""Metering: sampling, landing, committing, computing usage, and closing invoices."""
