"""Spark jobs that compute usage from samples, in Delta tables. Imports no other Waypost package."""
