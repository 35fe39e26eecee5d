"""What the engines need on every platform: their commands. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# Each start gets its own identity, so that metering can distinguish incarnations. Kubernetes
# replaces ``$$`` and ``$(VARIABLE)`` in commands; this script contains neither.
_BOOT_SCRIPT = 'exec "$0" "-Dwaypost.boot=$(date +%s%N)" "$@"'
_FLAGS = (
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dlog4j2.disableJmx=true",
    "-Duser.timezone=UTC",
    "--add-opens",
    "java.base/jdk.internal.misc=ALL-UNNAMED",
)


# The broker plugin. broker.xml names these properties with the defaults of a broker without plugin,
# so a broker that was started before the plugin existed reads the same values from a new file.
_PLUGIN = ("-Dwaypost.guard=waypost.broker.Guard", "-Dwaypost.unguarded-connections=-1")


@dataclass(frozen=True)
class Launch:
    """How to start an engine in the foreground."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BrokerPaths:
    """Absolute paths as the broker sees them: program, configuration, data, temporary files."""

    home: str
    config: str
    data: str
    scratch: str


def broker_command(
    java: str,
    paths: BrokerPaths,
    memory_mb: int,
    class_path: Sequence[str],
    flags: Sequence[str],
    *,
    has_plugin: bool,
) -> list[str]:
    """Return the command that runs a broker whose heap is ``memory_mb``.

    ``has_plugin``: the class path has the JAR of the broker plugin (docs/adr/0017).
    """
    return [
        java,
        *flags,
        *_FLAGS,
        *(_PLUGIN if has_plugin else ()),
        f"-Xmx{memory_mb}m",
        *class_path,
        f"-Djava.security.auth.login.config={paths.config}/login.config",
        f"-Dlog4j2.configurationFile={paths.config}/log4j2.properties",
        f"-Dartemis.home={paths.home}",
        f"-Dartemis.instance={paths.scratch}",
        f"-Dartemis.instance.etc={paths.config}",
        f"-Ddata.dir={paths.data}",
        f"-Djava.io.tmpdir={paths.scratch}",
        f"-Djava.library.path={paths.home}/bin/lib/linux-x86_64",
        "org.apache.activemq.artemis.cli.Artemis",
        "run",
    ]


def router_command(program: str, config_dir: str) -> Launch:
    """Return how to start a router from its rendered file.

    The router creates a TLS context for each connection and for each login that it relays. By
    default OpenSSL loads the machine's CA bundle into every context. That costs 25 ms of CPU time
    each, and the router would trust authorities that a space does not want. The variables disable
    the bundle.
    Source: OpenSSL manual, ``SSL_CTX_set_default_verify_paths``.
    """
    environment = {"SSL_CERT_FILE": "/dev/null", "SSL_CERT_DIR": "/nonexistent"}
    return Launch([program, "--conf", f"{config_dir}/router.json"], environment)


def as_new_incarnation(command: Sequence[str]) -> Launch:
    """Return how to run a broker's command so that each start has its own identity."""
    # Limits the memory of glibc, whose malloc arenas grow in number with Java's threads.
    return Launch(["/bin/sh", "-c", _BOOT_SCRIPT, *command], {"MALLOC_ARENA_MAX": "2"})
