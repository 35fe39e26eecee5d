"""Spark jobs on Delta tables that compute usage from samples. Imports no other Waypost package."""
