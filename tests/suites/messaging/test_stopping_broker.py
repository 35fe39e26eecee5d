"""What a broker that is about to end answers: nothing that could be taken for its state."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from controlplane.embedded.supervisor_client import SupervisorClient
from tests.support.reconcile import patience, rows
from tests.support.waiting import eventually
from workers.instances import Locator
from workers.messaging import management
from workers.messaging.management import ManagementClient, Refused, Request, Unreachable
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.django_db]


# What changes by itself while nobody is connected, and what does not.
_PASSING = Request("broker", "listQueues", ["", 1, 10])
_LASTING = [
    Request("broker", attribute="Name"),
    Request("broker", "getRolesAsJSON", ["orders"]),
    Request("queue.orders", attribute="PersistentSize"),
]


def test_a_broker_that_stops_is_unreachable_not_refusing(
    real_ports: Ports, supervisor: SupervisorClient
) -> None:
    space = rows.make_space(rows.make_tenant())
    rows.make_address(space, "orders")
    assert isinstance(patience.look(space.id, real_ports), Done)
    (found,) = Locator(real_ports.infra, real_ports.identities_dir).list_existing(space)
    (program,) = [
        program for program in supervisor.list_programs() if program.name.startswith("wp-")
    ]

    with management.connected(found.target, purpose="test") as client, ThreadPoolExecutor() as pool:
        (refusal,) = client.try_all([Request("queue.of-nobody", attribute="ID")])
        assert isinstance(refusal, Refused)  # it runs, so this is its answer
        first = client.try_all(_LASTING)
        stopping = pool.submit(supervisor.stop, program.name)
        with pytest.raises(Unreachable):
            _ask_on(client, first)
        stopping.result()


def _ask_on(client: ManagementClient, first: Sequence[object]) -> None:
    """Ask until nobody answers; a refusal, or another answer than before, fails the test."""

    def differs() -> bool:
        answers = client.try_all([*_LASTING, _PASSING])
        is_refused = any(isinstance(answer, Refused) for answer in answers)
        return is_refused or answers[:-1] != first

    eventually(differs, "it stops")
    raise AssertionError("it answered otherwise")
