"""Change text cells of CSV files so that no spreadsheet runs them as formulas.

Source: OWASP, "CSV Injection". Code that writes a CSV for download passes every text that a tenant
has chosen through ``harmless``.
"""

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def harmless(text: str) -> str:
    """Return ``text`` unchanged, or with an apostrophe in front if a formula could begin so.

    Do not pass numbers: a negative number begins like a formula and must stay a number.
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
