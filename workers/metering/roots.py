"""The root of the lakehouse: a folder, or a bucket of an S3-compatible object store.

A root is a ``Path`` or an ``ObjectStore``. ``delta`` and ``committer`` open tables with ``uri`` and
``options``; ``landing`` writes single files, and ``committer`` reads them. The workers access a
store only through ``deltalake`` (delta-rs).
"""

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from django.conf import settings
from pyarrow.fs import PyFileSystem

from controlplane.core.errors import Unavailable

_LATER = "Nothing is lost: samples wait in the database, and everything is retried automatically."
_SETTINGS = "check WAYPOST_LAKEHOUSE_ROOT, _ENDPOINT, _REGION and the two keys"
# Phrases in errors of delta-rs and of servers (S3 API reference, "Error responses").
_REFUSALS = (
    "403 Forbidden",
    "AccessDenied",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "UserNotFound",  # versitygw, for an unknown access key, with status 404
)
_NO_BUCKET = "NoSuchBucket"
_BUFFER = 1 << 20  # bytes
# How delta-rs begins the message of a failed request, and what it calls an object store.
_REQUEST, _OF_A_STORE = "Error performing ", "Generic S3 error"


class StoreAway(Unavailable):
    """The object store does not answer, or its answer is not usable."""

    code = "lakehouse.store_away"
    title = "The object store does not answer"


class StoreRefuses(Unavailable):
    """The object store rejects the configured keys, or these keys lack a permission."""

    code = "lakehouse.store_refuses"
    title = "The object store refuses access"


class BucketMissing(Unavailable):
    """The object store has no bucket of the configured name."""

    code = "lakehouse.bucket_missing"
    title = "The bucket is missing"


@dataclass(frozen=True)
class ObjectStore:
    """A root in an object store: ``url`` is ``s3://bucket/prefix``.

    An empty ``endpoint`` means Amazon's endpoint of the region. A file becomes visible when its
    upload is completed. After an error a part of it may become visible (see ``put``).
    """

    url: str
    endpoint: str
    region: str
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)

    @property
    def options(self) -> dict[str, str]:
        """Return the options for delta-rs.

        With them a call of delta-rs fails within a minute if the store is down.
        """
        address = {"AWS_ENDPOINT_URL": self.endpoint} if self.endpoint else {}
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
            "AWS_ALLOW_HTTP": str(self.endpoint.startswith("http://")).lower(),
            # A new version of a table is created only if it does not exist (If-None-Match), so that
            # of two writers one fails.
            "aws_conditional_put": "etag",
            "connect_timeout": "5s",
            "timeout": "30s",
            "max_retries": "3",
            "retry_timeout": "20s",
            **address,
        }

    @property
    def job_environment(self) -> dict[str, str]:
        """Return environment variables for a Spark job; ``lakehouse.object_store`` reads them."""
        return {
            "WAYPOST_LAKEHOUSE_ENDPOINT": self.endpoint,
            "WAYPOST_LAKEHOUSE_REGION": self.region,
            "WAYPOST_LAKEHOUSE_ACCESS_KEY": self.access_key,
            "WAYPOST_LAKEHOUSE_SECRET_KEY": self.secret_key,
        }

    def open(self) -> Any:
        """Return a new client of the store: a file system of pyarrow."""
        return PyFileSystem(DeltaStorageHandler(self.url, self.options))


Root = Path | ObjectStore


def configured() -> Root:
    """Return the root that the settings name: a folder, or a bucket of an object store."""
    if not settings.LAKEHOUSE_ROOT.startswith("s3://"):
        return Path(settings.LAKEHOUSE_ROOT)
    return ObjectStore(
        settings.LAKEHOUSE_ROOT.rstrip("/"),
        settings.LAKEHOUSE_ENDPOINT,
        settings.LAKEHOUSE_REGION,
        settings.LAKEHOUSE_ACCESS_KEY,
        settings.LAKEHOUSE_SECRET_KEY,
    )


def uri(root: Root, folder: str) -> str:
    """Return the location of the table in ``folder`` under ``root``, as delta-rs takes it."""
    return f"{root.url}/{folder}" if isinstance(root, ObjectStore) else str(root / folder)


def options(root: Root) -> dict[str, str] | None:
    """Return the options of delta-rs for tables under ``root``; None for a folder."""
    return root.options if isinstance(root, ObjectStore) else None


@contextmanager
def translated_errors() -> Iterator[None]:
    """Replace errors of an object store with errors that say what to do. Works as a decorator too.

    Other errors pass unchanged.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: in place of the error of delta-rs.
    """
    try:
        yield
    except Exception as error:  # the errors of delta-rs share no class
        # The context is the original error if the cleanup after a failed upload failed too.
        for cause in (error, error.__context__):
            refusal = _refusal(str(cause))
            if refusal:
                raise refusal from cause
        raise


def store_message(error: Exception) -> str:
    """Return the text of the error that caused ``error``; empty if there is none.

    For an error of ``translated_errors`` it is the text of the object store. The text has at most
    500 characters and does not contain the configured keys.
    """
    return without_keys(str(error.__cause__ or ""))[:500]


def without_keys(text: str) -> str:
    """Return ``text`` with ``(key)`` in place of each configured key of the object store."""
    for key in (settings.LAKEHOUSE_ACCESS_KEY, settings.LAKEHOUSE_SECRET_KEY):
        text = text.replace(key, "(key)") if key else text
    return text


def put(store: ObjectStore, path: str, content: bytes) -> None:
    """Write one file of the store; an existing one is replaced.

    The file is complete only if this call has returned: after an interrupt the stream of delta-rs
    publishes what it has so far. So give each attempt its own name, and do not use the file of a
    call that raised an error.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: it was not written.
    """
    with translated_errors():
        # The stream of delta-rs accepts only ``bytes``. pyarrow passes those from its own buffer,
        # so the pieces must be smaller than that buffer.
        with store.open().open_output_stream(path, buffer_size=_BUFFER) as stream:
            shutil.copyfileobj(io.BytesIO(content), stream, _BUFFER // 2)


def reader(root: Root) -> Callable[[str], Any]:
    """Return a function that opens a file by its path under ``root`` (a pyarrow file to read)."""
    if isinstance(root, ObjectStore):
        files = root.open()  # one client for all files
        return lambda path: files.open_input_file(path)
    return lambda path: pa.OSFile(str(root / path))


def _refusal(message: str) -> Unavailable | None:
    if _REQUEST not in message:
        return None
    if _NO_BUCKET in message:
        return BucketMissing(f"The lakehouse's bucket does not exist: create it. {_LATER}")
    if any(phrase in message for phrase in _REFUSALS):
        return StoreRefuses(f"The object store refuses the configured keys: {_SETTINGS}. {_LATER}")
    if _OF_A_STORE in message:
        return StoreAway(f"The object store gives no usable answer: {_SETTINGS}. {_LATER}")
    return None
