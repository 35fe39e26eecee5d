"""Declares the expected errors of a job, with messages for the person who runs it.

A job prints such an error as ``{"error": {"code", "message"}}`` and exits with 2. Any other
exception is a bug and keeps its traceback. These classes are separate from the control plane's
errors, because the lakehouse imports nothing of it.
"""


class LakehouseError(Exception):
    """The base of all expected errors of a job; raised itself where no subclass fits.

    ``code`` is a stable slug. The message says what to do next.
    """

    code = "lakehouse.failed"


class JavaMissing(LakehouseError):
    """There is no Java to run Spark on."""

    code = "lakehouse.java_missing"


class JarsMissing(LakehouseError):
    """The folder of JARs lacks Delta's, or lacks those for a root in an object store."""

    code = "lakehouse.jars_missing"


class SchemaDiffers(LakehouseError):
    """The names or types of a table's columns differ from those that ``schemas`` declares."""

    code = "lakehouse.schema_differs"
