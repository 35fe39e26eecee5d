"""Choose the ports and start the servers of one installation, for ``stack.up``.

Each step is idempotent, so the next start completes one that was killed.
"""

import subprocess
import sys
from collections.abc import Callable

from controlplane.core.errors import Unavailable
from controlplane.embedded import installation as installations
from controlplane.embedded import servers, supervision
from controlplane.embedded.installation import Installation
from controlplane.embedded.ports import Claims

Say = Callable[[str], None]
_SERVER_PORTS = ("postgres", "valkey", "web", "auth")


def settle_ports(
    installation: Installation, web_port: int | None, claims: Claims, say: Say
) -> Installation:
    """Claim the installation's ports in ``claims``, and replace those that are taken by free ones.

    A port is taken if another program listens there or another ``up`` has claimed it. ``web_port``,
    if given, first replaces the portal's port. Returns the installation; a changed one is stored,
    too. Call it while the servers are down.
    """
    if web_port:
        installation = installations.move_ports(installation, {"web": web_port})
    taken = [name for name in _SERVER_PORTS if not claims.take(getattr(installation.ports, name))]
    if taken:
        say(f"moving to other ports, because another program has them: {', '.join(taken)}")
        installation = installations.move_ports(
            installation, {name: claims.take_any() for name in taken}
        )
    return installation


def start(installation: Installation, say: Say, *, is_first: bool) -> None:
    """Start PostgreSQL and Valkey, prepare the database, start our own servers, and wait for all.

    ``is_first``: no supervisord of this installation runs yet. Otherwise only servers whose
    definition changed are restarted.

    Raises:
        Unavailable: ``stack.supervisor``, ``stack.prepare`` or ``stack.not_ready``; the message
            holds the end of a log.
    """
    if is_first:
        # supervisord starts all programs whose files it finds. That is right for brokers and
        # routers. Our own servers must start in order and with the present settings.
        for name in (*servers.STORES, *servers.SERVICES):
            (installation.run_dir / "conf.d" / f"{name}.ini").unlink(missing_ok=True)
    say("starting PostgreSQL and Valkey")
    supervision.start(installation)
    supervisor = installation.supervisor()
    supervisor.ensure(servers.postgres_program(installation))
    supervisor.ensure(servers.valkey_program(installation))
    servers.wait_postgres(installation)
    servers.wait_valkey(installation)
    say("preparing the database")
    prepare_database(installation)
    say("starting portal, workers and auth service")
    for program in servers.service_programs(installation):
        supervisor.ensure(program)
    servers.wait_services(installation)


def prepare_database(installation: Installation) -> None:
    """Run ``controlplane.cli.prepare``: migrations, static files, catalog, operator account.

    PostgreSQL must answer. The output goes to ``prepare.log``.

    Raises:
        Unavailable: ``stack.prepare``: the program failed; the message holds its last line.
    """
    log = installation.log_dir / "prepare.log"
    # In a process of its own: this layer must not import models, and a process can set Django up
    # only once.
    result = subprocess.run(
        [sys.executable, "-m", "controlplane.cli.prepare"],
        env={
            **installation.environment(),
            "WAYPOST_OPERATOR_PASSWORD": installation.secrets.operator_password,
        },
        cwd=installation.run_dir,
        capture_output=True,
        text=True,
        check=False,
    )
    log.write_text(result.stdout + result.stderr)
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        raise Unavailable(
            f"The database could not be prepared:\n{lines[-1] if lines else 'no output'}\n"
            f"The full log is {log}.",
            code="stack.prepare",
        )
