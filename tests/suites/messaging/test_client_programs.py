"""The portal's client programs, copied as they stand, against a real space."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.console import snippets
from controlplane.console.snippets import Target
from controlplane.core.audit import SYSTEM
from tenants.actions import address_spaces
from tenants.models import AddressSpace
from tests.support.reconcile import patience, rows
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def space(real_ports: Ports) -> Iterator[AddressSpace]:
    """A brokered space with a queue, a topic and a user, Active on a real broker."""
    made = rows.make_space(rows.make_tenant())
    rows.make_address(made, "orders/new")
    rows.make_address(made, "news", "topic")
    rows.make_user(made, "checkout", ("#", "send recv"))
    assert isinstance(patience.look(made.id, real_ports), Done)
    yield made
    address_spaces.delete(space=made, by=SYSTEM)
    assert isinstance(patience.look(made.id, real_ports), Done)


@pytest.mark.parametrize("address", ["orders/new", pytest.param("news", marks=pytest.mark.drill)])
def test_the_python_program_gets_its_message_back(
    space: AddressSpace, address: str, tmp_path: Path
) -> None:
    row = space.addresses.get(address=address)
    endpoint = space.endpoints.get()
    at = Target(space.name, endpoint.host, endpoint.port, "checkout", row.address, row.type)
    (program,) = [snippet.text for snippet in snippets.build_all(at) if snippet.key == "python"]
    (tmp_path / snippets.ca_file(space.name)).write_text(endpoint.certificate_pem)

    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "WAYPOST_MESSAGING_PASSWORD": rows.PASSWORD},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ran.stdout, ran.returncode) == ("received: hello\n", 0), ran.stderr
