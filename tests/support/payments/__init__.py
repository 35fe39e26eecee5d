"""Providers of payments for tests."""
