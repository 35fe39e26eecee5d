"""What each kind of router can do and how it names things. A plan that needs more is refused early.

``dispatch``: Qpid Dispatch 1.17 to 1.19, and the development router that copies it. ``skupper``:
skupper-router 3.x, which dropped phases, link routes and delegated logins.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from workers.messaging.routers.desired import Shape


@dataclass(frozen=True)
class Dialect:
    """One kind of router: its type prefix and its capabilities."""

    name: str
    type_prefix: str
    phases: bool
    link_routes: bool
    auth_service: bool
    vhost_policy: bool
    counters_entity: str

    def missing_for(self, shape: Shape) -> str:
        """Return why addresses of this shape are not possible, or an empty string."""
        if shape in (Shape.QUEUE, Shape.DEADLETTER) and not self.phases:
            return f"{self.name} routers cannot store: use a brokered space for a {shape.value}."
        if shape is Shape.TOPIC and not self.link_routes:
            return f"{self.name} routers have no link routes: use a brokered space for a topic."
        return ""

    def full_type(self, kind: str) -> str:
        """Return the entity type as the router names it, e.g. of ``router.config.address``."""
        return f"{self.type_prefix}{kind}"

    def counter_key(self, address: str) -> str:
        """Return the address table's key of a direct address."""
        return f"M0{address}" if self.phases else f"M{address}"


DISPATCH = Dialect(
    name="dispatch",
    type_prefix="org.apache.qpid.dispatch.",
    phases=True,
    link_routes=True,
    auth_service=True,
    vhost_policy=True,
    counters_entity="router",
)
SKUPPER = Dialect(
    name="skupper",
    type_prefix="io.skupper.router.",
    phases=False,
    link_routes=False,
    auth_service=False,
    vhost_policy=True,
    counters_entity="routerMetrics",
)
# By the engine that runs it (infra.base.InstanceSpec.engine).
BY_ENGINE: Mapping[str, Dialect] = {
    "devrouter": DISPATCH,
    "qdrouterd": DISPATCH,
    "skrouterd": SKUPPER,
}
