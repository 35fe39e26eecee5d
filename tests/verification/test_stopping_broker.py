"""What a broker that is about to end answers: nothing that could be taken for its state."""

from collections.abc import Sequence
from threading import Thread

import pytest

from controlplane.embedded.supervisor_client import SupervisorClient
from tests.reconcile import patience, rows
from workers import targets
from workers.messaging import management
from workers.messaging.management import ManagementClient, Refused, Request, Unreachable
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.django_db]


def test_a_broker_that_stops_is_unreachable_not_refusing(
    real_doors: Doors, supervisor: SupervisorClient
) -> None:
    space = rows.make_space(rows.make_tenant())
    rows.make_address(space, "orders")
    assert isinstance(patience.look(space.id, real_doors), Done)
    (found,) = targets.list_targets(space, real_doors.infra, real_doors.identities_dir)
    (program,) = [each.name for each in supervisor.list_programs()]
    asked = [
        Request("broker", attribute="Name"),
        Request("broker", "listQueues", ["", 1, 10]),
        Request("queue.orders", attribute="PersistentSize"),
    ]

    with management.connected(found.target, purpose="test") as client:
        (refusal,) = client.try_all([Request("queue.of-nobody", attribute="ID")])
        assert isinstance(refusal, Refused)  # it runs, so this is its answer
        stop = Thread(target=supervisor.stop, args=[program])
        stop.start()
        with pytest.raises(Unreachable):
            _ask_on(client, asked)
        stop.join()


def _ask_on(client: ManagementClient, asked: Sequence[Request]) -> None:
    """Ask until nobody answers; a refusal in between fails the test."""
    while True:
        assert not [each for each in client.try_all(asked) if isinstance(each, Refused)]
