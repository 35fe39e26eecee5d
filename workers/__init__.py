"""Celery tasks, and all code that talks to clusters, routers and brokers."""
