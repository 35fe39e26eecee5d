"""The router that every conformance suite runs against: who may do what, and what is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proton.utils import BlockingConnection

from tests.support.messaging import routing_rig as rigs
from tests.support.messaging.routing_rig import Rig, known
from workers.messaging.routers.desired import RoutedAddress, RouterAddressKind

BOTH = ("send", "recv")
# What a tenant may write as a pattern and a router would read as more.
WILD = ("#", "*", "*/#", "_topo/#", "calls,$management", "calls/*,*")
ADDRESSES = ("calls", "news/local", "nothing/here")  # the last one on no router


@contextmanager
def rig(folder: Path, engine: str) -> Iterator[Rig]:
    """Run one router of ``engine`` that knows anna, reader, writer and wild."""
    with rigs.rig(folder, engine) as made:
        made.auth.set_users(
            known("anna", "secret of anna", {"#": BOTH}),
            known("reader", "secret of reader", {"calls": ("recv",), "news/#": ("recv",)}),
            known("writer", "secret of writer", {"calls": ("send",)}),
            known("wild", "secret of wild", dict.fromkeys(WILD, BOTH)),
            addresses=ADDRESSES,
        )
        made.start(
            [
                RoutedAddress("calls", RouterAddressKind.ANYCAST),
                RoutedAddress("news/local", RouterAddressKind.MULTICAST),
            ]
        )
        yield made


def anna(router: Rig) -> BlockingConnection:
    """Return a connection of the user that may do everything."""
    return router.connect("anna", "secret of anna")
