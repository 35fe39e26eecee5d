"""Measure how many notifications one worker sends: ``python -m tests.support.notifications.bench``.

Real webhooks go to a server on this machine, each signed. Mails go to the mailbox in the database,
as in an installation without SMTP. The database is PostgreSQL without synchronous writes.
"""

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import django
from cryptography.fernet import Fernet

from controlplane.embedded import postgres
from tests.support.source_tree import ROOT

if TYPE_CHECKING:
    from controlplane.demo.bench_results import Result
    from tenants.models import Tenant

COMMAND = "python -m tests.support.notifications.bench"
_EVENTS, _MANY = 1_000, 20
_NOTE = "One worker process, PostgreSQL and the receiver share the machine; other work ran beside."


def main() -> int:
    """Measure, and write the section "Notifications" of docs/performance.md."""
    with tempfile.TemporaryDirectory(prefix="wpn-") as name, postgres.throwaway(Path(name)) as db:
        os.environ["WAYPOST_DATABASE_URL"] = (
            f"postgresql://{db.user}:{db.password}@{db.host}:{db.port}/postgres"
        )
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
        os.environ["WAYPOST_SECRET_KEY"] = secrets.token_hex(32)
        os.environ["WAYPOST_SECRET_KEYS"] = Fernet.generate_key().decode()
        os.environ["WAYPOST_WEBHOOK_ALLOWED_RANGES"] = "127.0.0.0/8"
        os.environ["WAYPOST_SMTP_HOST"] = ""
        django.setup()
        from django.core.management import call_command

        from controlplane.demo import figures

        call_command("migrate", verbosity=0)
        results = []
        for result in _measure():
            sys.stdout.write(f"{result.row()}\n")
            results.append(result)
        figures.write(ROOT / "docs" / "performance.md", "Notifications", results, _NOTE)
    return 0


def _measure() -> Iterator["Result"]:
    from controlplane.core import enqueue
    from tests.support import domain
    from tests.support.notifications import receiver

    enqueue._send = lambda *_: None
    tenants = [domain.cast().tenant for _ in range(_MANY)]
    with receiver.running() as there:
        _hook(tenants, there.url)
        yield _sent(f"webhooks to one receiver, of {_EVENTS:,}", tenants[:1])
        yield _sent(f"webhooks to {_MANY} receivers, of {_EVENTS:,}", tenants)
    yield _mailed(f"mails into the mailbox, of {_EVENTS:,}", tenants)


def _hook(tenants: Sequence["Tenant"], url: str) -> None:
    from controlplane.core.audit import SYSTEM
    from tenants.actions import notification_channels
    from tenants.actions.notification_channels import Target

    for tenant in tenants:
        notification_channels.create(
            tenant=tenant, name="hook", target=Target("webhook", url), kinds=[], by=SYSTEM
        )


def _sent(what: str, tenants: Sequence["Tenant"]) -> "Result":
    from tenants.notifications.models import TenantPreference

    for tenant in tenants:
        TenantPreference.objects.get_or_create(tenant=tenant, kind="alarm.raised", by_mail=False)
    return _deliver(what, tenants, _EVENTS)


def _mailed(what: str, tenants: Sequence["Tenant"]) -> "Result":
    from tenants.notifications.models import Channel, TenantPreference

    Channel.objects.all().delete()
    TenantPreference.objects.all().delete()
    # Each event is a mail to the owner and one to the developer.
    return _deliver(what, tenants, _EVENTS // 2)


def _deliver(what: str, tenants: Sequence["Tenant"], events: int) -> "Result":
    """Write so many events of the tenants in turn, send them, and return the rate."""
    from django.db import transaction
    from django.utils import timezone

    from controlplane.demo.bench_results import Result, seconds_of
    from tenants.notifications import outbox
    from tenants.notifications.event_kinds import BY_KEY
    from tenants.notifications.models import Delivery
    from workers.notifications import delivering

    kind = BY_KEY["alarm.raised"]
    with transaction.atomic():
        for number in range(events):
            tenant = tenants[number % len(tenants)]
            outbox.write(kind.key, tenant=tenant, key=f"{what}{number}", fields=dict(kind.sample))
    before, load = Delivery.objects.filter(state="delivered").count(), os.getloadavg()[0]

    def send() -> None:
        while delivering.run(timezone.now):
            pass

    seconds = seconds_of(send)
    count = Delivery.objects.filter(state="delivered").count() - before
    assert count == _EVENTS, count
    return Result(what, count / seconds, "a second", float("inf"), COMMAND, load)


if __name__ == "__main__":
    raise SystemExit(main())
