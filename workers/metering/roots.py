"""Where the lakehouse lies: a folder, or a bucket of an S3-compatible object store.

A root is a ``Path`` or an ``ObjectStore``; what differs between the two is here and nowhere else.
``delta`` and ``committer`` open tables with ``uri`` and ``options``; ``landing`` and ``committer``
write and read single files. All of it speaks to the store through the engine of ``deltalake``.
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

_LATER = "Nothing is lost: samples wait in the database, and all of it is tried again by itself."
_SETTINGS = "look at WAYPOST_LAKEHOUSE_ROOT, _ENDPOINT, _REGION and the two keys"
# As the engine and the servers word them (S3 API reference, "Error responses").
_REFUSALS = (
    "403 Forbidden",
    "AccessDenied",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "UserNotFound",  # versitygw, of an access key, with 404
)
_NO_BUCKET = "NoSuchBucket"
_BUFFER = 1 << 20  # bytes
_REQUEST, _OF_A_STORE = "Error performing ", "Generic S3 error"


class StoreAway(Unavailable):
    """The object store gives no answer, or none that can be used."""

    code = "lakehouse.store_away"
    title = "The object store is away"


class StoreRefuses(Unavailable):
    """The object store does not take our keys, or they may not do this."""

    code = "lakehouse.store_refuses"
    title = "The object store refuses"


class BucketMissing(Unavailable):
    """The object store has no such bucket."""

    code = "lakehouse.bucket_missing"
    title = "The bucket is missing"


@dataclass(frozen=True)
class ObjectStore:
    """A root in an object store: ``url`` is ``s3://bucket/prefix``.

    An empty ``endpoint`` is the region's own of Amazon. A file appears when its upload is
    completed; one that an error cuts short may appear too, not whole (``put``).
    """

    url: str
    endpoint: str
    region: str
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)

    @property
    def options(self) -> dict[str, str]:
        """What the engine must know; ends within a minute when the store is away."""
        address = {"AWS_ENDPOINT_URL": self.endpoint} if self.endpoint else {}
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
            "AWS_ALLOW_HTTP": str(self.endpoint.startswith("http://")).lower(),
            # A version of a table is made by "create unless there": two writers cannot both win.
            "aws_conditional_put": "etag",
            "connect_timeout": "5s",
            "timeout": "30s",
            "max_retries": "3",
            "retry_timeout": "20s",
            **address,
        }


Root = Path | ObjectStore


def configured() -> Root:
    """Return the root that the settings name."""
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
    """Return where a table is, for the engine."""
    return f"{root.url}/{folder}" if isinstance(root, ObjectStore) else str(root / folder)


def options(root: Root) -> dict[str, str] | None:
    """Return the engine's options for tables under ``root``."""
    return root.options if isinstance(root, ObjectStore) else None


@contextmanager
def in_words() -> Iterator[None]:
    """Put what an object store refuses into words; other errors pass. Also a decorator.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: in place of the engine's error.
    """
    try:
        yield
    except Exception as error:  # the engine's errors share no class
        # The second is why an upload failed of which then even the clearing up failed.
        for each in (error, error.__context__):
            refusal = _refusal(str(each))
            if refusal:
                raise refusal from each
        raise


def said(error: Exception) -> str:
    """Return the store's own words under a refusal, at most 500 characters, without our keys."""
    return without_keys(str(error.__cause__ or ""))[:500]


def without_keys(words: str) -> str:
    """Return what a store or a job said, without our keys."""
    for key in (settings.LAKEHOUSE_ACCESS_KEY, settings.LAKEHOUSE_SECRET_KEY):
        words = words.replace(key, "(key)") if key else words
    return words


def put(store: ObjectStore, path: str, content: bytes) -> None:
    """Write one file of the store, replacing one of that name.

    It is whole only when this returned: the engine's stream publishes what it has when an
    interrupt leaves it. So give each attempt a name of its own, and refer to none that raised.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: it was not written.
    """
    with in_words():
        # The engine's stream takes bytes, which pyarrow hands it from a buffer of its own only.
        with _file_system(store).open_output_stream(path, buffer_size=_BUFFER) as stream:
            shutil.copyfileobj(io.BytesIO(content), stream, _BUFFER // 2)


def reader(root: Root) -> Callable[[str], Any]:
    """Return what opens a file under ``root`` for random reads (``pyarrow.NativeFile``)."""
    if isinstance(root, ObjectStore):
        files = _file_system(root)  # one client for all of them
        return lambda path: files.open_input_file(path)
    return lambda path: pa.OSFile(str(root / path))


def _file_system(store: ObjectStore) -> Any:
    return PyFileSystem(DeltaStorageHandler(store.url, store.options))


def _refusal(said: str) -> Unavailable | None:
    if _REQUEST not in said:
        return None
    if _NO_BUCKET in said:
        return BucketMissing(f"The lakehouse's bucket is not there: make it. {_LATER}")
    if any(each in said for each in _REFUSALS):
        return StoreRefuses(f"The object store refuses our keys: {_SETTINGS}. {_LATER}")
    if _OF_A_STORE in said:
        return StoreAway(f"The object store gives no usable answer: {_SETTINGS}. {_LATER}")
    return None
