"""``manage.py after_restore``: once, on a restored database, before workers start. Idempotent."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from controlplane.core.errors import WaypostError
from controlplane.core.models import Lease
from tenants.models import AddressSpace, Rollout
from workers.metering import ingest, restored


class Command(BaseCommand):
    help = "Check that database and lakehouse fit, and have every space looked at in full."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            restored.check(ingest.lakehouse_root())
        except WaypostError as error:
            raise CommandError(f"{error.error_code}: {error.message}") from error
        with transaction.atomic():
            # Whoever held them ended with the old database.
            Lease.objects.all().delete()
            restored.forget_planned_restarts()
            # An installation that is made anew counts its revisions from the start.
            Rollout.objects.update(revision=0)
            spaces = AddressSpace.objects.filter(deleted_at__isnull=True).update(
                claimed_by="", claimed_until=None, next_attempt_at=None, last_full_pass_at=None
            )
        self.stdout.write(f"database and lakehouse fit; {spaces} spaces are due for a full pass")
