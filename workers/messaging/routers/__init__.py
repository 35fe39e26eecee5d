"""Describe, configure and read routers; desired state and rendering of files are pure."""
