"""Text cells of CSV files, changed so that no spreadsheet runs them as formulas.

Source: OWASP, "CSV Injection". Every CSV that Waypost serves passes the texts that tenants choose
through ``harmless``.
"""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def harmless(text: str) -> str:
    """Return ``text``, with an apostrophe in front if a spreadsheet would read it as a formula.

    Do not pass numbers: a negative number begins like a formula and must stay a number.
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
