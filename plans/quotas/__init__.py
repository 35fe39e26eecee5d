"""Quotas: the limited resources, the check of a request, and the enforcement of period quotas."""
