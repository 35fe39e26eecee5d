"""Settings of payments and dunning: what is refused at the start, with what to do."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from controlplane.core import payment_settings

PAGE = "https://pay.example/?invoice={number}&amount={amount_minor}"


def test_each_provider_starts_with_what_it_needs() -> None:
    payment_settings.check_provider("", "", "", ("", ""))
    payment_settings.check_provider("manual", "", "", ("", ""))
    payment_settings.check_provider("webhook", PAGE, "whsec_x", ("", ""))
    payment_settings.check_provider("stripe", "", "", ("sk", "whsec"))


@pytest.mark.parametrize(
    ("provider", "page", "secret", "stripe", "reason"),
    [
        ("paypal", "", "", ("", ""), "must be manual, webhook or stripe"),
        ("stripe", "", "", ("sk", ""), "WAYPOST_STRIPE_WEBHOOK_SECRET"),
        ("stripe", "", "", ("", "whsec"), "WAYPOST_STRIPE_KEY"),
        ("webhook", PAGE, "", ("", ""), "WAYPOST_PAYMENT_WEBHOOK_SECRET"),
        ("webhook", "", "whsec_x", ("", ""), "WAYPOST_PAYMENT_PAGE"),
        ("webhook", "javascript:{number}", "whsec_x", ("", ""), "address of a page"),
        ("webhook", "https://pay.example/{nothing}", "whsec_x", ("", ""), "the fields are"),
        ("webhook", "https://pay.example/{", "whsec_x", ("", ""), "address of a page"),
    ],
)
def test_a_provider_that_lacks_something_is_refused(
    provider: str, page: str, secret: str, stripe: tuple[str, str], reason: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=reason):
        payment_settings.check_provider(provider, page, secret, stripe)


def test_reminder_days_are_sorted_whole_numbers() -> None:
    assert payment_settings.reminder_days([]) == ()
    assert payment_settings.reminder_days(["10", " 3", "10"]) == (3, 10)
    for wrong in ("-1", "x", "366", "²"):
        with pytest.raises(ImproperlyConfigured, match="WAYPOST_DUNNING_REMINDER_DAYS"):
            payment_settings.reminder_days([wrong])


def test_nothing_happens_before_a_reminder() -> None:
    payment_settings.check_dunning((), 0, 0)
    payment_settings.check_dunning((3,), 0, 30)
    payment_settings.check_dunning((3,), 21, 21)
    for reminders, limit, suspend in (((), 21, 0), ((21,), 21, 0), ((5,), 0, 4), ((3,), 30, 21)):
        with pytest.raises(ImproperlyConfigured):
            payment_settings.check_dunning(reminders, limit, suspend)
