"""The embedded Keycloak: a real OpenID provider for tests and for ``make demo OIDC=1``.

Each server has a folder of its own with its data and the realm to import. Links in the folder lead
to the programs of the unpacked distribution, which all servers share. The distribution is "built"
once (Quarkus augmentation, 22 s on two cores); a start then takes 15 s and 450 MB. For trials and
tests only: it serves plain HTTP on loopback.
Source of options: Keycloak guides "Configuring Keycloak" and "Importing and exporting realms".
"""

import fcntl
import json
import os
import secrets
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from controlplane.core.errors import Unavailable
from controlplane.embedded import ports

VERSION = "26.7.3"
REALM = "waypost"
CLIENT_ID = "waypost"
DEVICE_CLIENT_ID = "waypost-command"
_BUILT_WITH = "--db=dev-file"
_THREADS = "io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory"
# A small heap and only the C1 compiler; the other options are those of Keycloak's bin/kc.sh.
_JAVA = (
    "-Xms32m",
    "-Xmx200m",
    "-XX:MaxMetaspaceSize=200m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dfile.encoding=UTF-8",
    "-Duser.language=en",
    "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
    f"-Djava.util.concurrent.ForkJoinPool.common.threadFactory={_THREADS}",
    "-Dpicocli.disable.closures=true",
    "-Dquarkus-log-max-startup-records=10000",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--add-opens=java.base/java.security=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
)

# Tokens name the groups of a person.
_GROUPS_CLAIM = {
    "name": "groups",
    "protocol": "openid-connect",
    "protocolMapper": "oidc-group-membership-mapper",
    "config": {
        "claim.name": "groups",
        "full.path": "false",
        "id.token.claim": "true",
        "userinfo.token.claim": "true",
    },
}


@dataclass(frozen=True)
class Person:
    """A user to create in the realm, with the login. Waypost learns in which ``groups`` it is."""

    username: str
    email: str
    password: str = field(repr=False)
    email_verified: bool = True
    groups: Sequence[str] = ()


@dataclass(frozen=True)
class Server:
    """Where a Keycloak server has its folder and its loopback port; a value, running or not.

    The server's realm has one client, Waypost, with ``client_secret``.
    """

    folder: Path
    port: int
    client_secret: str = field(repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def issuer(self) -> str:
        return f"{self.url}/realms/{REALM}"


def environment(server: Server) -> dict[str, str]:
    """Return the WAYPOST_OIDC_* variables that make a Waypost log people in through ``server``.

    The endpoints are empty, so Waypost discovers them from the issuer. The empty values replace
    endpoints that an earlier version may have stored with the installation.
    """
    explicit = ("AUTHORIZATION", "TOKEN", "USER", "JWKS", "LOGOUT")
    return {
        "WAYPOST_OIDC_ISSUER": server.issuer,
        "WAYPOST_OIDC_CLIENT_ID": CLIENT_ID,
        "WAYPOST_OIDC_CLIENT_SECRET": server.client_secret,
        "WAYPOST_OIDC_DEVICE_CLIENT_ID": DEVICE_CLIENT_ID,
        **{f"WAYPOST_OIDC_{name}_ENDPOINT": "" for name in explicit},
    }


def build_realm(
    client_secret: str, public_urls: Sequence[str], people: Sequence[Person]
) -> dict[str, Any]:
    """Return the realm to import (Keycloak's JSON): two clients, the groups and the users.

    The client of the portal is confidential and must use PKCE; ``public_urls`` are the portals to
    which a login may return. The client of the command has no secret and logs in by device only.
    """
    client = {
        "clientId": CLIENT_ID,
        "secret": client_secret,
        "enabled": True,
        "protocol": "openid-connect",
        "publicClient": False,
        "standardFlowEnabled": True,
        "implicitFlowEnabled": False,
        "directAccessGrantsEnabled": False,
        # The second path is for trials of an organization's own provider.
        "redirectUris": [
            f"{url}{path}"
            for url in public_urls
            for path in ("/oidc/callback/", "/organization-login/*")
        ],
        "attributes": {
            "pkce.code.challenge.method": "S256",
            # Keycloak separates the URIs of this attribute by "##".
            "post.logout.redirect.uris": "##".join(f"{url}/*" for url in public_urls),
        },
        "protocolMappers": [_GROUPS_CLAIM],
    }
    command = {
        "clientId": DEVICE_CLIENT_ID,
        "enabled": True,
        "protocol": "openid-connect",
        "publicClient": True,
        "standardFlowEnabled": False,
        "implicitFlowEnabled": False,
        "directAccessGrantsEnabled": False,
        "attributes": {"oauth2.device.authorization.grant.enabled": "true"},
    }
    return {
        "realm": REALM,
        "enabled": True,
        "sslRequired": "none",  # on loopback only
        "displayName": "Waypost",
        "clients": [client, command],
        "groups": [{"name": name} for name in sorted({n for p in people for n in p.groups})],
        "users": [_user(person) for person in people],
    }


def _user(person: Person) -> dict[str, Any]:
    return {
        "username": person.username,
        "email": person.email,
        "enabled": True,
        "emailVerified": person.email_verified,
        "firstName": person.username.capitalize(),
        "lastName": "Example",
        "groups": [f"/{name}" for name in person.groups],
        "credentials": [{"type": "password", "value": person.password, "temporary": False}],
    }


def home(cache: Path) -> Path:
    """Return the path of Keycloak's unpacked distribution in ``cache``.

    Raises:
        Unavailable: ``keycloak.missing``: the distribution was not fetched.
    """
    folder = cache / "keycloak" / f"keycloak-{VERSION}"
    if not (folder / "lib" / "quarkus-run.jar").exists():
        raise Unavailable(
            "Keycloak is not fetched yet: run `make setup OIDC=1`.", code="keycloak.missing"
        )
    return folder


def ensure_built(distribution: Path) -> None:
    """Build the unpacked distribution with our options unless that was done; it takes 22 s.

    Idempotent. Waits while another process builds the same distribution.

    Raises:
        Unavailable: the build failed; the message ends with its last output.
    """
    marker = distribution / "lib" / "quarkus" / "waypost-built"
    with (distribution / ".waypost-build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # processes on one machine share the distribution
        if marker.exists() and marker.read_text() == _BUILT_WITH:
            return
        result = subprocess.run(
            [str(distribution / "bin" / "kc.sh"), "build", _BUILT_WITH],
            capture_output=True,
            text=True,
            check=False,
            # The default heap of a build, 512 MB, is more than it needs.
            env={**os.environ, "JAVA_OPTS_KC_HEAP": "-Xms32m -Xmx256m"},
        )
        if result.returncode:
            output = (result.stdout + result.stderr)[-500:]
            raise Unavailable(f"Keycloak could not be built: {output}")
        # Last, so that a build that was killed is repeated.
        marker.write_text(_BUILT_WITH)


def prepare(server: Server, distribution: Path, realm: Mapping[str, Any]) -> None:
    """Create the folder of ``server``, with links to ``distribution`` and the realm to import.

    ``realm`` is the result of ``build_realm``. Idempotent; keeps the server's data. Keycloak
    imports the realm at its first start only and does not change an existing one.
    """
    for name in ("lib", "conf", "providers", "themes"):
        link = server.folder / name
        # Replaced each time: an upgrade unpacks the distribution elsewhere.
        link.unlink(missing_ok=True)
        server.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        link.symlink_to(distribution / name)
    imports = server.folder / "data" / "import"
    imports.mkdir(parents=True, exist_ok=True)
    document = imports / f"{REALM}-realm.json"
    # Created with its final mode, because it has passwords and the secret of the client.
    document.touch(mode=0o600)
    document.write_text(json.dumps(realm))


def command(server: Server) -> list[str]:
    """Return the command that runs ``server`` in the foreground; run it in ``server.folder``.

    Raises:
        Unavailable: ``java.missing``: there is no Java on PATH.
    """
    java = shutil.which("java")
    if java is None:
        raise Unavailable("Keycloak needs Java 17 on PATH.", code="java.missing")
    return [
        java,
        *_JAVA,
        f"-Dkc.home.dir={server.folder}",
        f"-Djboss.server.config.dir={server.folder / 'conf'}",
        "-cp",
        str(server.folder / "lib" / "quarkus-run.jar"),
        "io.quarkus.bootstrap.runner.QuarkusEntryPoint",
        "start",
        "--optimized",  # without a build: ``ensure_built`` has done it
        "--import-realm",
        "--http-enabled=true",
        "--http-host=127.0.0.1",
        f"--http-port={server.port}",
        f"--hostname={server.url}",
        "--cache=local",
    ]


def wait_ready(
    server: Server, process: subprocess.Popen[bytes] | None, timeout_seconds: float = 120
) -> None:
    """Wait until the server answers with the discovery document of the realm.

    ``process`` is the server's process, or None if supervisord runs the server.

    Raises:
        Unavailable: ``process`` ended, or the server did not answer within ``timeout_seconds``.
    """
    deadline = time.monotonic() + timeout_seconds
    while not _answers(f"{server.issuer}/.well-known/openid-configuration"):
        if process is not None and process.poll() is not None:
            raise Unavailable(f"Keycloak ended; see {server.folder / 'keycloak.log'}.")
        if time.monotonic() > deadline:
            raise Unavailable(f"Keycloak does not answer; see {server.folder / 'keycloak.log'}.")
        time.sleep(0.2)


@contextmanager
def throwaway(
    folder: Path, cache: Path, public_urls: Sequence[str], people: Sequence[Person]
) -> Iterator[Server]:
    """Run a new Keycloak in ``folder`` until the block ends; for tests.

    Yields the server, whose realm has ``people`` as users. Builds the distribution first if needed.

    Raises:
        Unavailable: Keycloak is not fetched, cannot be built, or does not answer.
    """
    distribution = home(cache)
    ensure_built(distribution)
    server = Server(folder, ports.free_port(), secrets.token_urlsafe(24))
    prepare(server, distribution, build_realm(server.client_secret, public_urls, people))
    with (folder / "keycloak.log").open("wb") as log:
        process = subprocess.Popen(command(server), cwd=folder, stdout=log, stderr=log)
        try:
            # The bounds only end what has failed: a busy machine takes ten times as long.
            wait_ready(server, process, timeout_seconds=300)
            yield server
        finally:
            process.terminate()
            process.wait(120)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
