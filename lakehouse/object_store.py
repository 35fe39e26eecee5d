"""What Spark needs to reach an S3-compatible object store, and its refusals in words.

A root is ``s3://bucket/prefix`` outside and ``s3a://`` for Hadoop. Where the store is comes from
``WAYPOST_LAKEHOUSE_ENDPOINT`` and ``_REGION``, the keys from ``_ACCESS_KEY`` and ``_SECRET_KEY``
(or files that the same names with ``_FILE`` name). The keys travel in the environment of the Java
machine: we put them into none of Spark's settings, which get printed and sent about. (Spark itself
copies them from there into its Hadoop configuration, for its driver and executors.)
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
    """The root is in an object store, and there are no keys for it."""

    code = "lakehouse.keys_missing"


class StoreAway(LakehouseError):
    """The object store gives no answer, or none that can be used."""

    code = "lakehouse.store_away"


class StoreRefuses(LakehouseError):
    """The object store does not take our keys, or they may not do this."""

    code = "lakehouse.store_refuses"


class BucketMissing(LakehouseError):
    """The object store has no such bucket."""

    code = "lakehouse.bucket_missing"


# Words in a Java exception, and what they mean; the first that is found counts.
_MEANINGS: tuple[tuple[tuple[str, ...], type[LakehouseError], str], ...] = (
    (("NoSuchBucket", "UnknownStoreException"), BucketMissing, "has no such bucket: make it"),
    (
        ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "Status Code: 403"),
        StoreRefuses,
        "refuses our keys: look at WAYPOST_LAKEHOUSE_ACCESS_KEY and _SECRET_KEY",
    ),
    (
        ("ConnectException", "UnknownHostException", "SdkClientException", "Status Code: 5"),
        StoreAway,
        "gives no usable answer: look at WAYPOST_LAKEHOUSE_ENDPOINT and _REGION",
    ),
)


def is_store(root: str) -> bool:
    """Return whether the root is in an object store and not a folder."""
    return root.startswith(_OUTSIDE)


def hadoop_root(root: str) -> str:
    """Return the root as Hadoop names it."""
    return _HADOOP + root.removeprefix(_OUTSIDE) if is_store(root) else root


def settings(root: str) -> Mapping[str, str]:
    """Return Spark's settings for a root in a store; no secret is among them."""
    if not is_store(root):
        return {}
    endpoint = os.environ.get(f"{_OURS}_ENDPOINT", "")
    # A store of one's own seldom has a name for each bucket.
    own = {"endpoint": endpoint, "path.style.access": "true"} if endpoint else {}
    s3a = {
        "aws.credentials.provider": _PROVIDER,
        "endpoint.region": os.environ.get(f"{_OURS}_REGION") or "us-east-1",
        # Reading ahead gains nothing: our files are small, and read whole.
        "input.stream.type": "classic",
        # Away is said within a minute; the whole job is run again later.
        "attempts.maximum": "3",
        "retry.limit": "3",
        "connection.establish.timeout": "5s",
        **own,
    }
    return {f"spark.hadoop.fs.s3a.{name}": value for name, value in s3a.items()}


def give_keys(root: str) -> None:
    """Put the keys of a root in a store where the Java machine, started next, looks for them.

    Raises:
        KeysMissing: there are none.
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
def in_words(root: str) -> Iterator[None]:
    """Put what the store refuses into words, its own on stderr; errors of a folder pass.

    Raises:
        StoreAway, StoreRefuses, BucketMissing: in place of Spark's error.
    """
    try:
        yield
    except LakehouseError:
        raise
    except Exception as error:  # from Java, in many classes
        refusal = _refusal(str(error)) if is_store(root) else None
        if refusal is None:
            raise
        sys.stderr.write(f"{error}"[:2000] + "\n")  # stdout is for the job's one line
        raise refusal from error


def _refusal(said: str) -> LakehouseError | None:
    for words, kind, meaning in _MEANINGS:
        if any(each in said for each in words):
            return kind(f"The lakehouse's object store {meaning}. {_LATER}")
    return None


def _secret(name: str) -> str:
    path = os.environ.get(f"{_OURS}_{name}_FILE")
    if path:
        return Path(path).read_text(encoding="utf-8").strip()
    return os.environ.get(f"{_OURS}_{name}", "")
