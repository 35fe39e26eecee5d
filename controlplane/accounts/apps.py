"""The Django app ``accounts``: it connects the signals of logins to the audit log."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "controlplane.accounts"

    def ready(self) -> None:
        """Connect our receivers by importing their module, and disconnect one receiver of allauth.

        That receiver would delete the command's sessions from the list of a person's sessions.
        """
        from allauth.account.signals import user_logged_in
        from allauth.usersessions.signals import on_user_logged_in

        from controlplane.accounts import login_audit  # noqa: F401

        user_logged_in.disconnect(on_user_logged_in)
