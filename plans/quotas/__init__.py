"""Quotas: the limited resources, the check of a request, and enforcement of monthly quotas."""
