"""What the engines need wherever they run: their ports, and the broker's command. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PORTS: Mapping[str, Sequence[str]] = {
    "broker": ("amqps", "management"),
    "router": ("amqps", "management", "mesh"),
}
# Each start gets its own identity, so that a reader of counters knows one life from the next. In
# a pod two dollars would become one, and a variable's name in $(…) its value: neither is here.
_BOOT_SCRIPT = 'exec "$0" "-Dwaypost.boot=$(date +%s%N)" "$@"'
_FLAGS = (
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dlog4j2.disableJmx=true",
    "-Duser.timezone=UTC",
    "--add-opens",
    "java.base/jdk.internal.misc=ALL-UNNAMED",
)


@dataclass(frozen=True)
class Launch:
    """How to start an engine in the foreground."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BrokerPlaces:
    """Absolute paths as the broker sees them: the program, its files, its data, and scratch."""

    home: str
    config: str
    data: str
    scratch: str


def broker_command(
    java: str, places: BrokerPlaces, memory_mb: int, class_path: Sequence[str], flags: Sequence[str]
) -> list[str]:
    """Return the command that runs a broker whose heap is ``memory_mb``."""
    return [
        java,
        *flags,
        *_FLAGS,
        f"-Xmx{memory_mb}m",
        *class_path,
        f"-Djava.security.auth.login.config={places.config}/login.config",
        f"-Dlog4j2.configurationFile={places.config}/log4j2.properties",
        f"-Dartemis.home={places.home}",
        f"-Dartemis.instance={places.scratch}",
        f"-Dartemis.instance.etc={places.config}",
        f"-Ddata.dir={places.data}",
        f"-Djava.io.tmpdir={places.scratch}",
        f"-Djava.library.path={places.home}/bin/lib/linux-x86_64",
        "org.apache.activemq.artemis.cli.Artemis",
        "run",
    ]


def router_command(program: str, config_dir: str) -> Launch:
    """Return how to start a router from its rendered file.

    The router makes a TLS context for each connection and for each login that it relays. OpenSSL
    would read the machine's bundle of authorities into every one: 25 ms of a processor each, and
    trust that a space does not want. These variables name no bundle instead.
    Source: OpenSSL manual, ``SSL_CTX_set_default_verify_paths``.
    """
    environment = {"SSL_CERT_FILE": "/dev/null", "SSL_CERT_DIR": "/nonexistent"}
    return Launch([program, "--conf", f"{config_dir}/router.json"], environment)


def as_new_life(command: Sequence[str]) -> Launch:
    """Return a broker's command so that each start of it can be told from the one before."""
    return Launch(["/bin/sh", "-c", _BOOT_SCRIPT, *command], {"MALLOC_ARENA_MAX": "2"})
