"""``manage.py compute_usage``: compute usage of new samples once, and copy it to the database.

For the cron job of the chart (``pipeline.runs: cronjob``). If another process computes usage now,
the command prints that, does nothing and succeeds.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.core.errors import WaypostError
from workers.metering import periodic, pipeline


class Command(BaseCommand):
    help = "Compute usage up to the newest samples, unless another process is doing so."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            periodic.compute_usage()
        except pipeline.PipelineBusy as busy:
            self.stdout.write(busy.message)
        except WaypostError as error:
            raise CommandError(f"{error.error_code}: {error.message}") from error
