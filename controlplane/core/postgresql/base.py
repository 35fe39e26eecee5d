"""PostgreSQL as Django knows it, but its errors tell only what broke, never the row it broke on.

Named by ``settings.DATABASES``. PostgreSQL adds DETAIL, CONTEXT and LINE to its message (manual,
"Error and Notice Protocol Fields"), and they quote rows and statements: email addresses, sealed
secrets. Whatever logs an exception would print them, so they go before anyone sees the exception.
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
        if isinstance(error, psycopg.Error) and error.diag.message_primary:
            error.args = (error.diag.message_primary,)
        super().__exit__(kind, error, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, with the errors shortened at the one place that all of them pass."""

    @cached_property
    def wrap_database_errors(self) -> DatabaseErrorWrapper:
        """Return the context in which every call to the driver runs."""
        return _WithoutRows(self)
