"""Build the commands that start brokers and routers, for every platform. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# Gives each start another value of ``waypost.boot``, which becomes the broker's name (see
# ``broker_xml``). Metering distinguishes incarnations by it. The first argument is the folder of
# Artemis's native libraries, which has a folder for each kind of processor. Kubernetes replaces
# ``$$`` and ``$(VARIABLE)`` in commands; this script has no ``$$``, and neither ``date +%s%N`` nor
# ``uname -m`` is a variable.
_BOOT_SCRIPT = (
    'native=$1; shift; exec "$0" "-Dwaypost.boot=$(date +%s%N)" '
    '"-Djava.library.path=$native/linux-$(uname -m)" "$@"'
)
_FLAGS = (
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dlog4j2.disableJmx=true",
    "-Duser.timezone=UTC",
    "--add-opens",
    "java.base/jdk.internal.misc=ALL-UNNAMED",
)


# These properties switch the broker plugin on. ``broker.xml`` refers to them, with defaults for a
# broker without the plugin. So such a broker can reload the same ``broker.xml``.
_PLUGIN = (
    "-Dwaypost.guard=waypost.broker.Guard",
    "-Dwaypost.unguarded-connections=-1",
    "-Dwaypost.replies=waypost-replies",
)


@dataclass(frozen=True)
class Launch:
    """How to start an engine in the foreground: the command, and environment variables to add."""

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
    """Return the command that runs a broker with a heap of at most ``memory_mb`` MiB.

    * ``java``: the program to run.
    * ``class_path``: the options of Java that set the class path, such as ``-cp`` and its value.
    * ``flags``: further options of Java.
    * ``has_plugin``: the class path has the JAR of the broker plugin (docs/adr/0017). Then the
      command switches the plugin on.
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
        "org.apache.activemq.artemis.cli.Artemis",
        "run",
    ]


def router_command(program: str, config_dir: str) -> Launch:
    """Return how to start a router from the file ``router.json`` in ``config_dir``.

    The router creates a TLS context for each connection and for each login that it relays. By
    default OpenSSL loads the machine's CA bundle into every context. That costs 25 ms of CPU time
    for each, and the router would trust the authorities of the bundle. The environment variables
    disable the bundle.
    Source: OpenSSL manual, ``SSL_CTX_set_default_verify_paths``.
    """
    environment = {"SSL_CERT_FILE": "/dev/null", "SSL_CERT_DIR": "/nonexistent"}
    return Launch([program, "--conf", f"{config_dir}/router.json"], environment)


def as_new_incarnation(command: Sequence[str], home: str) -> Launch:
    """Return how to run a broker's command so that each start is another incarnation.

    The value of the property ``waypost.boot`` identifies it. ``home`` is the folder of Artemis; the
    broker loads its native library for the processor of the machine that it runs on.
    """
    java, *arguments = command
    script = ["/bin/sh", "-c", _BOOT_SCRIPT, java, f"{home}/bin/lib", *arguments]
    # Saves memory: by default glibc creates more malloc arenas as Java starts more threads.
    return Launch(script, {"MALLOC_ARENA_MAX": "2"})
