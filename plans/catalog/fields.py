"""Makes pydantic validators for the single values of a catalog: texts, numbers, keys.

All values arrive as texts of the YAML document. Numbers are parsed from the text, never through
binary floats. The message about a wrong value says what to write instead.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, ValidationInfo
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from controlplane.core.errors import Invalid
from plans.rating import money
from plans.rating.taxes import RATES, Regime

LARGEST = 2**53  # JSON readers that use doubles represent integers exactly up to here
KEY = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_WHOLE = re.compile(r"^(0|[1-9][0-9_]*)$")  # as YAML 1.1 writes integers; no sign, no leading zero
_DECIMAL_PLACES = 12  # as many as the columns of invoice lines store
T = TypeVar("T")
_SHOWN = 40  # characters of a wrong value in a message


def wrong(reason: str) -> PydanticCustomError:
    """Return the exception that a validator raises for a wrong value.

    ``reason`` continues a sentence that begins with "it", such as "must be one of …".
    """
    # A parameter, because braces in the template itself are placeholders of pydantic.
    return PydanticCustomError("catalog", "{reason}", {"reason": reason})


def wrong_inside(reasons: Iterable[tuple[int, str]]) -> ValidationError:
    """Return the exception for wrong items of a list; ``reasons`` are (position from 0, reason)."""
    return ValidationError.from_exception_data(
        "catalog", [InitErrorDetails(type=wrong(why), loc=(n,), input="") for n, why in reasons]
    )


def scalar(write: str, read: Callable[[str], Any]) -> BeforeValidator:
    """Return the validator of one kind of single value (no list, no mapping).

    ``write`` describes the legal values in messages about a wrong one, such as "a whole number from
    0 to 9". ``read`` turns the text into the value; it raises ValueError for a wrong text.
    """

    return BeforeValidator(lambda value: checked(value, write, read))


def checked(value: object, write: str, read: Callable[[str], Any]) -> Any:
    """Return ``read(value)``; raise ``wrong(…)`` if ``value`` is no text or ``read`` refuses it.

    ``write`` and ``read`` are those of ``scalar``.
    """
    if value is None:
        raise wrong(f"is missing: write {write}")
    if not isinstance(value, str):
        raise wrong(f"must be {write}, not a {'list' if isinstance(value, list) else 'mapping'}")
    try:
        return read(value)
    except ValueError:
        raise wrong(f"must be {write}, not {value[:_SHOWN]!r}") from None


def text(*, longest: int = 200, shortest: int = 1) -> BeforeValidator:
    """Return the validator of a text, which strips blanks at both ends.

    ``longest`` limits the text before the stripping, ``shortest`` after it.
    """

    def read(value: str) -> str:
        # Measured before stripping, so that a long text of blanks is refused too.
        if len(value) > longest or len(value.strip()) < shortest:
            raise ValueError
        return value.strip()

    return scalar(f"a text of {shortest} to {longest} characters", read)


def whole(*, smallest: int = 0, largest: int = LARGEST) -> BeforeValidator:
    """Return the validator that turns a text into a whole number from ``smallest`` to ``largest``.

    Underscores may group its digits. Signs and leading zeros are refused.
    """

    def read(value: str) -> int:
        # Limit the length first: converting a very long text to int is slow.
        if not _WHOLE.match(value) or len(value) >= 30:
            raise ValueError
        number = int(value.replace("_", ""))
        if not smallest <= number <= largest:
            raise ValueError
        return number

    return scalar(f"a whole number from {smallest} to {largest}", read)


def flag() -> BeforeValidator:
    """Return the validator that turns the text ``true`` or ``false`` into a boolean."""

    def read(value: str) -> bool:
        if value not in ("true", "false"):
            raise ValueError
        return value == "true"

    return scalar("true or false", read)


def decimal(*, largest: Decimal = Decimal(10**12)) -> BeforeValidator:
    """Return the validator of a decimal from 0 to ``largest`` with at most 12 decimal places.

    The value stays a text, written without an exponent.
    """

    def read(value: str) -> str:
        try:
            number = Decimal(value)
        except InvalidOperation:
            raise ValueError from None
        exponent = number.as_tuple().exponent
        # The exponent of NaN and infinity is a letter, and NaN cannot be compared.
        if not isinstance(exponent, int) or -exponent > _DECIMAL_PLACES:
            raise ValueError
        if not 0 <= number <= largest:
            raise ValueError
        return format(number.copy_abs(), "f")  # without the sign of a negative zero

    return scalar(f"a number from 0 to {largest} with at most {_DECIMAL_PLACES} decimals", read)


def one_of(choices: Iterable[str]) -> BeforeValidator:
    """Return the validator of a text that is one of ``choices``."""
    known = list(choices)
    return BeforeValidator(lambda value: choice(value, known))


def choice(value: object, known: Iterable[str]) -> Any:
    """Return ``value`` if it is one of the texts ``known``; raise ``wrong(…)`` otherwise."""
    names = list(known)

    def read(value: str) -> str:
        if value not in names:
            raise ValueError
        return value

    return checked(value, f"one of {', '.join(names)}", read)


def matching(pattern: str, write: str) -> BeforeValidator:
    """Return the validator of a text that matches ``pattern`` as a whole.

    ``write`` describes a legal text in the message about a wrong one.
    """

    def read(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError
        return value

    return scalar(write, read)


def currency_code(value: str) -> str:
    """Return a currency code that ISO 4217 lists; raise ValueError for any other text."""
    try:
        money.minor_digits(value)
    except Invalid as error:
        raise ValueError from error
    return value


def regime_of(regime: str, info: ValidationInfo) -> str:
    """Return the tax regime of a seller; raise ``wrong(…)`` for ``vat`` without a known rate."""
    if regime == Regime.VAT and info.data.get("country") not in RATES:
        raise wrong("must be flat: the table of VAT rates lacks the seller's country")
    return regime


def not_empty(section: dict[str, T]) -> dict[str, T]:
    """Return the section unchanged; raise ``wrong(…)`` if it has no entry."""
    if not section:
        raise wrong("must have at least one entry")
    return section


Key = Annotated[str, matching(KEY, "1 to 63 lower-case letters, digits and inner hyphens")]
Count = Annotated[int, whole()]
Rate = Annotated[int | None, whole(smallest=1, largest=1_000_000)]  # in a second; None: no limit
Price = Annotated[str, decimal()]
Title = Annotated[str, text(longest=100)]
Country = Annotated[str, matching("[A-Z]{2}", "two capital letters (ISO 3166-1), such as DE")]
Currency = Annotated[str, scalar("an ISO 4217 currency code such as EUR", currency_code)]
TaxRegime = Annotated[str, one_of(regime.value for regime in Regime), AfterValidator(regime_of)]
