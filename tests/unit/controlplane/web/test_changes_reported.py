"""Which writes the database reports to the event streams of a space."""

import psycopg
import pytest
from django.db import connection

from controlplane.core import operations
from controlplane.core.audit import SYSTEM
from controlplane.core.event_streams import CHANNEL
from tenants.actions import message_requests
from tests.support import domain

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_begin_and_the_end_of_a_change_of_messages_are_reported() -> None:
    cast = domain.cast()
    orders = domain.address(domain.space(cast.tenant, "brokered"), "orders")
    parameters = {**connection.get_connection_params(), "autocommit": True}
    for name in ("cursor_factory", "context", "prepare_threshold"):
        parameters.pop(name, None)
    with psycopg.connect(**parameters) as listener:
        listener.execute(f"LISTEN {CHANNEL}")
        begun = message_requests.purge(address=orders, by=SYSTEM)
        at_begin = list(listener.notifies(timeout=5, stop_after=1))
        operations.succeed(message_requests.SUBJECT, begun.subject_id, up_to_generation=1)
        at_end = list(listener.notifies(timeout=5, stop_after=1))

    payloads = [notice.payload for notice in (*at_begin, *at_end)]
    expected = f'{{"space" : "{orders.space_id}", "kind" : "operations"}}'
    assert payloads == [expected, expected]
