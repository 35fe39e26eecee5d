"""The upgrade of an embedded installation from an earlier commit, as docs/operate/upgrade.md says.

The earlier version runs from a checkout of its own, with its own dependencies. A customer signs up
there, stores messages and is issued an invoice. This version then starts on the same folder.
"""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.utils.dateparse import parse_datetime

from controlplane.demo import bills
from controlplane.demo.customers import Customer
from controlplane.embedded import installation as installations
from controlplane.embedded import ports, stack
from controlplane.embedded.installation import Installation
from controlplane.rest_client import Json
from tests.suites.e2e.conftest import short_folder
from tests.suites.upgrade.conftest import FROM
from tests.support.embedded import customer_life as life
from tests.support.embedded.customer_life import KINDS, QUEUE
from tests.support.source_tree import ROOT
from tests.support.waiting import eventually

pytestmark = [pytest.mark.stack, pytest.mark.slow]

_UP = """
import json, sys
from pathlib import Path
from controlplane.embedded import stack
root, port, settings = sys.argv[1:]
stack.up(Path(root), web_port=int(port), settings=json.loads(settings))
"""


@dataclass(frozen=True)
class Upgrade:
    """One upgrade; ``before``, ``papers`` and ``taken`` are of the earlier version.

    ``taken`` are numbers of messages that were acknowledged, none of them received.
    """

    installation: Installation
    customer: Customer
    invoice: Json
    before: Json
    papers: list[bytes]
    taken: dict[str, set[int]]


def run(*command: str, folder: Path) -> None:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]


def start_earlier(checkout: Path, root: Path) -> Installation:
    """Start the earlier version from a checkout that is made here."""
    run("git", "clone", "--quiet", str(ROOT), str(checkout), folder=ROOT)
    run("git", "checkout", "--quiet", FROM, folder=checkout)
    run("make", "setup", folder=checkout)
    python = str(checkout / ".venv" / "bin" / "python")
    settings = json.dumps(life.SETTINGS)
    run(python, "-c", _UP, str(root), str(ports.reserve_port()), settings, folder=checkout)
    found = installations.load(root)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def upgrade() -> Iterator[Upgrade]:
    """A customer's life up to the upgrade; this version is up, and the customer is logged in."""
    with short_folder() as folder:
        checkout, root = folder / "earlier", folder / "a"
        earlier = start_earlier(checkout, root)
        customer = life.sign_up(earlier, folder)
        taken = {kind: life.send(customer.login(kind, "client"), 0) for kind in KINDS}
        invoice = life.close_and_issue(earlier, customer)
        for kind in KINDS:
            taken[kind] |= life.send(customer.login(kind, "client"), 1_000_000)
        before, papers = life.definitions(customer), life.documents(customer, invoice)
        run(str(checkout / ".venv/bin/waypost"), "down", "--state", str(root), folder=checkout)

        installation = stack.up(root)
        life.log_in(installation, customer)
        yield Upgrade(installation, customer, invoice, before, papers, taken)
        customer.api.close()
        stack.down(root)


def kept(before: Any, after: Any) -> Any:
    """Return ``after`` without the fields that ``before`` lacks: a version may add fields.

    An instant is that of ``before`` if only its form differs: ``…:00Z`` and ``…:00.000000Z``.
    """
    if isinstance(before, dict):
        return {name: kept(before[name], after.get(name)) for name in before}
    if isinstance(before, list) and len(before) == len(after):
        return [kept(*pair) for pair in zip(before, after, strict=True)]
    return before if instant(before) and instant(before) == instant(after) else after


def instant(value: Any) -> datetime | None:
    """Return the instant that a text of JSON names; None if it names none."""
    try:
        return parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        return None


def test_definitions_usage_and_invoices_are_those_of_before(upgrade: Upgrade) -> None:
    assert kept(upgrade.before, life.definitions(upgrade.customer)) == upgrade.before
    assert life.documents(upgrade.customer, upgrade.invoice) == upgrade.papers
    assert bills.recompute(upgrade.customer, upgrade.invoice) == "same bytes"


def test_spaces_become_ready_with_everything_in_them(upgrade: Upgrade) -> None:
    def is_ready(kind: str) -> bool:
        api, path = upgrade.customer.api, upgrade.customer.path
        space = path(f"/address-spaces/{kind}")
        rows = [*api.pages(f"{space}/addresses"), *api.pages(f"{space}/users")]
        return {row["phase"] for row in (api.get(space), *rows)} == {"Active"}

    for kind in KINDS:
        eventually(partial(is_ready, kind), f"{kind} is ready", seconds=120)


def test_messages_remain_and_metering_goes_on(upgrade: Upgrade) -> None:
    customer = upgrade.customer
    life.wait_serving(customer)
    received = {k: life.take(customer.login(k, "client"), upgrade.taken[k]) for k in KINDS}
    after = {kind: life.send(customer.login(kind, "client"), 3_000_000) for kind in KINDS}

    invoice = life.close_and_issue(upgrade.installation, customer)

    found = bills.metered(customer)
    for kind in KINDS:
        space = customer.spaces[kind].id
        assert sorted(received[kind]) == sorted(upgrade.taken[kind])
        assert found[space, QUEUE, "messages_in"] == len(upgrade.taken[kind]) + len(after[kind])
        assert found[space, QUEUE, "messages_out"] == len(received[kind])
    assert bills.recompute(customer, invoice) == "same bytes"
