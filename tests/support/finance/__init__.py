"""Validators of documents for finance, and documents to validate."""
