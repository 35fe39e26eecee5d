"""Create, load and change one installation: its folder, secrets, ports and servers' environment.

``installation.json`` (mode 0600) in the state folder holds all that differs between two
installations on one machine; everything else is derived from it. ``stack.up`` and ``restore``
create the file; the ``waypost`` command, the demonstration and the benches read it.
"""

import base64
import hmac
import json
import os
import secrets
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import redis

from controlplane.core.errors import Invalid, Missing, Unavailable
from controlplane.core.files import write_atomically
from controlplane.embedded import artifacts, java, ports, postgres, routers, supervisor_client

DATABASE = "waypost"
_USUAL_WEB_PORT = 8000  # if the caller requests no other one
# The kernel limits the path of a unix socket to 107 characters.
_LONGEST_ROOT = 107 - len("/run/supervisor.sock")


@dataclass(frozen=True)
class Secrets:
    """The secrets of an installation, generated once. Only the operator's password is ever shown.

    ``django_key`` is ``settings.SECRET_KEY``, ``sealing_key`` the one key of ``SECRET_KEYS``.
    """

    postgres_password: str
    valkey_password: str
    django_key: str
    sealing_key: str
    operator_password: str


@dataclass(frozen=True)
class Ports:
    """The loopback ports of the servers of one installation.

    They are chosen among free ports at the first start, and stored. A later start replaces a port
    that another program uses by then.
    """

    postgres: int
    valkey: int
    web: int
    auth: int


class NothingHere(Missing):
    """The state folder holds no installation."""

    code = "stack.nothing_here"


@dataclass(frozen=True)
class Tools:
    """The paths of the programs outside its folder that an installation uses, and of the cache.

    ``java`` is the program, ``artemis`` its folder, ``router`` the router's command.
    """

    java: Path
    cache: Path
    artemis: Path
    router: Path | None  # None: the development router


@dataclass(frozen=True)
class Installation:
    """The content of ``installation.json``, and what is derived from it; a value.

    A change needs a function of this module, such as ``with_settings``. ``root`` is the absolute
    path of the state folder. ``id`` marks the processes of the installation. ``settings`` are
    additional ``WAYPOST_*`` variables, among them the Java and the cache that the installation
    uses. An object says nothing about whether servers run.
    """

    root: Path
    id: str
    secrets: Secrets
    ports: Ports
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def run_dir(self) -> Path:
        """The folder of sockets, generated configuration and program files."""
        return self.root / "run"

    @property
    def scratch_dir(self) -> Path:
        """The folder for temporary files of servers and Spark; removed at each start and stop."""
        return self.run_dir / "tmp"

    @property
    def log_dir(self) -> Path:
        return self.root / "logs"

    @property
    def url(self) -> str:
        """The URL of the portal and the API, such as ``http://127.0.0.1:8000``."""
        return f"http://127.0.0.1:{self.ports.web}"

    @property
    def metrics_token(self) -> str:
        """The token that /metrics requires; empty if /metrics is open.

        It is ``WAYPOST_METRICS_TOKEN`` of the installation's settings, even if that is empty.
        Otherwise it is derived from a secret of the installation.
        """
        derived = hmac.new(self.secrets.django_key.encode(), b"metrics-token", "sha256")
        return self.settings.get("WAYPOST_METRICS_TOKEN", derived.hexdigest()[:40])

    @property
    def postgres(self) -> postgres.Server:
        return postgres.Server(
            "127.0.0.1", self.ports.postgres, postgres.USER, self.secrets.postgres_password
        )

    def log_file(self, server: str) -> Path:
        """Return the path of the file that supervisord writes the output of ``server`` to."""
        return self.log_dir / f"{server}.log"

    def valkey(self) -> redis.Redis:
        """Return a new Redis client of this installation's Valkey, which need not run yet."""
        return redis.Redis("127.0.0.1", self.ports.valkey, password=self.secrets.valkey_password)

    def supervisor(self) -> supervisor_client.SupervisorClient:
        """Return a new client of this installation's supervisord, which need not run yet."""
        return supervisor_client.SupervisorClient(
            self.run_dir / "supervisor.sock", self.run_dir / "conf.d"
        )

    def environment(self) -> dict[str, str]:
        """Return the environment variables of this installation's own servers and Python processes.

        Except for the tools (``find_tools``), none comes from the caller's shell. A changed
        variable restarts servers, and another PATH, HOME or locale must not do that.

        Raises:
            Unavailable: Java, Artemis or the router that ``WAYPOST_ROUTER`` names is missing.
        """
        tools = find_tools(self.settings)
        java_home = java.home(tools.java)
        valkey = f"redis://:{self.secrets.valkey_password}@127.0.0.1:{self.ports.valkey}/0"
        return {
            **self.settings,
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "WAYPOST_STATE_DIR": str(self.root),
            "WAYPOST_DATABASE_URL": self.postgres.url(DATABASE),
            "WAYPOST_REDIS_URL": valkey,
            "WAYPOST_SECRET_KEY": self.secrets.django_key,
            "WAYPOST_SECRET_KEYS": self.secrets.sealing_key,
            "WAYPOST_PUBLIC_URL": self.url,
            "WAYPOST_METRICS_TOKEN": self.metrics_token,
            "WAYPOST_SUPERVISOR_SOCKET": str(self.run_dir / "supervisor.sock"),
            "WAYPOST_ARTEMIS_HOME": str(tools.artemis),
            # Empty: the development router.
            "WAYPOST_ROUTER_BINARY": str(tools.router or ""),
            "WAYPOST_AUTH_SERVICE_PORT": str(self.ports.auth),
            "WAYPOST_CACHE": str(tools.cache),
            "JAVA_HOME": str(java_home),
            "PATH": f"{java_home}/bin:{supervisor_client.SYSTEM_PATH}",
            "TMPDIR": str(self.scratch_dir),
            # Java ignores TMPDIR. Source: SparkSubmitCommandBuilder of Spark 4.
            "SPARK_SUBMIT_OPTS": shlex.quote(f"-Djava.io.tmpdir={self.scratch_dir}"),
        }


def root_from(folder: Path | None) -> Path:
    """Return the absolute path of the state folder, which need not exist.

    It is ``folder``, else the variable ``WAYPOST_STATE_DIR``, else ``./.waypost``.

    Raises:
        Invalid: ``stack.path_too_long``: paths of sockets in it would exceed the kernel's limit.
    """
    root = (folder or Path(os.environ.get("WAYPOST_STATE_DIR") or ".waypost")).absolute()
    if len(str(root)) > _LONGEST_ROOT:
        raise Invalid(
            f"The path of the state folder {root} has more than {_LONGEST_ROOT} characters, too "
            "many for unix sockets in it: choose a shorter one with --state.",
            code="stack.path_too_long",
        )
    return root


def load(root: Path) -> Installation | None:
    """Return the installation that is stored in the folder ``root``, or None if there is none.

    Raises:
        Invalid: ``stack.not_a_folder``: ``root`` is a file, or below one.
        Unavailable: ``stack.unreadable``: ``installation.json`` cannot be read or parsed.
    """
    path = root / "installation.json"
    try:
        stored = json.loads(path.read_text())
        return Installation(
            root,
            stored["id"],
            Secrets(**stored["secrets"]),
            Ports(**stored["ports"]),
            stored.get("settings", {}),
        )
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise Invalid(
            f"{root} is a file, not a folder, or is below a file: name another with --state.",
            code="stack.not_a_folder",
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unavailable(
            f"{path} cannot be read ({type(error).__name__}): restore it, or remove the "
            "installation with `waypost down --purge`.",
            code="stack.unreadable",
        ) from None


def require(root: Path) -> Installation:
    """Return the installation that is stored in the folder ``root``.

    Raises:
        NothingHere: there is none.
        Invalid, Unavailable: as ``load`` raises them.
    """
    found = load(root)
    if found is None:
        raise NothingHere(
            f"There is no installation in {root}: create one with `waypost up`, or name the folder "
            "of another with --state."
        )
    return found


def find_tools(kept: Mapping[str, str]) -> Tools:
    """Find Java, the cache, Artemis and the router on this machine; return their paths.

    ``WAYPOST_JAVA``, ``WAYPOST_CACHE`` and ``WAYPOST_ROUTER`` name them: in the environment, else
    in ``kept``, the settings of an installation. What is not named is searched for. A router named
    ``development``, or none at all, means the development router.

    Raises:
        Unavailable: ``java.*``, ``artifact.missing`` (Artemis) or ``router.missing``.
    """
    cache = artifacts.cache_dir(_kept_path(kept, "WAYPOST_CACHE"))
    artemis = artifacts.artemis_home(cache)
    named = os.environ.get("WAYPOST_ROUTER") or kept.get("WAYPOST_ROUTER")
    # Not the shell's PATH: every command must find the same router.
    router = routers.find(cache, named, path=supervisor_client.SYSTEM_PATH)
    return Tools(java.find(_kept_path(kept, "WAYPOST_JAVA")), cache, artemis, router)


def keep_tools(installation: Installation) -> Installation:
    """Store the paths of the tools in use, so that later commands use the same.

    Also stores ``WAYPOST_ROUTER`` and ``WAYPOST_METRICS_TOKEN`` if the environment has them.
    Returns the changed installation. Idempotent.

    Raises:
        Unavailable: as ``find_tools`` raises it.
    """
    tools = find_tools(installation.settings)
    in_use = {"WAYPOST_JAVA": str(tools.java), "WAYPOST_CACHE": str(tools.cache)}
    # A router is stored only if the environment names it. Otherwise a router that is installed
    # later would not be used.
    if os.environ.get("WAYPOST_ROUTER"):
        in_use["WAYPOST_ROUTER"] = os.environ["WAYPOST_ROUTER"]
    # An empty one opens /metrics.
    if "WAYPOST_METRICS_TOKEN" in os.environ:
        in_use["WAYPOST_METRICS_TOKEN"] = os.environ["WAYPOST_METRICS_TOKEN"]
    return with_settings(installation, in_use)


def _kept_path(kept: Mapping[str, str], name: str) -> Path | None:
    return Path(kept[name]) if name in kept else None


def prepare_folder(root: Path, web_port: int | None = None) -> Installation:
    """Return the installation of ``root``, created if there is none; create the folders it needs.

    ``web_port`` is the portal's port of a new installation, and is ignored for an existing one.

    Raises:
        Unavailable: ``stack.folder``: a folder cannot be written; or as ``load`` raises it.
        Invalid: as ``load`` raises it.
    """
    try:
        installation = load(root) or create(root, web_port=web_port)
        for folder in (installation.run_dir, installation.log_dir, installation.scratch_dir):
            folder.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise Unavailable(
            f"{root} cannot be written: {error.strerror}.", code="stack.folder"
        ) from error
    return installation


def create(root: Path, *, web_port: int | None = None) -> Installation:
    """Create and store a new installation with new secrets and free ports; return it.

    ``web_port`` is the portal's port, which the caller has found free; None means port 8000, or any
    free one if that is taken. The folder ``root`` may exist. Starts no server.
    """
    root.mkdir(parents=True, exist_ok=True)
    new_secrets = Secrets(
        postgres_password=secrets.token_urlsafe(24),
        valkey_password=secrets.token_urlsafe(24),
        django_key=secrets.token_urlsafe(48),
        # 32 bytes in URL-safe base64: the format of a Fernet key.
        sealing_key=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        operator_password=secrets.token_urlsafe(12),
    )
    made = Installation(root, secrets.token_hex(8), new_secrets, _new_ports(web_port))
    _store(made)
    return made


def renew(root: Path, stored: str) -> Installation:
    """Store an installation in the folder ``root``, from the text of another ``installation.json``.

    Returns the new installation. Secrets, ports and settings are those of ``stored``. The id is
    new: it marks the processes of an installation, so two folders must not share one. The folder
    must exist.

    Raises:
        Unavailable: ``stack.unreadable``: the text is no valid ``installation.json``.
    """
    write_atomically(root / "installation.json", stored, mode=0o600)
    found = load(root)
    assert found is not None, "it was just written"
    renewed = replace(found, id=secrets.token_hex(8))
    _store(renewed)
    return renewed


def move_ports(installation: Installation, moves: Mapping[str, int]) -> Installation:
    """Store other ports of servers, {name of a field of ``Ports``: port}.

    Returns the changed installation. Servers that run keep their ports until they are restarted.
    """
    moved = replace(installation, ports=replace(installation.ports, **moves))
    _store(moved)
    return moved


def with_settings(installation: Installation, settings: Mapping[str, str]) -> Installation:
    """Merge ``settings`` into those of the installation; store and return the new installation."""
    changed = replace(installation, settings={**installation.settings, **settings})
    _store(changed)
    return changed


def without_settings(installation: Installation, names: Iterable[str]) -> Installation:
    """Remove the settings ``names``, so that defaults apply; store and return the new installation.

    Names that are not set are ignored.
    """
    gone = set(names)
    kept = {name: value for name, value in installation.settings.items() if name not in gone}
    changed = replace(installation, settings=kept)
    _store(changed)
    return changed


def _store(installation: Installation) -> None:
    content = {
        "id": installation.id,
        "secrets": asdict(installation.secrets),
        "ports": asdict(installation.ports),
        "settings": dict(installation.settings),
    }
    write_atomically(
        installation.root / "installation.json", json.dumps(content, indent=1), mode=0o600
    )


def _new_ports(web_port: int | None) -> Ports:
    with ports.claiming() as claims:  # so that no two are the same
        wanted = web_port or _USUAL_WEB_PORT
        # `up` has claimed a requested port itself, so ``take`` returns False for it here.
        is_ours = claims.take(wanted) or wanted == web_port
        return Ports(
            postgres=claims.take_any(),
            valkey=claims.take_any(),
            web=wanted if is_ours else claims.take_any(),
            auth=claims.take_any(),
        )
