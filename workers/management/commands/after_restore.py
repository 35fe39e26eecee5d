"""``manage.py after_restore``: prepare a restored database before workers start. Idempotent.

It fails, and changes nothing, if the database and the lakehouse do not fit together. Otherwise it
deletes all leases and the notes of planned restarts, sets the revision of rollouts to 0, and makes
every space due for a full pass. ``controlplane.embedded.restore`` and operators call it
(docs/operate/backup.md).
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from controlplane.core.errors import WaypostError
from controlplane.core.models import Lease
from tenants.models import AddressSpace, Rollout
from workers.metering import ingest, restored


class Command(BaseCommand):
    help = (
        "Check that database and lakehouse fit together, and make every space due for a full pass."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            restored.check(ingest.lakehouse_root())
        except WaypostError as error:
            raise CommandError(f"{error.error_code}: {error.message}") from error
        with transaction.atomic():
            # The processes that hold these leases worked on the database before the restore.
            Lease.objects.all().delete()
            restored.forget_planned_restarts()
            # A recreated installation counts its revisions from 1 again. If the higher revision of
            # the old installation stayed, its workers would take themselves for outdated.
            Rollout.objects.update(revision=0)
            spaces = AddressSpace.objects.filter(deleted_at__isnull=True).update(
                claimed_by="", claimed_until=None, next_attempt_at=None, last_full_pass_at=None
            )
        self.stdout.write(
            f"database and lakehouse fit together; {spaces} spaces are due for a full pass"
        )
