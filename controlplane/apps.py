"""Django app configuration of the wiring: registers the system checks, makes the Celery app."""

from django.apps import AppConfig


class WiringConfig(AppConfig):
    name = "controlplane"
    label = "wiring"

    def ready(self) -> None:
        """Register the checks, and the Celery app that ``core.nudge`` sends through."""
        from controlplane import celery, checks  # noqa: F401  (registration is the import)
