"""Check the settings of payments and dunning. ``controlplane.settings`` calls it."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

# The fields that the address of the operator's own payment page may name.
PAGE_FIELDS = ("invoice", "number", "amount_minor", "currency", "tenant")


def check_provider(provider: str, page: str, webhook_secret: str, stripe: tuple[str, str]) -> None:
    """Check that the chosen provider has what it needs; ``stripe`` is its key and its secret.

    Raises:
        ImproperlyConfigured: there is no such provider, or a value is missing or malformed.
    """
    if provider not in {"", "manual", "webhook", "stripe"}:
        raise ImproperlyConfigured(
            f"WAYPOST_PAYMENT_PROVIDER must be manual, webhook or stripe, not {provider!r}"
        )
    if provider == "stripe" and not all(stripe):
        raise ImproperlyConfigured(
            "WAYPOST_PAYMENT_PROVIDER is stripe: WAYPOST_STRIPE_KEY and "
            "WAYPOST_STRIPE_WEBHOOK_SECRET (or the same with _FILE) are needed."
        )
    if provider == "webhook" and not (page and webhook_secret):
        raise ImproperlyConfigured(
            "WAYPOST_PAYMENT_PROVIDER is webhook: WAYPOST_PAYMENT_PAGE and "
            "WAYPOST_PAYMENT_WEBHOOK_SECRET (or the same with _FILE) are needed."
        )
    if page:
        _check_page(page)


def _check_page(page: str) -> None:
    try:
        made = page.format(**dict.fromkeys(PAGE_FIELDS, "x"))
        is_web = urlsplit(made).scheme in {"https", "http"}
    except (KeyError, IndexError, ValueError):
        is_web = False
    if not is_web:
        raise ImproperlyConfigured(
            "WAYPOST_PAYMENT_PAGE must be the address of a page, such as "
            "https://pay.example/?invoice={number}; the fields are "
            f"{', '.join(f'{{{name}}}' for name in PAGE_FIELDS)}."
        )


def reminder_days(found: Sequence[str]) -> tuple[int, ...]:
    """Return the days after the due time on which reminders are sent, ascending; (): no dunning.

    Raises:
        ImproperlyConfigured: one of them is no whole number from 0 to 365.
    """
    # ``isdigit`` alone accepts digits such as ², which ``int`` refuses.
    digits = [day.isascii() and day.strip().isdigit() for day in found]
    if not all(digits) or any(int(day) > 365 for day in found):
        raise ImproperlyConfigured(
            "WAYPOST_DUNNING_REMINDER_DAYS must be whole numbers from 0 to 365 such as 3,10,17"
        )
    return tuple(sorted({int(day) for day in found}))


def check_dunning(reminders: Sequence[int], limit_days: int, suspend_days: int) -> None:
    """Check that the first reminder comes before sending stops and before connections are refused.

    Connections must not be refused before sending stops. 0 days means never.

    Raises:
        ImproperlyConfigured: the days are in another order.
    """
    measures = [days for days in (limit_days, suspend_days) if days]
    if measures and not (reminders and reminders[0] < min(measures)):
        raise ImproperlyConfigured(
            "WAYPOST_DUNNING_REMINDER_DAYS needs a day before WAYPOST_DUNNING_LIMIT_DAYS and "
            "WAYPOST_DUNNING_SUSPEND_DAYS: tenants are told before anything happens."
        )
    if limit_days and suspend_days and suspend_days < limit_days:
        raise ImproperlyConfigured(
            "WAYPOST_DUNNING_SUSPEND_DAYS must not be before WAYPOST_DUNNING_LIMIT_DAYS."
        )
