"""Computes usage from samples, with Spark jobs on Delta tables. Imports nothing else of Waypost."""
