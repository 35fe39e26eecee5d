"""Connections to a router that do not log in: they keep no client out, and end."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tests.support.messaging import conformance, routing_rig, strangers
from tests.support.messaging.routing_rig import HOST, Rig
from tests.support.waiting import eventually
from workers.messaging.routers import config

pytestmark = [pytest.mark.slow, pytest.mark.drill]

_STRANGERS = 230


@pytest.fixture(params=routing_rig.ENGINES)
def router(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    with conformance.rig(tmp_path_factory.mktemp("router"), request.param) as made:
        # Far fewer than there are strangers, so strangers would use the plan's limit up.
        made.desired = replace(made.desired, max_connections=5)
        made.restart()
        yield made


def test_silent_connections_keep_no_client_out_and_end(router: Rig) -> None:
    with ExitStack() as stack:
        at = HOST, router.engine_layout.public_port
        opened = [
            stack.enter_context(strangers.silent(at, router.space_ca.certificate_pem))
            for _ in range(_STRANGERS)
        ]

        router.connect("anna", "secret of anna").close()

        eventually(
            lambda: all(map(strangers.has_ended, opened)),
            "all are closed",
            seconds=config.HANDSHAKE_SECONDS + 5,
        )
