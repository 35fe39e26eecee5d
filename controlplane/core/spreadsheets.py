"""Text cells of CSV files, changed so that no spreadsheet runs them as formulas.

Source: OWASP, "CSV Injection". Every CSV that Waypost serves passes its text cells through here.
"""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def harmless(text: str) -> str:
    """Return ``text``, with an apostrophe in front if a spreadsheet would read it as a formula.

    Only for text cells: a negative number must stay a number.
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
