"""The Django app ``wiring``: it registers the system checks and creates the Celery app."""

from django.apps import AppConfig


class WiringConfig(AppConfig):
    name = "controlplane"
    label = "wiring"

    def ready(self) -> None:
        """Register the system checks; create the Celery app with which ``core.enqueue`` sends."""
        # Importing ``checks`` registers them, and importing ``celery`` creates the app.
        from controlplane import celery, checks  # noqa: F401
