"""``manage.py keep_lakehouse``: compact the tables of the lakehouse and delete old files, once.

Workers do the same once a day. Prints one line for each table.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from controlplane.core.errors import WaypostError
from workers.metering import housekeeping


class Command(BaseCommand):
    help = "Compact the tables of the lakehouse, and delete files that no kept version needs."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = housekeeping.run(timezone.now())
        except WaypostError as error:
            raise CommandError(f"{error.error_code}: {error.message}") from error
        for name, table in sorted(found.items()):
            self.stdout.write(
                f"{name}: {table['days']} days rewritten, files {table['files_before']} -> "
                f"{table['files_after']}"
            )
            if table.get("altered"):
                self.stderr.write(f"{name}: left days with altered files: {table['altered']}")
