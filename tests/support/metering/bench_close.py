"""Measure the close of one month of many tenants: `make bench-close`.

``python -m tests.support.metering.bench_close TENANTS TIMES`` measures another number of tenants,
each sampled that many times in the month, and writes nothing. Each tenant has a space with four
queues and one broker: five samples at a time. With millions of samples, set
``WAYPOST_PIPELINE_BULK=true`` and ``WAYPOST_PIPELINE_CONTAINER_MB=8192``. Bronze, gold and the copy
are made by the product; no instance is read, because the last samples of the month are taken
already.
"""

import os
import resource
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import django
from cryptography.fernet import Fernet

from controlplane.demo.bench_results import Result
from controlplane.embedded import postgres

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "performance.md"
_COMMAND = "make bench-close"
_NOTE = (
    "One run. The times are those of one worker process; the load is that before the run. The "
    "database is PostgreSQL without synchronous writes to the disk."
)
_TENANTS = 10_000
_ADDRESSES = ("orders", "invoices", "events", "mails")
_TIMES = 5  # at which each broker was sampled in the month
_STARTS_AT = datetime(2026, 4, 1, tzinfo=UTC)
_ENDS_AT = datetime(2026, 5, 1, tzinfo=UTC)
_DRAFTS_LIMIT, _WHOLE_LIMIT = 60, 300  # seconds, for ``_TENANTS``


def main() -> int:
    """Measure, and write the page unless a number of tenants is given; 1 if a limit is exceeded."""
    given = [int(text) for text in sys.argv[1:]]
    n_tenants, n_times = (*given, *(_TENANTS, _TIMES)[len(given) :])
    with tempfile.TemporaryDirectory(prefix="wpc-") as name, postgres.throwaway(Path(name)) as db:
        url = f"postgresql://{db.user}:{db.password}@{db.host}:{db.port}/postgres"
        os.environ["WAYPOST_DATABASE_URL"] = url
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
        os.environ["WAYPOST_LAKEHOUSE_ROOT"] = f"{name}/lakehouse"
        os.environ["WAYPOST_SECRET_KEY"] = secrets.token_hex(32)
        os.environ["WAYPOST_SECRET_KEYS"] = Fernet.generate_key().decode()
        django.setup()
        return _measure(n_tenants, n_times, is_whole=len(sys.argv) == 1)


def _measure(n_tenants: int, n_times: int, *, is_whole: bool) -> int:
    from django.core.management import call_command  # needs Django

    from controlplane.demo import figures

    call_command("migrate", verbosity=0)
    results = []
    for result in _results(n_tenants, n_times):
        sys.stdout.write(f"{result.row()}\n")
        sys.stdout.flush()
        results.append(result)
    if is_whole:
        figures.write(_PAGE, "Close runs", results, _NOTE)
    return int(is_whole and any(result.is_over for result in results))


def _results(n_tenants: int, n_times: int) -> Iterator[Result]:
    load = os.getloadavg()[0]
    n_samples = _seed(n_tenants, n_times)
    spent = _closed()
    after = [name for name in ("recomputation", "rating") if name in spent]
    shown = f"{n_tenants:,} tenants, {n_samples:,} samples"
    for name, (seconds, cpu) in spent.items():
        more = f"CPU of the worker {cpu:.1f} s"
        yield _result(f"close run of {shown}: {name}", seconds, load=load, more=more)
    drafts = [sum(spent[name][part] for name in after) for part in (0, 1)]
    yield _result(
        f"drafts of {n_tenants:,} tenants after the pipeline",
        drafts[0],
        load=load,
        more=f"CPU of the worker {drafts[1]:.1f} s",
        limit=_DRAFTS_LIMIT,
    )
    whole = sum(seconds for seconds, _ in spent.values())
    yield _result(f"the whole run of {shown}", whole, load=load, limit=_WHOLE_LIMIT)


def _result(
    what: str, seconds: float, *, load: float, more: str = "", limit: float = float("inf")
) -> Result:
    return Result(what, seconds, "s", limit, _COMMAND, load, more)


def _seed(n_tenants: int, n_times: int) -> int:
    """Write the tenants with their spaces, and their samples to bronze; return their number."""
    from controlplane.core.audit import SYSTEM
    from plans.catalog import publishing
    from plans.models import PlanSubscription
    from tenants.models import Address, AddressSpace, Tenant
    from workers.models import MeteredSource

    publishing.ensure_default(by=SYSTEM)
    plan, size = publishing.plan("team"), publishing.space_plan("standard-small")
    kind = publishing.address_plan("standard-small-queue")
    details = {"billing_email": "a@example.org", "billing_country": "DE", "billing_address": "A 1"}
    tenants = Tenant.objects.bulk_create(
        Tenant(name=f"Tenant {n}", slug=f"tenant-{n}", billing_name=f"Tenant {n}", **details)
        for n in range(n_tenants)
    )
    PlanSubscription.objects.bulk_create(
        PlanSubscription(tenant=row, plan=plan, starts_at=_STARTS_AT) for row in tenants
    )
    spaces = AddressSpace.objects.bulk_create(
        AddressSpace(
            tenant=row, name="shop", type="standard", space_plan=size, active_since=_STARTS_AT
        )
        for row in tenants
    )
    AddressSpace.objects.update(created_at=_STARTS_AT)
    Address.objects.bulk_create(
        Address(space=space, address=name, type="queue", address_plan=kind, active_since=_STARTS_AT)
        for space in spaces
        for name in _ADDRESSES
    )
    MeteredSource.objects.bulk_create(
        MeteredSource(
            source=f"{space.id}/broker-0",
            boot_id="boot-1",
            space_id=space.id,
            tenant_id=space.tenant_id,
            seq=n_times,
            sampled_at=_ENDS_AT,
            bucket_at=_ENDS_AT,
        )
        for space in spaces
    )
    return _land([(space.tenant_id, space.id) for space in spaces], n_times)


def _land(spaces: Sequence[tuple[str, str]], n_times: int) -> int:
    """Land samples of all (tenant, space) at ``n_times`` instants of the month; return how many."""
    from django.conf import settings

    from tests.support.lakehouse.samples import Landed, beat, row

    landed, n_samples = Landed(Path(settings.LAKEHOUSE_ROOT)), 0
    for n in range(n_times):
        # 29 days and some hours, so that the last instant is in the month.
        taken_at = _STARTS_AT + timedelta(hours=10) + n * timedelta(days=29.5) / n_times
        samples = []
        for tenant_id, space_id in spaces:
            own = {
                "tenant_id": tenant_id,
                "space_id": space_id,
                "source": f"{space_id}/broker-0",
            }
            samples.append(beat(taken_at, n + 1, connections_opened=n + 1, **own))
            samples += [
                row(
                    taken_at,
                    n + 1,
                    address=name,
                    messages_in=900_000 * (n + 1),
                    messages_out=800_000 * (n + 1),
                    **own,
                )
                for name in _ADDRESSES
            ]
        n_samples += len(samples)
        landed(*samples)
    return n_samples


def _closed() -> dict[str, tuple[float, float]]:
    """Close the month of all tenants; return {step: (seconds, CPU seconds of this process)}."""
    from controlplane.core.audit import SYSTEM
    from plans.invoicing import close_runs, invoice_closing
    from plans.models import CloseRun, Invoice
    from tenants.models import AddressSpace
    from workers.metering import ingest
    from workers.metering.readers import Readable, Readers
    from workers.metering.run_closing import RunAttempt

    spent: dict[str, tuple[float, float]] = {}
    at: dict[str, float | str] = {"step": "", "wall": 0.0, "cpu": 0.0}

    class Timed(RunAttempt):
        def report(self, step: CloseRun.Step | None = None, **more: object) -> None:
            _note(spent, at, step.value if step else "")
            super().report(step, **more)  # type: ignore[arg-type]

    now = _ENDS_AT + invoice_closing.grace()

    class AfterMonth(Readers):
        """Readers at a fixed time, which are never asked for a space."""

        @property
        def clock(self) -> Callable[[], datetime]:
            return lambda: now

        def find(self, space: AddressSpace) -> Readable:
            raise AssertionError(f"the last samples of {space.id} were taken already")

    run = close_runs.start(by=SYSTEM, now=now)
    Timed(run, AfterMonth(), ingest.lakehouse_root()).carry_out()
    _note(spent, at, "")
    states = set(Invoice.objects.values_list("state", flat=True))
    assert states == {Invoice.State.DRAFT}, Invoice.objects.exclude(state="draft")[0].held_reasons
    return spent


def _note(spent: dict[str, tuple[float, float]], at: dict[str, float | str], step: str) -> None:
    """Add the time since the last call to the step that ends, and begin ``step``."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    wall, cpu = time.monotonic(), usage.ru_utime + usage.ru_stime
    if at["step"]:
        before = spent.get(str(at["step"]), (0.0, 0.0))
        gone = (wall - float(at["wall"]), cpu - float(at["cpu"]))
        spent[str(at["step"])] = (before[0] + gone[0], before[1] + gone[1])
    at.update(step=step, wall=wall, cpu=cpu)


if __name__ == "__main__":
    raise SystemExit(main())
