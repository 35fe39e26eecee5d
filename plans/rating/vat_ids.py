"""Checks VAT ids of the European Union in form: prefix, length and check digits. Pure.

Whether an id is registered (VIES) is not asked here: staff record the register's answer.
"""

from enum import StrEnum

from stdnum.eu import vat

# ISO 3166-1 codes of the members, whose services are under Directive 2006/112/EC.
EU = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()
)
# Every member writes its country code, but Greece EL. Greek ids are often given with GR: EN 16931,
# rule BR-CO-09, takes both.
_PREFIXES = {"GR": frozenset({"EL", "GR"})}


class Status(StrEnum):
    """What the check of a tax id found. Rows of tenants store the values: never rename one."""

    NONE = "none"  # no tax id is given
    NOT_CHECKED = "not_checked"  # the country is outside the EU
    VALID = "valid"  # the form and the check digits are right
    INVALID = "invalid"
    OTHER_COUNTRY = "other_country"  # a valid id of another country than the buyer's
    REFUSED = "refused"  # the form is right, but staff recorded that the register does not know it


def check(country: str, tax_id: str) -> Status:
    """Return what is known of the form of a buyer's tax id; ``country`` is the buyer's (ISO)."""
    if not tax_id.strip():
        return Status.NONE
    if country not in EU:
        return Status.NOT_CHECKED
    # An id may be written with blanks, points and hyphens. ``vat.compact`` would remove them, but
    # refuses unknown prefixes.
    number = "".join(letter for letter in tax_id.upper() if letter.isalnum())
    if number[:2] not in _PREFIXES.get(country, {country}):
        return Status.OTHER_COUNTRY if vat.is_valid(number) else Status.INVALID
    return Status.VALID if vat.is_valid(number) else Status.INVALID
