"""Releases and restarts: the fleet in waves, one space one instance at a time."""
