"""Django's PostgreSQL backend, with errors that say what failed but quote no rows.

``settings.DATABASES`` names it. PostgreSQL adds DETAIL, CONTEXT and LINE to its messages (manual,
"Error and Notice Protocol Fields"). These parts quote rows and statements, with values such as
email addresses and encrypted secrets, and every log of an exception would contain them.
"""

from types import TracebackType

import psycopg
from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property


class _WithoutRows(DatabaseErrorWrapper):
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Must precede Django's wrapper, which copies ``args`` into its own exception.
        if isinstance(error, psycopg.Error) and error.diag.message_primary:
            error.args = (error.diag.message_primary,)
        super().__exit__(kind, error, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's PostgreSQL connection, whose errors carry only the server's primary message."""

    @cached_property
    def wrap_database_errors(self) -> DatabaseErrorWrapper:
        """Return the context manager in which Django runs every call to the database driver.

        It shortens the message of an error before Django wraps the error in its own exception.
        """
        return _WithoutRows(self)
