"""The kind ``broker``: an Artemis server, which stores messages on a volume or in memory."""

from controlplane.core.instance_names import Kind, Listener
from workers.infra import engines
from workers.infra.base import ResourceBudget
from workers.infra.engines import BrokerPaths, Launch
from workers.infra.kinds.base import (
    ConfiguredImages,
    Container,
    HealthPaths,
    InstanceKind,
    Share,
)
from workers.messaging.brokers import driver


def image(images: ConfiguredImages) -> str:
    """Return the configured image of brokers."""
    return images.broker


def command(container: Container, memory_mb: int) -> Launch:
    """Return how a container starts a broker with a heap of at most ``memory_mb`` MiB.

    All JARs of Artemis are on the class path. Each start is another incarnation.
    """
    home = container.artemis_home
    paths = BrokerPaths(home, container.config_dir, container.data_dir, container.scratch_dir)
    class_path = ["-cp", f"{home}/lib/*"]
    flags = [f"-Dwaypost.health=0.0.0.0:{container.health_port}"] if container.broker_plugin else []
    run = engines.broker_command(
        container.java, paths, memory_mb, class_path, flags, has_plugin=container.broker_plugin
    )
    return engines.as_new_incarnation(run, home)


def health(container: Container) -> HealthPaths | None:
    """Return the paths of the plugin's health listener; None for a broker without the plugin."""
    return HealthPaths(ready="/ready", alive="/alive") if container.broker_plugin else None


def share(budget: ResourceBudget) -> Share:
    """Return how many brokers the budget allows, and the heap of each in MiB."""
    return Share(budget.brokers, budget.broker_memory_mb)


KIND = InstanceKind(
    kind=Kind.BROKER,
    image=image,
    command=command,
    share=share,
    # Besides its heap a Java process needs memory for classes, threads and network buffers. If the
    # limit of the container is only the size of the heap, the cluster kills a busy broker (EnMasse
    # issue 1451).
    overhead_mb=320,
    listeners=(Listener.AMQPS, Listener.MANAGEMENT),
    health=health,
    # Brokers of a standard space have no public listener. With the plugin, readiness covers it.
    ready_listener=Listener.MANAGEMENT,
    growing_file="broker.xml",
    has_volume=True,
    grace_seconds=60,  # it finishes writing its journal
    start_order=600,  # before the routers, which connect to it
    connects=(),
    needs_logins=False,
    needs_names=False,
    read_snapshot=driver.snapshot,
    close_connections=driver.close_connections,
)
