"""Gives Spark settings and keys for an S3-compatible object store, and makes its errors readable.

Options and command lines name a root as ``s3://bucket/prefix``, Hadoop as ``s3a://bucket/prefix``.
These environment variables, which begin with ``WAYPOST_LAKEHOUSE``, configure the store:

- ``_ENDPOINT`` and ``_REGION`` locate it.
- ``_ACCESS_KEY`` and ``_SECRET_KEY`` hold the keys. ``_ACCESS_KEY_FILE`` and ``_SECRET_KEY_FILE``
  name files with the keys instead.

The JVM gets the keys in its environment, never in Spark's settings, because Spark prints its
settings. Spark copies the keys from the environment into its Hadoop configuration, which executors
get too.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lakehouse.errors import LakehouseError

_OUTSIDE, _HADOOP = "s3://", "s3a://"
_OURS = "WAYPOST_LAKEHOUSE"
_PROVIDER = "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"
_LATER = "No sample is lost; run it again."


class KeysMissing(LakehouseError):
    """The root is in an object store, and the environment has no keys for it."""

    code = "lakehouse.keys_missing"


class StoreAway(LakehouseError):
    """The object store cannot be reached, or answers with a server error (5xx)."""

    code = "lakehouse.store_away"


class StoreRefuses(LakehouseError):
    """The object store refuses the keys, or they lack a permission."""

    code = "lakehouse.store_refuses"


class BucketMissing(LakehouseError):
    """The object store has no such bucket."""

    code = "lakehouse.bucket_missing"


# Phrases in the text of a Java exception, and the error that they mean. The first match counts.
_MEANINGS: tuple[tuple[tuple[str, ...], type[LakehouseError], str], ...] = (
    (("NoSuchBucket", "UnknownStoreException"), BucketMissing, "has no such bucket: create it"),
    (
        ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "Status Code: 403"),
        StoreRefuses,
        "refuses the keys: check WAYPOST_LAKEHOUSE_ACCESS_KEY and _SECRET_KEY",
    ),
    (
        ("ConnectException", "UnknownHostException", "SdkClientException", "Status Code: 5"),
        StoreAway,
        "gives no usable answer: check WAYPOST_LAKEHOUSE_ENDPOINT and _REGION",
    ),
)


def is_store(root: str) -> bool:
    """Return whether the root is in an object store; otherwise it is a folder."""
    return root.startswith(_OUTSIDE)


def hadoop_root(root: str) -> str:
    """Return the root as Hadoop names it: ``s3a://`` for an object store; a folder unchanged."""
    return _HADOOP + root.removeprefix(_OUTSIDE) if is_store(root) else root


def settings(root: str) -> Mapping[str, str]:
    """Return Spark's settings for a root in an object store, without the keys.

    Empty if the root is a folder.
    """
    if not is_store(root):
        return {}
    endpoint = os.environ.get(f"{_OURS}_ENDPOINT", "")
    # Path style: the bucket is in the URL's path. Only Amazon's store reliably has a host name for
    # each bucket.
    own = {"endpoint": endpoint, "path.style.access": "true"} if endpoint else {}
    s3a = {
        "aws.credentials.provider": _PROVIDER,
        "endpoint.region": os.environ.get(f"{_OURS}_REGION") or "us-east-1",
        # Reading ahead gains nothing, because the files are small and read as a whole.
        "input.stream.type": "classic",
        # Few retries: the job fails within a minute when the store is down, and runs again later.
        "attempts.maximum": "3",
        "retry.limit": "3",
        "connection.establish.timeout": "5s",
        **own,
    }
    return {f"spark.hadoop.fs.s3a.{name}": value for name, value in s3a.items()}


def give_keys(root: str) -> None:
    """Copy the keys into this process's ``AWS_…`` environment variables, for an object store.

    Does nothing if ``root`` is a folder. Call it before the JVM starts, because the JVM inherits
    the environment at its start.

    Raises:
        KeysMissing: the environment has no keys.
    """
    if not is_store(root):
        return
    access, secret = _secret("ACCESS_KEY"), _secret("SECRET_KEY")
    if not (access and secret):
        raise KeysMissing(
            f"{root} is in an object store: set {_OURS}_ACCESS_KEY and {_OURS}_SECRET_KEY."
        )
    os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"] = access, secret


@contextmanager
def translated_errors(root: str) -> Iterator[None]:
    """Replace Spark's errors about the object store, raised in the block, by readable ones.

    The first 2000 characters of the original error go to stderr. All other errors pass unchanged,
    and so do all errors if the root is a folder.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: in place of Spark's error.
    """
    try:
        yield
    except LakehouseError:
        raise
    except Exception as error:  # errors from Java come as many classes
        refusal = refusal_of(str(error)) if is_store(root) else None
        if refusal is None:
            raise
        sys.stderr.write(f"{error}"[:2000] + "\n")  # stdout is for the job's one line
        raise refusal from error


def refusal_of(text: str) -> LakehouseError | None:
    """Return the readable error for the text of a Java exception; None if no phrase is known."""
    for phrases, kind, meaning in _MEANINGS:
        if any(phrase in text for phrase in phrases):
            return kind(f"The lakehouse's object store {meaning}. {_LATER}")
    return None


def _secret(name: str) -> str:
    path = os.environ.get(f"{_OURS}_{name}_FILE")
    if path:
        return Path(path).read_text(encoding="utf-8").strip()
    return os.environ.get(f"{_OURS}_{name}", "")
