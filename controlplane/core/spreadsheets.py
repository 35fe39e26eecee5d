"""CSV that people open in spreadsheets: text that no program runs as a formula.

Source: OWASP, "CSV Injection". Every CSV that Waypost serves passes its text cells through here.
"""

_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def harmless(text: str) -> str:
    """Return ``text`` with an apostrophe before it where a spreadsheet would take it for a formula.

    For cells of text only: numbers stay numbers.
    """
    return f"'{text}" if text.startswith(_STARTS) else text
