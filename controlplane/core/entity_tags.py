"""The entity tags of rows with a generation (RFC 9110, section 8.8.3). Pure.

The API sends and compares them. The command computes them for rows that it read in a list.
"""

import hashlib
import json
from collections.abc import Mapping


def of(generation: int, labels: Mapping[str, str] | None = None) -> str:
    """Return the tag of a row: the generation in quotes, such as ``"7"``.

    Labels do not raise the generation, because nothing that runs depends on them. The tag of a row
    with labels therefore also has a hash of the labels, such as ``"7-0a1b2c3d4e5f"``.
    """
    if not labels:
        return f'"{generation}"'
    text = json.dumps(dict(labels), sort_keys=True)
    return f'"{generation}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"'
