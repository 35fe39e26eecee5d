"""One installation: its folder, its secrets, its ports, and the environment of its servers.

Everything that differs between two installations on one machine is in ``installation.json``
(mode 0600) inside the state folder; everything else is derived. Made by ``stack.up``, read by the
``waypost`` command and the demo.
"""

import base64
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from controlplane.core.errors import Invalid, Unavailable
from controlplane.embedded import artifacts, java, ports, postgres, supervisor_client

OPERATOR_EMAIL = "operator@waypost.example"
DATABASE = "waypost"
# The kernel's limit of a unix socket's path is 107 characters.
_LONGEST_ROOT = 107 - len("/run/supervisor.sock")


@dataclass(frozen=True)
class Secrets:
    """Generated once per installation; never shown but for the operator's password."""

    postgres_password: str
    valkey_password: str
    django_key: str
    sealing_key: str
    operator_password: str


@dataclass(frozen=True)
class Ports:
    """Loopback ports, chosen free at the first start and kept."""

    postgres: int
    valkey: int
    web: int
    auth: int


@dataclass(frozen=True)
class Installation:
    """What one state folder holds. ``root`` is absolute.

    ``settings`` are ``WAYPOST_*`` variables of this installation beside the derived ones.
    """

    root: Path
    id: str
    secrets: Secrets
    ports: Ports
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def run_dir(self) -> Path:
        """Where sockets, generated configuration and locks are."""
        return self.root / "run"

    @property
    def log_dir(self) -> Path:
        return self.root / "logs"

    @property
    def url(self) -> str:
        """The address of the portal and the API."""
        return f"http://127.0.0.1:{self.ports.web}"

    @property
    def postgres(self) -> postgres.Server:
        return postgres.Server(
            "127.0.0.1", self.ports.postgres, postgres.USER, self.secrets.postgres_password
        )

    def supervisor(self) -> supervisor_client.SupervisorClient:
        """Return the client of this installation's supervisord, running or not."""
        return supervisor_client.SupervisorClient(
            self.run_dir / "supervisor.sock", self.run_dir / "conf.d"
        )

    def environment(self) -> dict[str, str]:
        """Return the variables that ``controlplane.settings`` reads for this installation.

        Raises:
            Unavailable: Java or Artemis is missing.
        """
        java_home = java.home(java.find())
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
            "WAYPOST_SUPERVISOR_SOCKET": str(self.run_dir / "supervisor.sock"),
            "WAYPOST_ARTEMIS_HOME": str(artifacts.artemis_home()),
            "WAYPOST_AUTH_SERVICE_PORT": str(self.ports.auth),
            "WAYPOST_CACHE": str(artifacts.cache_dir()),
            "JAVA_HOME": str(java_home),
            "PATH": f"{java_home}/bin:{os.environ.get('PATH', os.defpath)}",
        }


def root_from(folder: Path | None) -> Path:
    """Return the state folder: the given one, else ``WAYPOST_STATE_DIR``, else ``./.waypost``.

    Raises:
        Invalid: ``stack.path_too_long``: its sockets' paths would not fit the kernel's limit.
    """
    root = (folder or Path(os.environ.get("WAYPOST_STATE_DIR") or ".waypost")).absolute()
    if len(str(root)) > _LONGEST_ROOT:
        raise Invalid(
            f"The state folder {root} has a path longer than {_LONGEST_ROOT} characters, which "
            "unix sockets cannot carry: choose a shorter one with --state.",
            code="stack.path_too_long",
        )
    return root


def load(root: Path) -> Installation | None:
    """Return the installation of ``root``, or None where there is none yet.

    Raises:
        Unavailable: ``stack.unreadable``: its file is there and cannot be understood.
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
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unavailable(
            f"{path} cannot be read ({type(error).__name__}): restore it, or remove the "
            "installation with `waypost down --purge`.",
            code="stack.unreadable",
        ) from None


def create(root: Path, *, web_port: int | None = None) -> Installation:
    """Make the folder and the secrets of a new installation and return it."""
    root.mkdir(parents=True, exist_ok=True)
    made = Installation(root, secrets.token_hex(8), _new_secrets(), _new_ports(web_port))
    _store(made)
    return made


def renew(root: Path, stored: str) -> Installation:
    """Put the text of another folder's ``installation.json`` into ``root``, with a new id.

    Processes are known by the id, so two folders never share one.

    Raises:
        Unavailable: ``stack.unreadable``.
    """
    supervisor_client.write_atomically(root / "installation.json", stored, mode=0o600)
    found = load(root)
    assert found is not None, "it was just put there"
    renewed = replace(found, id=secrets.token_hex(8))
    _store(renewed)
    return renewed


def move_ports(installation: Installation, moves: Mapping[str, int]) -> Installation:
    """Give the named servers these ports, remember it and return the moved installation."""
    moved = replace(installation, ports=replace(installation.ports, **moves))
    _store(moved)
    return moved


def with_settings(installation: Installation, settings: Mapping[str, str]) -> Installation:
    """Put ``settings`` over the kept ones, remember and return the installation."""
    changed = replace(installation, settings={**installation.settings, **settings})
    _store(changed)
    return changed


def without_settings(installation: Installation, names: Iterable[str]) -> Installation:
    """Forget the named settings, so that their defaults are in force; return the installation."""
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
    supervisor_client.write_atomically(
        installation.root / "installation.json", json.dumps(content, indent=1), mode=0o600
    )


def _new_secrets() -> Secrets:
    return Secrets(
        postgres_password=secrets.token_urlsafe(24),
        valkey_password=secrets.token_urlsafe(24),
        django_key=secrets.token_urlsafe(48),
        sealing_key=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        operator_password=secrets.token_urlsafe(12),
    )


def _new_ports(web_port: int | None) -> Ports:
    return Ports(
        postgres=ports.reserve_port(),
        valkey=ports.reserve_port(),
        web=web_port or ports.reserve_port(preferred=8000),
        auth=ports.reserve_port(),
    )
