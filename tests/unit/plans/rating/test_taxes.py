"""Which tax an invoice charges: rates by country and date, reverse charge, notes, VAT ids."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from controlplane.core.errors import Invalid
from plans.rating import taxes, vat_ids
from plans.rating.taxes import Buyer, Category, TaxRule
from plans.rating.vat_ids import EU, Status

DAY = date(2026, 4, 30)

EXEMPT = TaxRule(Decimal(0), Category.EXEMPT, "Section 4 no. 21")
ZERO = TaxRule(Decimal(0), Category.ZERO, "Diplomatic mission")


@pytest.mark.parametrize(
    ("country", "day", "percent"),
    [
        ("DE", "2020-06-30", "19"),
        ("DE", "2020-07-01", "16"),
        ("DE", "2021-01-01", "19"),
        ("EE", "2025-06-30", "22"),
        ("EE", "2025-07-01", "24"),
        ("FI", "2024-09-01", "25.5"),
        ("SK", "2025-01-01", "23"),
        ("RO", "2025-08-01", "21"),
        ("LU", "2023-12-31", "16"),
    ],
)
def test_the_rate_is_the_one_of_the_day(country: str, day: str, percent: str) -> None:
    assert taxes.rate(country, date.fromisoformat(day)) == Decimal(percent)


def test_the_table_has_every_member_in_order_of_time() -> None:
    assert taxes.RATES.keys() >= EU
    for rates in taxes.RATES.values():
        assert [row.since for row in rates] == sorted(row.since for row in rates)
    with pytest.raises(Invalid, match="table of VAT rates"):
        taxes.rate("US", DAY)


@pytest.mark.parametrize(
    ("seller", "buyer", "percent", "category", "note"),
    [
        ("DE", Buyer("DE", Status.VALID), "19", Category.STANDARD, ""),
        ("DE", Buyer("", Status.NONE), "19", Category.STANDARD, ""),
        ("DE", Buyer("FR", Status.VALID), "0", Category.REVERSE_CHARGE, "Article 196"),
        ("DE", Buyer("FR", Status.INVALID), "20", Category.STANDARD, ""),
        ("DE", Buyer("FR", Status.NONE), "20", Category.STANDARD, ""),
        ("DE", Buyer("FR", Status.OTHER_COUNTRY), "20", Category.STANDARD, ""),
        ("DE", Buyer("US", Status.NOT_CHECKED), "0", Category.EXPORT, "Articles 44 and 59"),
        ("CH", Buyer("DE", Status.VALID), "0", Category.OUTSIDE, "Supplied abroad"),
        ("CH", Buyer("CH", Status.NOT_CHECKED), "8.1", Category.STANDARD, ""),
        ("DE", Buyer("FR", Status.REFUSED), "20", Category.STANDARD, ""),
        ("DE", Buyer("DE", Status.VALID, EXEMPT), "0", Category.EXEMPT, "Section 4"),
        ("DE", Buyer("FR", Status.NONE, EXEMPT), "0", Category.EXEMPT, "Section 4"),
        ("CH", Buyer("US", Status.NONE, ZERO), "0", Category.ZERO, "Diplomatic"),
    ],
)
def test_countries_and_the_vat_id_decide(
    seller: str, buyer: Buyer, percent: str, category: Category, note: str
) -> None:
    found = taxes.decide(seller, buyer, DAY)

    assert (found.percent, found.category) == (Decimal(percent), category)
    assert note in found.note
    assert bool(note) == bool(found.note)


@pytest.mark.parametrize(
    ("country", "tax_id", "status"),
    [
        ("DE", "DE136695976", Status.VALID),
        ("DE", " de 136 695 976 ", Status.VALID),
        ("DE", "DE136695975", Status.INVALID),  # a wrong check digit
        ("DE", "DE123", Status.INVALID),
        ("DE", "x", Status.INVALID),
        ("DE", "136695976", Status.INVALID),  # without its prefix
        ("FR", "DE136695976", Status.OTHER_COUNTRY),
        ("GR", "EL094259216", Status.VALID),
        ("GR", "GR094259216", Status.VALID),  # with the country code instead of Greece's prefix
        ("GR", "GR094259217", Status.INVALID),
        ("GR", "DE136695976", Status.OTHER_COUNTRY),
        ("DE", "GR094259216", Status.OTHER_COUNTRY),
        ("US", "12-3456789", Status.NOT_CHECKED),
        ("DE", "  ", Status.NONE),
    ],
)
def test_the_form_of_a_vat_id(country: str, tax_id: str, status: Status) -> None:
    assert vat_ids.check(country, tax_id) is status


@pytest.mark.parametrize(("country", "day"), [("US", DAY), ("DE", date(1900, 1, 1)), ("", DAY)])
def test_a_rate_that_the_table_lacks_is_refused(country: str, day: date) -> None:
    with pytest.raises(Invalid) as refused:
        taxes.rate(country, day)

    assert refused.value.error_code == "tax.no_rate"
    assert refused.value.message == (
        f"The table of VAT rates has no rate of {country} on {day}: tax the seller at a flat rate, "
        "or add the rate to plans/rating/vat_rates.json."
    )


def test_a_rate_of_nothing_is_of_its_own_category(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = (taxes.Rate(date(2026, 1, 1), Decimal(0)), taxes.Rate(DAY, Decimal(5)))
    monkeypatch.setattr(taxes, "RATES", {"XX": rates})
    buyer = Buyer("XX", Status.NONE)

    assert taxes.decide("XX", buyer, date(2026, 4, 29)) == TaxRule(Decimal(0), Category.ZERO, "")
    assert taxes.decide("XX", buyer, DAY) == TaxRule(Decimal(5), Category.STANDARD, "")


@pytest.mark.parametrize(
    ("seller", "buyer", "rule"),
    [
        ("DE", "FR", TaxRule(Decimal(0), Category.REVERSE_CHARGE, taxes.REVERSE_CHARGE)),
        ("DE", "US", TaxRule(Decimal(0), Category.EXPORT, taxes.OUTSIDE_EU)),
        ("US", "FR", TaxRule(Decimal(0), Category.OUTSIDE, taxes.ABROAD)),
    ],
)
def test_a_tax_of_nothing_has_the_note_of_its_category(
    seller: str, buyer: str, rule: TaxRule
) -> None:
    assert taxes.decide(seller, Buyer(buyer, Status.VALID), DAY) == rule


def test_the_table_of_rates_is_read_as_it_is_written() -> None:
    table = taxes._table()

    assert table == taxes.RATES
    assert table["DE"][-1] == taxes.Rate(date(2021, 1, 1), Decimal(19))


@pytest.mark.parametrize(
    ("country", "tax_id", "status"),
    [
        ("FR", "DE136695975", Status.INVALID),  # of another country, with a wrong check digit
        ("DE", "D", Status.INVALID),
        ("", "DE136695976", Status.NOT_CHECKED),
        ("DE", "de-136.695.976", Status.VALID),
    ],
)
def test_the_prefix_is_that_of_the_country(country: str, tax_id: str, status: Status) -> None:
    assert vat_ids.check(country, tax_id) is status


def test_a_rate_without_a_category_is_the_standard_rate() -> None:
    flat, standard = TaxRule(Decimal(19)), TaxRule(Decimal("19.0"), Category.STANDARD)

    assert flat.key == standard.key == (Decimal(19), "S", "")
    assert TaxRule(Decimal(0)).key == (Decimal(0), "", "")
    assert len({EXEMPT.key, ZERO.key, replace(EXEMPT, note="Another certificate").key}) == 3


def test_a_manifest_has_the_tax_in_plain_texts() -> None:
    plain = TaxRule(Decimal("20.00"), Category.STANDARD).plain()

    assert plain == {"percent": "20", "category": "S", "note": ""}
    assert type(plain["category"]) is str
    assert TaxRule.from_plain(EXEMPT.plain()) == EXEMPT
    assert TaxRule.from_plain({"percent": "5.5"}) == TaxRule(Decimal("5.5"))
