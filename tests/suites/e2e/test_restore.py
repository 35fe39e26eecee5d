"""A restore drill: back up a running installation, lose it altogether, restore it, compare.

What clients counted must be stored and billed after the restore. What they did between the backup
and the loss is gone, and the invoice says so.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import pytest

from controlplane.demo import bills
from controlplane.demo.customers import Customer
from controlplane.embedded import backup, ports, postgres, stack, supervision
from controlplane.embedded.installation import Installation
from controlplane.embedded.restore import restore
from controlplane.rest_client import Json
from tests.suites.e2e.conftest import short_folder
from tests.support.embedded.customer_life import (
    KINDS,
    QUEUE,
    SETTINGS,
    close_and_issue,
    definitions,
    documents,
    log_in,
    send,
    sign_up,
    take,
    wait_serving,
)
from tests.support.waiting import eventually

pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.drill]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Where installations may be made, one beside the other."""
    with short_folder() as made:
        yield made


def lose(installation: Installation) -> None:
    """Kill every process at once and remove the folder: no last words."""
    for process in supervision.list_processes(installation):
        with suppress(psutil.NoSuchProcess):  # it ended with its parent
            process.kill()
    eventually(lambda: not supervision.list_processes(installation), "all is dead", seconds=60)
    shutil.rmtree(installation.root)


@dataclass(frozen=True)
class Drill:
    """One loss and restore. ``before`` and ``papers`` are as they were at the backup.

    ``taken`` are numbers of messages acknowledged before the backup, none of them received.
    """

    backup: Path
    lost: Installation
    restored: Installation
    customer: Customer
    invoice: Json
    before: Json
    papers: list[bytes]
    taken: dict[str, set[int]]


@pytest.fixture(scope="module")
def drill(folder: Path) -> Iterator[Drill]:
    """A customer's life up to the restore; its installation is up again, and it is logged in."""
    lost = stack.up(folder / "a", web_port=ports.reserve_port(), settings=SETTINGS)
    customer = sign_up(lost, folder)
    taken = {kind: send(customer.login(kind, "client"), 0) for kind in KINDS}
    invoice = close_and_issue(lost, customer)
    for kind in KINDS:
        taken[kind] |= send(customer.login(kind, "client"), 1_000_000)
    before, papers = definitions(customer), documents(customer, invoice)

    made = backup.make(lost.root, folder / "backup")
    wait_serving(customer)
    customer.create_address("brokered", "late", "queue", "brokered-small-queue")
    for kind in KINDS:
        send(customer.login(kind, "client"), 2_000_000)
    lose(lost)
    restored = restore(made, folder / "b")
    stack.up(restored.root)

    log_in(restored, customer)
    yield Drill(made, lost, restored, customer, invoice, before, papers, taken)
    customer.api.close()


def test_definitions_usage_and_invoices_are_those_of_the_backup(drill: Drill) -> None:
    assert definitions(drill.customer) == drill.before
    assert documents(drill.customer, drill.invoice) == drill.papers
    assert bills.recompute(drill.customer, drill.invoice) == "same bytes"


def test_stored_messages_are_there_and_metering_goes_on(drill: Drill) -> None:
    customer = drill.customer
    wait_serving(customer)
    received = {k: take(customer.login(k, "client"), drill.taken[k]) for k in KINDS}
    after = {kind: send(customer.login(kind, "client"), 3_000_000) for kind in KINDS}

    invoice = close_and_issue(drill.restored, customer)

    found, quality = bills.metered(customer), invoice["document"]["quality"]
    for kind in KINDS:
        space = customer.spaces[kind].id
        assert sorted(received[kind]) == sorted(drill.taken[kind])
        assert found[space, QUEUE, "messages_in"] == len(drill.taken[kind]) + len(after[kind])
        assert found[space, QUEUE, "messages_out"] == len(received[kind])
        assert f"broker-0 of {kind} stopped without warning" in quality["text"]
    assert quality["flagged"]
    assert bills.recompute(customer, invoice) == "same bytes"


def test_only_the_keys_file_of_a_backup_opens_anything(drill: Drill) -> None:
    parts = {path.name: path for path in drill.backup.iterdir()}
    pg_restore = [str(postgres.binary("pg_restore")), "--file=-", str(parts[backup.DATABASE_DUMP])]
    plain = subprocess.run(pg_restore, capture_output=True, check=True).stdout
    readable = [plain, *(parts[name].read_bytes() for name in parts if name != backup.KEYS)]
    secrets = [*asdict(drill.lost.secrets).values(), drill.customer.password, "PRIVATE KEY"]

    assert {path.stat().st_mode & 0o777 for path in parts.values()} == {0o600}
    assert [s for s in secrets if any(s.encode() in content for content in readable)] == []
    assert "PRIVATE KEY" in parts[backup.KEYS].read_text()
