"""``manage.py rollout [pause|resume|roll-back]``: show or steer the rollout of an engine release.

The command prints the last rollout: its release, its progress and the spaces that failed. With a
verb it first pauses or resumes this rollout, or begins another one back to the former release. It
fails if there is no rollout. An installation whose engines run as local programs has none.
"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import WaypostError
from tenants import rollouts
from tenants.actions import rollouts as actions
from tenants.models import Rollout
from workers.rollouts import fleet

# Word of the command -> action.
_VERBS = {"pause": actions.pause, "resume": actions.resume, "roll-back": actions.roll_back}


class Command(BaseCommand):
    help = "Show the rollout of the engines' newest release, or pause, resume or roll it back."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("verb", nargs="?", choices=[*_VERBS], help="what to do; show if absent")
        parser.add_argument("--reason", default="", help="why, for the audit log")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verb"]:
            try:
                _VERBS[options["verb"]](by=SYSTEM, reason=options["reason"])
            except WaypostError as error:
                raise CommandError(error.message) from error
        rollout = rollouts.latest()
        if rollout is None:
            raise CommandError("There are no releases here: the engines run as local programs.")
        self._show(rollout)

    def _show(self, rollout: Rollout) -> None:
        now, patience = timezone.now(), fleet.policy().patience
        progress = rollouts.progress(rollout, now, patience)
        release = rollout.release
        self.stdout.write(
            f"release {release.number} ({release.broker_image}, {release.router_image or 'none'}): "
            f"{rollout.state}, {progress.done} of {progress.total} spaces, {progress.changing} "
            f"changing, {progress.waiting} waiting, {progress.failed} failed"
        )
        if rollout.reason:
            self.stdout.write(f"  {rollout.reason}")
        for failure in rollouts.list_failed(rollout, now, patience):
            self.stdout.write(f"  {failure.tenant}/{failure.space}: {failure.reason}")
