"""Names of namespaces and of supervised programs: legal on every platform, and unique.

The name of a namespace has a readable part and a hash. The hash of tenant id and space id makes it
unique. Text that a tenant wrote gets into a name only through ``slug``.
"""

import hashlib
import re

MAX_LENGTH = 63  # DNS label, RFC 1123; the limit of a Kubernetes namespace and of a label value
_PREFIX = "wp"
_HASH_LENGTH = 12  # 60 bits
# Base 32 without letters that look like digits (Crockford).
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def namespace(tenant_id: str, space_id: str, readable: str) -> str:
    """Return the name of a space's namespace: ``wp-<slug of readable>-<hash of the two ids>``.

    ``readable`` is the space's name. The result has at most ``MAX_LENGTH`` characters: a longer
    slug is cut. Without a slug the result is ``wp-<hash>``.
    """
    digest = _hash(tenant_id, space_id)
    budget = MAX_LENGTH - len(_PREFIX) - len(digest) - 2  # two hyphens
    middle = slug(readable)[:budget].strip("-")
    # Text without a letter or digit has no slug.
    return "-".join(part for part in (_PREFIX, middle, digest) if part)


def program(namespace: str, instance: str) -> str:
    """Return the name of the program that runs an instance under supervisord."""
    return f"{namespace}.{instance}"


def slug(text: str) -> str:
    """Return ``text`` in lower case, with ``-`` for each run of characters but a-z and 0-9.

    There is no ``-`` at either end. Empty if ``text`` has no ASCII letter or digit.
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _hash(*ids: str) -> str:
    # Lengths first, so that ("ab", "c") and ("a", "bc") differ.
    text = "".join(f"{len(part)}:{part}" for part in ids)
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return "".join(_ALPHABET[(number >> (5 * i)) & 31] for i in range(_HASH_LENGTH))
