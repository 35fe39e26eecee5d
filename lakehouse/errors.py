"""What can go wrong in a job, in words for the person who runs it.

A job prints one of these as ``{"error": {"code", "message"}}`` and exits with 2; anything else is
a bug and keeps its traceback. The lakehouse knows nothing of the control plane's error tree.
"""


class LakehouseError(Exception):
    """The base: ``code`` is a stable slug, the message says what to do next."""

    code = "lakehouse.failed"


class JavaMissing(LakehouseError):
    """There is no Java to run Spark on."""

    code = "lakehouse.java_missing"


class JarsMissing(LakehouseError):
    """Delta's JARs are not where they should be."""

    code = "lakehouse.jars_missing"


class SchemaDiffers(LakehouseError):
    """A table on disk is not what ``schemas`` says; a migration job must come first."""

    code = "lakehouse.schema_differs"
