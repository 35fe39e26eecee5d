r"""Write a body as JSON that a YAML parser reads in the same way. Pure.

The API reads the body of an apply as YAML. JSON writes a character above U+FFFF as two escapes (a
surrogate pair), but YAML as one escape with eight digits, ``\UXXXXXXXX`` (YAML 1.2, section 5.7).
"""

import json
import re

# Everything that is not printable ASCII is escaped: YAML also folds lines at U+0085 and U+2028, and
# does not accept all of the control characters.
_BEYOND_ASCII = re.compile(r"[^\x20-\x7e]")


def dumps(body: object) -> str:
    """Return a JSON value as YAML, in printable ASCII characters."""
    return _BEYOND_ASCII.sub(_escaped, json.dumps(body, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
