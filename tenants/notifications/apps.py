"""The Django app of notifications. It has migrations of its own, apart from those of tenants."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    """Registers the app under the label ``notifications``."""

    name = "tenants.notifications"
    label = "notifications"
