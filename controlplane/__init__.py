"""Waypost's Django project: wiring, HTTP surfaces and the shared kernel."""
