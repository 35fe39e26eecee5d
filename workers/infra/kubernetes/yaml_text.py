"""Write JSON so that the API reads the same text from it as YAML. Pure.

The API reads an applied body as YAML, whose escapes differ from those of JSON: there are no
surrogate pairs, but eight digits beyond the first plane (YAML 1.2, section 5.7).
"""

import json
import re

# YAML also folds lines at U+0085 and U+2028, and does not accept all of the control characters.
_BEYOND_ASCII = re.compile(r"[^\x20-\x7e]")


def dumps(body: object) -> str:
    """Return the body as text of printable ASCII characters."""
    return _BEYOND_ASCII.sub(_escaped, json.dumps(body, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
