"""Prepares an installation: database migrations, static files, catalog, operator account.

``embedded.starting`` and, in a cluster, the chart's migration job run this module as ``python -m
controlplane.cli.prepare`` with the installation's environment. Idempotent.
"""

import os
import sys
import time
from collections.abc import Callable

import django

_ONE_AT_A_TIME = 0x57507570  # advisory lock of PostgreSQL; an arbitrary number
_ATTEMPTS, _PAUSE_SECONDS = 200, 3  # ten minutes, and the time that each attempt takes


def main() -> None:
    """Apply migrations, collect static files, publish the default catalog, create the operator.

    Waits first for the database, then for another preparation that is running. The default catalog
    is published only if none is. The operator's password is ``WAYPOST_OPERATOR_PASSWORD``.
    """
    django.setup()
    # Models can be imported only now.
    from django.core.management import call_command
    from django.db import connection

    from controlplane.core import audit
    from plans.catalog import publishing

    wait_for_database(connection.ensure_connection, lambda: time.sleep(_PAUSE_SECONDS))
    # A killed `up` leaves its own preparation running, so this one waits for it. The lock ends with
    # the connection to the database.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_ONE_AT_A_TIME])
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    publishing.ensure_default(by=audit.SYSTEM)
    ensure_operator(os.environ["WAYPOST_OPERATOR_PASSWORD"])


def wait_for_database(connect: Callable[[], None], pause: Callable[[], None]) -> None:
    """Call ``connect`` until it succeeds; print each failure and ``pause`` before the next call.

    In a cluster the preparation starts together with the bundled database, whose host name does not
    resolve before the database is ready.

    Raises:
        OperationalError: ``connect`` has raised it 200 times, which takes at least ten minutes.
    """
    from django.db import OperationalError

    for attempt in range(1, _ATTEMPTS + 1):
        try:
            connect()
        except OperationalError as error:
            if attempt == _ATTEMPTS:
                raise
            reason = " ".join(str(error).split())
            sys.stdout.write(f"waiting for the database ({attempt} of {_ATTEMPTS}): {reason}\n")
            sys.stdout.flush()
            pause()
        else:
            return


def ensure_operator(password: str) -> None:
    """Create the operator's staff account with ``password`` if there is none.

    An existing account keeps its password.
    """
    from allauth.account.models import EmailAddress

    from controlplane.core.accounts import OPERATOR_EMAIL
    from tenants.models import User

    operator, is_new = User.objects.get_or_create(
        username=OPERATOR_EMAIL, defaults={"email": OPERATOR_EMAIL, "is_staff": True}
    )
    if is_new:
        operator.set_password(password)
        operator.save(update_fields=["password"])
    # Nobody reads the mail of this address, and whoever installs Waypost vouches for the account.
    EmailAddress.objects.update_or_create(
        user=operator, email=OPERATOR_EMAIL, defaults={"verified": True, "primary": True}
    )


if __name__ == "__main__":
    main()
