"""``manage.py copy_gold``: copy every day of the newest gold usage to the database again.

Workers copy each version once. This command fixes a copy whose rows were altered, which holds
invoices with ``usage.copy_differs`` (docs/billing.md). Idempotent, and safe beside workers.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.core.errors import WaypostError
from workers.metering import gold, ingest


class Command(BaseCommand):
    help = "Copy every day of the newest gold usage to the database again."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            days = gold.copy_again(ingest.lakehouse_root())
        except WaypostError as error:
            raise CommandError(f"{error.error_code}: {error.message}") from error
        self.stdout.write(f"days of usage copied again: {days}")
