"""Whatever is changed of what an issued invoice stands on, its verification finds and names it."""

import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.db import transaction

from controlplane.core.models import Operation
from plans.catalog import publishing
from plans.invoicing import invoice_verification, issuing
from plans.invoicing.findings import Place
from plans.models import Invoice
from tenants.models import AddressSpace, Tenant
from tests.support.metering.tampering import every, files, flip, rewrite, sql
from tests.support.plans.billing_rows import STAFF
from tests.unit.workers.metering.closing.conftest import close_now
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import closing, sampling, verifying

pytestmark = pytest.mark.django_db
BRONZE, GOLD = "bronze/samples", "gold/usage"
Tamper = Callable[[], object]


@pytest.fixture
def invoice(owner: Tenant, readers: FakeReaders, shows: Callable[..., None]) -> Invoice:
    """An issued invoice over two addresses, with three rounds of samples."""
    # The space of other tests begins in the second of the close, and so has no hours to price.
    begun = clock() - timedelta(days=40)
    AddressSpace.objects.filter(tenant=owner).update(created_at=begun, active_since=begun)
    for n in (1, 2, 3):
        shows(orders=(5 * n, 2 * n), rpc=(7 * n, 3 * n), opened=n, open_now=n)
        sampling.sample_all(readers)
    asked = close_now(owner)
    closing.close(asked.id, readers)
    drafted = Invoice.objects.get(pk=asked.pk)
    issued = issuing.issue(invoice=issuing.approve(invoice=drafted, by=STAFF), by=STAFF)
    return Invoice.objects.get(pk=issued.pk)


def places(invoice: Invoice, root: Path, *, with_files: bool = False) -> set[Place]:
    row = Invoice.objects.select_related("tenant").get(pk=invoice.pk)
    found = verifying.recomputed(row, root, files=with_files)
    return {finding.place for finding in found.findings}


def changed(tamper: Tamper, invoice: Invoice, root: Path) -> set[Place]:
    """Return the places that a verification names after ``tamper``, which is then undone."""
    kept = root.with_name("kept")
    shutil.copytree(root, kept)
    try:
        with transaction.atomic():
            tamper()
            found = places(invoice, root)
            transaction.set_rollback(True)
    finally:
        shutil.rmtree(root)
        kept.rename(root)
    return found


def of_the_lakehouse(root: Path) -> dict[str, tuple[Tamper, set[Place]]]:
    orders, rpc = {"address": "orders"}, {"address": "rpc"}
    samples = partial(rewrite, root, BRONZE)
    gold = partial(rewrite, root, GOLD)

    def plus(meter: str, n: int) -> Any:
        return lambda row: {meter: row[meter] + n}

    def moved(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        less = every({**orders, "meter": "messages_in"}, plus("quantity", -4))(rows)
        return list(every({**rpc, "meter": "messages_in"}, plus("quantity", 4))(less))

    last = every({**orders, "messages_in": 15}, plus("messages_in", 1))
    return {
        "one sample, log as it was": (
            partial(samples, last, log=False), {Place.SAMPLES, Place.GOLD},
        ),
        "one sample, repaired log": (partial(samples, last), {Place.SAMPLES, Place.GOLD}),
        "all samples, repaired log": (
            partial(samples, every({}, plus("messages_in", 1000))), {Place.SAMPLES, Place.GOLD},
        ),
        "a meter that no sum shows": (
            partial(samples, every({**orders}, lambda row: {"address_type": "topic"})),
            {Place.SAMPLES},
        ),
        "a sample removed": (partial(samples, lambda rows: rows[:-1]), {Place.SAMPLES}),
        "gold moved between addresses": (partial(gold, moved), {Place.GOLD, Place.COPY}),
        "gold raised": (
            partial(gold, every({**orders, "meter": "messages_in"}, plus("quantity", 1))),
            {Place.GOLD, Place.COPY, Place.DOCUMENT},
        ),
    }  # fmt: skip


def of_the_database(invoice: Invoice) -> dict[str, tuple[Tamper, set[Place]]]:
    of_invoice = "UPDATE plans_{} WHERE invoice_id = %s"
    entry = "entry_id = (SELECT id FROM plans_ledgerentry WHERE reference = %s)"
    return {
        "copied rows": (
            partial(sql, "UPDATE plans_usagerecord SET quantity = quantity + 1000000"),
            {Place.COPY},
        ),
        "buyer in the document": (
            partial(sql, "UPDATE plans_invoice SET document = replace(document, 'Example Ltd', "
                         "'Another Ltd') WHERE id = %s", invoice.pk),
            {Place.DOCUMENT},
        ),
        "document that is not JSON": (
            partial(sql, "UPDATE plans_invoice SET document = 'x' WHERE id = %s", invoice.pk),
            {Place.DOCUMENT},
        ),
        "row totals": (
            partial(sql, "UPDATE plans_invoice SET net_minor = net_minor + 1, "
                         "total_minor = total_minor + 1 WHERE id = %s", invoice.pk),
            {Place.ROW},
        ),
        "due date": (
            partial(sql, "UPDATE plans_invoice SET due_at = due_at + interval '1 day' "
                         "WHERE id = %s", invoice.pk),
            {Place.ROW, Place.DOCUMENT},
        ),
        "line": (
            partial(sql, of_invoice.format("invoiceline SET amount_minor = amount_minor - 1"),
                    invoice.pk),
            {Place.LINES},
        ),
        "ledger": (
            partial(sql, "UPDATE plans_ledgerposting SET amount_minor = amount_minor - 1 "
                         f"WHERE account = 'receivable' AND {entry}", f"invoice:{invoice.pk}"),
            {Place.LEDGER},
        ),
        "ledger entry removed": (
            partial(sql, "UPDATE plans_ledgerentry SET reference = 'x' WHERE reference = %s",
                    f"invoice:{invoice.pk}"),
            {Place.LEDGER},
        ),
    }  # fmt: skip


def of_the_catalog(invoice: Invoice) -> dict[str, tuple[Tamper, set[Place]]]:
    definition = "jsonb_set(definition, '{{{}}}', '{}')"
    size = publishing.space_plan("standard-small").pk
    plan = publishing.plan("team").pk

    def plan_sql(table: str, name: str, value: str, key: int) -> Tamper:
        new = definition.format(name, value)
        return partial(sql, f"UPDATE plans_{table} SET definition = {new} WHERE id = %s", key)

    return {
        "plan price": (
            plan_sql("plan", "monthly_fee_minor", "4800", plan), {Place.PRICES, Place.DOCUMENT},
        ),
        "hour price": (
            plan_sql("spaceplan", "hour_price", '"0.01"', size), {Place.PRICES},
        ),
        "subscription": (
            partial(sql, "UPDATE plans_plansubscription SET plan_id = %s WHERE tenant_id = %s",
                    publishing.plan("business").pk, invoice.tenant_id),
            {Place.SUBSCRIPTIONS, Place.PRICES, Place.DOCUMENT},
        ),
        "subscription removed": (
            partial(sql, "DELETE FROM plans_plansubscription WHERE tenant_id = %s",
                    invoice.tenant_id),
            {Place.SUBSCRIPTIONS},
        ),
        "seller": (
            partial(sql, "UPDATE plans_catalogueversion SET document = "
                         "jsonb_set(document, '{seller,name}', '\"Other\"')"),
            {Place.PRICES, Place.DOCUMENT},
        ),
    }  # fmt: skip


def test_each_change_is_found_and_named(invoice: Invoice, root: Path) -> None:
    table = {**of_the_lakehouse(root), **of_the_database(invoice), **of_the_catalog(invoice)}
    assert places(invoice, root, with_files=True) == set()

    found = {name: changed(tamper, invoice, root) for name, (tamper, _) in table.items()}

    wanted = {name: named for name, (_, named) in table.items()}
    assert {name: found[name] for name in table if not wanted[name] <= found[name]} == {}
    assert places(invoice, root, with_files=True) == set()


def values(path: Path, tenant_id: str) -> Any:
    """Return what a reader reads of the tenant; the text of its error if it cannot read."""
    try:
        rows = pq.ParquetFile(path).read().to_pylist()
    except Exception as error:  # noqa: BLE001 - the reader's errors share no class
        return str(error)
    return [row for row in rows if row["tenant_id"] == tenant_id]


def test_each_flipped_bit_that_changes_a_value_is_found(invoice: Invoice, root: Path) -> None:
    dice, missed = random.Random(7), []
    for table in (BRONZE, GOLD):
        for _ in range(25):
            path = dice.choice(files(root, table))
            kept, before = path.read_bytes(), values(path, invoice.tenant_id)
            bit = dice.randrange(len(kept) * 8)
            flip(path, bit)
            is_changed = values(path, invoice.tenant_id) != before
            found = places(invoice, root, with_files=True)
            path.write_bytes(kept)
            # Each byte of bronze counts, as a hash of the whole file is compared.
            wanted = Place.FILES in found if table == BRONZE else found or not is_changed
            if not wanted:
                missed.append((path.name, bit))
    assert missed == []


def test_an_altered_file_is_an_answer_that_names_it(invoice: Invoice, root: Path) -> None:
    path = files(root, BRONZE)[0]
    path.write_bytes(path.read_bytes()[:100])
    asked = [
        invoice_verification.request_verify(invoice=invoice, by=STAFF, files=with_files)
        for with_files in (True, False)
    ]

    verifying.verify(invoice.id)

    for operation in asked:
        operation.refresh_from_db()
    assert [row.state for row in asked] == [Operation.State.FAILED] * 2
    assert [row.error_code for row in asked] == ["invoice.differs", "lakehouse.unreadable"]
    assert path.name in asked[0].error_message
    steps = {step["name"]: step["state"] for step in asked[0].steps}
    assert (steps["files"], steps["samples"], steps["ledger"]) == ("failed", "waiting", "done")


def test_files_that_landed_before_hashes_were_recorded_are_counted(
    invoice: Invoice, root: Path
) -> None:
    sql("DELETE FROM workers_filehash")

    found = verifying.recomputed(invoice, root, files=True)

    assert found.same
    assert "landed before hashes were recorded" in found.outcomes[Place.FILES].note
