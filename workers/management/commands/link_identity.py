"""``manage.py link_identity EMAIL SUBJECT``: link an account to a person of the identity provider.

For accounts of staff, which no login links by itself. The link is audited.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from controlplane.core.audit import Actor
from controlplane.core.errors import WaypostError
from tenants.actions import identities


class Command(BaseCommand):
    help = "Link an account, also one of staff, to a person of the identity provider."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the account's email address")
        parser.add_argument("subject", help="the person's `sub` at the provider")
        parser.add_argument(
            "--replace", action="store_true", help="also if the account has another identity"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            user = identities.link(
                email=options["email"],
                subject=options["subject"],
                by=Actor("operator:command-line"),
                replace=options["replace"],
            )
        except WaypostError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"{user.email} logs in as {user.oidc_subject} from now on")
