"""Quotas: names of limited resources, check of a request, enforcement of monthly quotas."""
