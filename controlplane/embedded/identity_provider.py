"""Run a Keycloak as part of an installation, for ``make demo OIDC=1``.

People log in to the portal through this Keycloak. Its port, its client secret and the password of
its one user are generated once and kept in ``keycloak/login.json`` (mode 0600) of the state folder,
because Keycloak imports a realm at its first start only.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from controlplane.core.files import write_atomically
from controlplane.embedded import artifacts, keycloak, ports, stack
from controlplane.embedded.installation import Installation
from controlplane.embedded.supervisor_client import Program

EMAIL = "ada@customer.example"


@dataclass(frozen=True)
class Person:
    """The login of the one user of this Keycloak."""

    email: str
    password: str


@dataclass(frozen=True)
class _Kept:
    port: int
    client_secret: str
    password: str


def require() -> None:
    """Check that ``make setup`` has fetched Keycloak into the cache.

    Raises:
        Unavailable: ``keycloak.missing``: Keycloak is not there.
    """
    keycloak.home(artifacts.cache_dir())


def start(installation: Installation, *, say: Callable[[str], None]) -> Person:
    """Run Keycloak under the installation's supervisord and make the portal use it for logins.

    Returns the login of the user who can log in. Idempotent. The installation must be up. Its
    servers restart with the settings of Keycloak, which are stored with the installation: later
    starts of the portal use Keycloak too.

    Raises:
        Unavailable: Keycloak is not fetched, cannot be built, or does not answer; or as
            ``stack.up`` raises it.
    """
    folder = installation.root / "keycloak"
    kept = _remember(folder)
    server = keycloak.Server(folder / "server", kept.port, kept.client_secret)
    person = keycloak.Person("ada", EMAIL, kept.password)
    distribution = keycloak.home(artifacts.cache_dir())
    say("starting Keycloak (its first start takes a minute)")
    keycloak.ensure_built(distribution)
    realm = keycloak.build_realm(kept.client_secret, [installation.url], [person])
    keycloak.prepare(server, distribution, realm)
    installation.supervisor().ensure(
        Program(
            name="keycloak",
            command=keycloak.command(server),
            directory=str(server.folder),
            log_file=str(installation.log_dir / "keycloak.log"),
            priority=50,  # after the stores (10), before our own servers (100)
        )
    )
    keycloak.wait_ready(server, None, timeout_seconds=180)
    # Restarts the servers whose settings changed.
    stack.up(installation.root, settings=keycloak.environment(server), say=say)
    return Person(EMAIL, kept.password)


def _remember(folder: Path) -> _Kept:
    path = folder / "login.json"
    if path.exists():
        return _Kept(**json.loads(path.read_text()))
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = _Kept(ports.reserve_port(), secrets.token_urlsafe(24), secrets.token_urlsafe(12))
    write_atomically(path, json.dumps(vars(kept)), mode=0o600)
    return kept
