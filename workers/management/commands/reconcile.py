"""``manage.py reconcile [--once]``: reconcile due spaces in the foreground, without Celery.

It runs until SIGTERM, and then finishes the space that it is working on. With ``--once`` it also
ends as soon as no space is due.
"""

import signal
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from workers import wiring
from workers.reconcile import loop


class Command(BaseCommand):
    help = "Reconcile every space that is due, and repeat until stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="stop when nothing is due")

    def handle(self, *args: Any, **options: Any) -> None:
        stopping = []
        signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
        while not stopping:
            due = loop.list_due(wiring.ports())
            for space_id in due:
                if not stopping:
                    loop.reconcile(space_id, wiring.ports())
            if options["once"] and not due:
                return
            time.sleep(0.5)
