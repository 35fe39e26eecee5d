"""Metering: sample instances, land samples, compute usage, gather the evidence of invoices."""
