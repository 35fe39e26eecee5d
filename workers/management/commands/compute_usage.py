"""``manage.py compute_usage``: one run of the usage pipeline, for a cron job of its own."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.core.errors import WaypostError
from workers.metering import pipeline, rounds


class Command(BaseCommand):
    help = "Bring usage up to the newest samples, unless another process is at it."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            rounds.compute_usage()
        except pipeline.PipelineBusy as busy:
            self.stdout.write(busy.message)
        except WaypostError as error:
            raise CommandError(f"{error.error_code}: {error.message}") from error
