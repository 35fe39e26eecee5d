"""A customer of an embedded installation: what it makes and sends, and what it must find again.

Clients number their messages and count; what they counted must be stored and billed later.
"""

import time
from contextlib import closing
from functools import partial
from pathlib import Path

from controlplane.client.api import invoices
from controlplane.core.accounts import OPERATOR_EMAIL
from controlplane.demo import bills
from controlplane.demo.customers import EVERYTHING, Customer, Operator
from controlplane.embedded.installation import Installation
from controlplane.rest_client import Api, Json
from tests.support.messaging.paced import Receiver, Sender, connect, link
from tests.support.waiting import eventually
from workers.messaging.counting_client import Login, TrafficError

# Spark runs for the closes only, and what counts before the backup is the sample that it takes.
SETTINGS = {
    "WAYPOST_SAMPLE_SECONDS": "600",
    "WAYPOST_LANDING_SECONDS": "10",
    "WAYPOST_PIPELINE_SECONDS": "3600",
    "WAYPOST_LOGIN_RATE": "1000/min",
}
QUEUE = "jobs"
KINDS = ("brokered", "standard")
# What says how something is at this moment.
MOMENTARY = {"phase", "conditions", "probed_at", "silent_since", "live", "updated_at"}


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
        customer.follow(operation, stalled_seconds=240)
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
    forms = [invoices.get_invoice_lines_csv, invoices.get_invoice_pdf]
    return [
        form.sync_detailed(customer.slug, invoice["number"], client=customer.api.client).content
        for form in forms
    ]


def log_in(installation: Installation, customer: Customer) -> None:
    visitor = Api(installation.url)
    session = visitor.post_once(
        "/session", {"email": customer.email, "password": customer.password}
    )
    visitor.close()
    customer.api.close()
    customer.api = Api(installation.url, session["token"])
