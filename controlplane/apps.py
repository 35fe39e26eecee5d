"""Django app configuration of the project: registers system checks and creates the Celery app."""

from django.apps import AppConfig


class WiringConfig(AppConfig):
    name = "controlplane"
    label = "wiring"

    def ready(self) -> None:
        """Register the checks, and create the Celery app that ``core.enqueue`` sends through."""
        from controlplane import celery, checks  # noqa: F401  (registration is the import)
