"""Refuses passwords that are known from breaches, by a local file or a range service.

The setting ``BREACHED_PASSWORDS`` chooses: empty (off), the ``https://`` URL of a service, or the
path of a file with one SHA-1 hash a line in hexadecimal, sorted, which is the format in which the
lists are published. ``:<count>`` may follow the hash. The service answers
``GET <url>/<first five digits>`` with the lines that begin so, each without these five digits.
"""

import hashlib
import mmap
from pathlib import Path

import requests
import structlog
from django.conf import settings
from django.core.exceptions import ValidationError

from tenants.models import User

logger = structlog.get_logger(__name__)

_TIMEOUT_SECONDS = 3  # a person waits for the answer


class BreachedPasswordValidator:
    """A password validator of Django: refuses a password that a list of breaches has."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Raise ValidationError if the password is in the list.

        A list that cannot be read refuses nothing; a warning is logged.
        """
        if is_breached(password):
            raise ValidationError(
                "This password is known from a breach of another service. Choose another one.",
                code="password_breached",
            )

    def get_help_text(self) -> str:
        return "Your password must not be known from a breach."


def is_breached(password: str) -> bool:
    """Return whether the configured list has the password.

    False if no list is configured, or if the list cannot be read: that logs a warning.
    """
    source = settings.BREACHED_PASSWORDS
    if not source:
        return False
    digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
    try:
        return _in_service(source, digest) if "://" in source else in_file(Path(source), digest)
    except (OSError, ValueError) as error:  # requests' errors are OSErrors
        logger.warning("breached passwords are not checked", reason=type(error).__name__)
        return False


def in_file(path: Path, digest: str) -> bool:
    """Return whether the sorted file has a line that begins with ``digest`` (40 hex digits).

    Reads about 40 places of a file of 40 GB: a binary search over its lines.

    Raises:
        OSError: the file cannot be read. ValueError: it is empty.
    """
    wanted = digest.encode()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
        low, high = 0, len(lines)
        # Invariant: a line that begins before ``low`` is smaller, one from ``high`` on is not.
        while low < high:
            middle = (low + high) // 2
            start = lines.rfind(b"\n", low, middle) + 1 or low
            end = lines.find(b"\n", start)
            end = len(lines) if end < 0 else end
            found = lines[start : min(end, start + 40)].upper()
            if found == wanted:
                return True
            if found < wanted:
                low = end + 1
            else:
                high = start
    return False


def _in_service(url: str, digest: str) -> bool:
    # The service gets the first 5 of 40 digits and answers with every hash that begins so.
    answer = requests.get(
        url.rstrip("/") + "/" + digest[:5],
        # The length of a padded answer does not reveal which hashes were requested.
        headers={"Add-Padding": "true"},
        timeout=_TIMEOUT_SECONDS,
    )
    answer.raise_for_status()
    lines = (line.split(":") for line in answer.text.splitlines())
    # Padding has the count 0.
    return any(rest == digest[5:] and count.strip() != "0" for rest, count in lines)
