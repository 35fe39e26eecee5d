"""Django app configuration of the project: registers system checks and creates the Celery app."""

from django.apps import AppConfig


class WiringConfig(AppConfig):
    name = "controlplane"
    label = "wiring"

    def ready(self) -> None:
        """Register the checks, and create the Celery app that ``core.enqueue`` sends through."""
        # Importing ``checks`` registers them, and importing ``celery`` creates the app.
        from controlplane import celery, checks  # noqa: F401
