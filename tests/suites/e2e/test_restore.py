"""A restore drill: back up a running installation, lose it altogether, restore it, compare.

Clients number their messages and count; what they counted is what must be stored and billed after
the restore. What they did between the backup and the loss is gone, and the invoice says so.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import psutil
import pytest

from controlplane.core.accounts import OPERATOR_EMAIL
from controlplane.demo import bills
from controlplane.demo.customers import EVERYTHING, Customer, Operator
from controlplane.embedded import backup, ports, postgres, stack, supervision
from controlplane.embedded.installation import Installation
from controlplane.embedded.restore import restore
from controlplane.rest_client import Api, Json
from tests.suites.e2e.conftest import short_folder
from tests.support.messaging.paced import Receiver, Sender, connect, link
from tests.support.waiting import eventually
from workers.messaging.counting_client import Login, TrafficError

pytestmark = [pytest.mark.stack, pytest.mark.slow]

# Spark runs for the closes only, and what counts before the backup is the sample that it takes.
SETTINGS = {
    "WAYPOST_SAMPLE_SECONDS": "600",
    "WAYPOST_LANDING_SECONDS": "10",
    "WAYPOST_PIPELINE_SECONDS": "3600",
    "WAYPOST_LOGIN_RATE": "1000/min",
}
QUEUE = "jobs"
KINDS = ("brokered", "standard")
MOMENTARY = {"phase", "conditions", "probed_at", "updated_at"}


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


def sign_up(installation: Installation, folder: Path) -> Customer:
    made = Customer(installation.url, "Careful Archives", folder)
    made.sign_up("team")
    for kind in KINDS:
        made.create_space(kind, kind, f"{kind}-small")
        made.create_address(kind, QUEUE, "queue", f"{kind}-small-queue")
        made.create_user(kind, "client", EVERYTHING)
    return made


def send(login: Login, first: int) -> set[int]:
    """Send some messages numbered from ``first`` on; return those that were acknowledged."""
    sender = Sender(login, QUEUE, first)
    connect(sender)
    eventually(lambda: len(sender.acknowledged) >= 60, "some are acknowledged", seconds=60)
    sender.rest()
    eventually(lambda: sender.is_settled, "all are acknowledged", seconds=60)
    sender.leave()
    assert sender.ended.wait(20)
    return set(sender.acknowledged)


def take(login: Login, wanted: set[int]) -> list[int]:
    """Return all that there is, once it holds ``wanted``."""
    receiver = Receiver(login, QUEUE)
    connect(receiver)
    eventually(lambda: wanted <= set(receiver.numbers), "what was stored is there", seconds=60)
    time.sleep(1)
    receiver.leave()
    assert receiver.ended.wait(20)
    return receiver.numbers


def wait_serving(customer: Customer) -> None:
    """Return once a client may connect in each space."""

    def serves(kind: str) -> bool:
        try:
            client = Sender(customer.login(kind, "client"), QUEUE)
            link(client)
        except TrafficError:
            return False
        client.leave()
        return client.ended.wait(20)

    for kind in KINDS:
        eventually(partial(serves, kind), f"{kind} serves again", seconds=120)


def close_and_issue(installation: Installation, customer: Customer) -> Json:
    password = installation.secrets.operator_password
    operator = Operator(installation.url, OPERATOR_EMAIL, password)
    with closing(operator.api):
        operation = operator.close_now(customer)
        customer.follow(operation, timeout_seconds=240)
        return bills.issue(operator, customer, operation["subject_id"])


def definitions(customer: Customer) -> Json:
    """Return what the tenant would miss: what it is, what it made, what it used and owes."""
    path, pages = customer.path, customer.api.pages
    spaces = {kind: customer.api.get(path(f"/address-spaces/{kind}")) for kind in KINDS}
    below = {
        f"{kind}/{what}": list(pages(path(f"/address-spaces/{kind}/{what}")))
        for kind in KINDS
        for what in ("addresses", "users")
    }
    return {
        "tenant": customer.api.get(path("")),
        "spaces": {kind: settled(space) for kind, space in spaces.items()},
        **{name: [settled(row) for row in rows] for name, rows in below.items()},
        "usage": customer.api.get(path("/usage")),
        "invoices": list(pages(path("/invoices"))),
    }


def settled(row: Json) -> Json:
    """Return the row without what says how it is at this moment."""
    return {name: value for name, value in row.items() if name not in MOMENTARY}


def documents(customer: Customer, invoice: Json) -> list[bytes]:
    """Return the invoice's bytes in every form."""
    path = customer.path(f"/invoices/{invoice['number']}")
    return [customer.api.get_bytes(f"{path}.{kind}") for kind in ("csv", "pdf")]


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


def log_in(installation: Installation, customer: Customer) -> None:
    visitor = Api(installation.url)
    session = visitor.post("/session", {"email": customer.email, "password": customer.password})
    visitor.close()
    customer.api.close()
    customer.api = Api(installation.url, session["token"])


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
