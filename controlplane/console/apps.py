"""Django app configuration of the portal (templates and static files)."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "controlplane.console"
    label = "console"
