"""The kind ``router``: a Qpid Dispatch router, to which clients of a standard space connect."""

from controlplane.core.instance_names import Kind, Listener
from workers.infra import engines
from workers.infra.base import ResourceBudget
from workers.infra.engines import Launch
from workers.infra.kinds.base import (
    ConfiguredImages,
    Connects,
    Container,
    HealthPaths,
    InstanceKind,
    Share,
)
from workers.messaging.routers import config, driver


def image(images: ConfiguredImages) -> str:
    """Return the configured image of routers; empty if only brokered spaces can run."""
    return images.router


def command(container: Container, _memory_mb: int) -> Launch:
    """Return how a container starts a router, which has no setting for its memory."""
    return engines.router_command("qdrouterd", container.config_dir)


def health(_container: Container) -> HealthPaths | None:
    """Return the paths of the router's health listener, which ``config`` renders."""
    return HealthPaths(ready=config.HEALTH_PATH, alive=config.HEALTH_PATH)


def share(budget: ResourceBudget) -> Share:
    """Return how many routers the budget allows, and the memory of each in MiB."""
    return Share(budget.routers, budget.router_memory_mb)


KIND = InstanceKind(
    kind=Kind.ROUTER,
    image=image,
    command=command,
    share=share,
    overhead_mb=64,
    listeners=(Listener.AMQPS, Listener.MANAGEMENT, Listener.MESH),
    health=health,
    # A cluster's service leads clients to routers that have started. With the management port here,
    # it would lead them to routers whose public port is still closed.
    ready_listener=Listener.AMQPS,
    growing_file="router.json",
    has_volume=False,
    grace_seconds=30,
    start_order=700,
    connects=(
        Connects(Kind.BROKER, Listener.MANAGEMENT, "routers-to-brokers", "brokers-from-routers"),
        Connects(Kind.ROUTER, Listener.MESH, outgoing="mesh", incoming="mesh"),
    ),
    needs_logins=True,
    needs_names=True,
    read_snapshot=driver.snapshot,
    close_connections=driver.close_connections,
)
