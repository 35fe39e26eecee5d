"""What a meter costs, in words: the first figure is what the next unit costs."""

from decimal import Decimal

import pytest

from plans.catalog import price_texts
from plans.catalog.definitions import MeterPrice
from plans.catalog.price_texts import Step
from plans.rating.price_rules import Tier
from plans.usage import meters
from plans.usage.meters import Model

MILLION, GIB_HOUR = 1_000_000, meters.BY_SLUG["stored_byte_ms"].base_per_unit
SEVERAL = {Model.GRADUATED, Model.VOLUME}


def _price(
    model: Model,
    *tiers: tuple[int | None, str],
    unit: str = "million messages",
    base: int = MILLION,
) -> MeterPrice:
    rows = (Tier(None if end is None else Decimal(end), Decimal(price)) for end, price in tiers)
    return MeterPrice(model.value, unit, base, tuple(rows))


TWO = ((100, "0.90"), (None, "0.60"))
FIVE = ((1, "5"), (2, "4"), (3, "3"), (4, "2"), (None, "1"))
GRADUATED = _price(Model.GRADUATED, *TWO)


def _line(price: MeterPrice, meter: str = "messages", currency: str = "EUR") -> str:
    return price_texts.line(meter, price, currency)


@pytest.mark.parametrize(
    ("price", "text"),
    [
        (GRADUATED, "0.90 EUR per million messages, 0.60 beyond 100 million"),
        (_price(Model.GRADUATED, (5, "0.5"), (20, "0.2"), (None, "0.9")),
         "0.50 EUR per million messages, 0.20 beyond 5 million, 0.90 beyond 20 million"),
        (_price(Model.GRADUATED, *FIVE),
         "5.00 EUR per million messages, 4.00 beyond 1 million, and 3 more tiers"),
        (_price(Model.GRADUATED, *TWO, unit="message", base=1),
         "0.90 EUR per message, 0.60 beyond 100 messages"),
        (_price(Model.GRADUATED, (1, "0.02"), (None, "0.01"), unit="1,000 messages", base=1000),
         "0.02 EUR per 1,000 messages, 0.01 beyond 1,000"),
        (_price(Model.GRADUATED, (100, "0.9"), (None, "0.9")), "0.90 EUR per million messages"),
        (_price(Model.VOLUME, *TWO),
         "0.90 EUR per million messages, 0.60 for all if there are more than 100 million"),
        (_price(Model.UNIT, (None, "0.0004")), "0.0004 EUR per million messages"),
        (_price(Model.FLAT, (None, "5")), "5.00 EUR once a month for any number of messages"),
        (_price(Model.PACKAGE, (None, "2"), unit="pack", base=10_000),
         "2.00 EUR for each package of 10,000 messages that is begun"),
    ],
)  # fmt: skip
def test_one_line_begins_with_what_the_next_unit_costs(price: MeterPrice, text: str) -> None:
    assert _line(price) == text


def test_a_line_changes_with_the_first_tier() -> None:
    assert _line(_price(Model.GRADUATED, (100, "1.10"), (None, "0.60"))).startswith("1.10 EUR")


def test_an_end_has_the_unit_of_the_meter() -> None:
    price = _price(Model.GRADUATED, *TWO, unit="GiB-hour", base=GIB_HOUR)

    assert _line(price, "stored_byte_ms") == "0.90 EUR per GiB-hour, 0.60 beyond 100 GiB-hours"


def test_a_currency_without_cents_has_no_decimals() -> None:
    assert price_texts.figure(Decimal(90), "JPY") == "90"
    assert price_texts.figure(Decimal("0.5000"), "KWD") == "0.500"


def test_all_tiers_in_one_line_name_what_they_count() -> None:
    text = "up to 100 million billed messages: 0.90 EUR per million, above: 0.60 EUR"
    volume = _price(Model.VOLUME, *TWO)

    assert price_texts.in_full("messages", GRADUATED, "EUR") == text
    assert price_texts.in_full("messages", volume, "EUR") == f"one price for all, {text}"


def test_steps_begin_with_the_included_amount() -> None:
    price = _price(Model.GRADUATED, (100, "0.7"), (1000, "0.45"), (None, "0.3"))

    assert price_texts.steps("messages", price, 50 * MILLION, "EUR") == [
        Step("the first 50 million messages", "included"),
        Step("the next 100 million messages", "0.70 EUR per million messages"),
        Step("the next 900 million messages", "0.45 EUR per million messages"),
        Step("all further messages", "0.30 EUR per million messages"),
    ]


def test_steps_of_a_volume_price_say_that_the_total_chooses_the_price() -> None:
    steps = price_texts.steps("messages", _price(Model.VOLUME, *TWO), 0, "EUR")

    assert [step.usage for step in steps] == [
        "all messages, if up to 100 million",
        "all messages, if more than 100 million",
    ]


@pytest.mark.parametrize("model", Model)
def test_every_model_has_texts(model: Model) -> None:
    price = _price(model, *(TWO if model in SEVERAL else TWO[1:]))

    assert "EUR" in _line(price)
    assert "EUR" in price_texts.in_full("messages", price, "EUR")
    assert all(step.usage and step.price for step in price_texts.steps("messages", price, 1, "EUR"))
