"""``manage.py back_up``: one run of the scheduled backup in a cluster (docs/operate/backup.md).

The chart's cron job runs it, beside a container that has pg_dump.
"""

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from controlplane.core.errors import WaypostError
from workers.backups.dumping import Dumper
from workers.backups.making import Backups, Choice
from workers.infra import adapters
from workers.infra.backup_port import VolumeId
from workers.infra.base import InfraError
from workers.metering import ingest


class Command(BaseCommand):
    help = "Back up the database, and the lakehouse at the same instant, into a new folder."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="where the folders of backups are")
        parser.add_argument("--exchange", type=Path, required=True, help="shared with pg_dump")
        parser.add_argument("--keep", type=int, required=True, help="backups that are kept")
        parser.add_argument("--installation", default="", help="label of volume snapshots")
        parser.add_argument("--namespace", default="", help="of the lakehouse's claim")
        parser.add_argument("--lakehouse-claim", default="", help="snapshot it; empty: copy files")
        parser.add_argument("--brokers", action="store_true", help="snapshot brokers' volumes too")
        parser.add_argument("--snapshot-class", default="", help="empty: the cluster's default")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["keep"] < 1:
            raise CommandError("--keep must be 1 or more: the new backup is one of them.")
        claim, namespace = options["lakehouse_claim"], options["namespace"]
        volume = VolumeId(namespace, claim) if claim else None
        snapshots = None
        if volume or options["brokers"]:
            # The volumes of brokers are in the namespaces of their spaces, so old snapshots of
            # them may be anywhere.
            within = None if options["brokers"] else namespace
            snapshots = adapters.snapshots(
                options["installation"], options["snapshot_class"], within
            )
        backups = Backups(
            options["folder"],
            ingest.lakehouse_root(),
            Choice(options["keep"], volume, options["brokers"]),
            Dumper(options["exchange"], time.sleep),
            snapshots,
            timezone.now,
            time.sleep,
        )
        try:
            made = backups.make()
        except WaypostError as error:
            raise CommandError(f"{error.error_code}: {error.message}") from error
        except (InfraError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{made}\n")
