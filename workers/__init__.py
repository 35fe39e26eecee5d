"""Celery workers: the only code that touches clusters, routers and brokers."""
