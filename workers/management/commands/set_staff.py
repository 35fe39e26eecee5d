"""``manage.py set_staff EMAIL [--remove]``: give an account the right of staff, or take it away.

The account must exist. The change is audited.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from controlplane.core.audit import Actor
from controlplane.core.errors import WaypostError
from tenants.actions import staff_accounts


class Command(BaseCommand):
    help = "Make an account that exists one of the operator's staff, or end that."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the account's email address")
        parser.add_argument("--remove", action="store_true", help="it is no staff any more")

    def handle(self, *args: Any, **options: Any) -> None:
        is_staff = not options["remove"]
        try:
            user = staff_accounts.set_staff(
                email=options["email"], is_staff=is_staff, by=Actor("operator:command-line")
            )
        except WaypostError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"{user.email} is {'' if is_staff else 'not '}one of staff from now on")
