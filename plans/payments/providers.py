"""The registry of payment providers. A new one is a row here and a module beside it."""

from collections.abc import Callable, Mapping

from django.conf import settings

from controlplane.core.errors import Missing
from plans.payments.manual import Manual
from plans.payments.port import PaymentProvider
from plans.payments.signed_webhook import SignedWebhook
from plans.payments.stripe_provider import Stripe


def _signed_webhook() -> PaymentProvider | None:
    secrets = _newest_first(settings.PAYMENT_WEBHOOK_SECRET)
    return SignedWebhook(settings.PAYMENT_PAGE, secrets) if secrets else None


def _stripe() -> PaymentProvider | None:
    secrets = _newest_first(settings.STRIPE_WEBHOOK_SECRET)
    if not (settings.STRIPE_KEY and secrets):
        return None
    return Stripe(settings.STRIPE_KEY, secrets, settings.STRIPE_API)


# By name; each returns None if the installation lacks what the provider needs.
REGISTRY: Mapping[str, Callable[[], PaymentProvider | None]] = {
    Manual.name: Manual,
    SignedWebhook.name: _signed_webhook,
    Stripe.name: _stripe,
}


def configured() -> PaymentProvider:
    """Return the provider with which tenants pay, by the setting ``PAYMENT_PROVIDER``.

    Raises:
        Missing: the installation lacks what the provider needs.
    """
    return by_name(settings.PAYMENT_PROVIDER)


def by_name(name: str) -> PaymentProvider:
    """Return the provider ``name``, which may be one with which tenants paid before.

    Raises:
        Missing: the installation has no such provider.
    """
    make = REGISTRY.get(name)
    provider = make() if make else None
    if provider is None:
        raise Missing("This installation has no such payment provider.")
    return provider


def of_source(source: str) -> PaymentProvider:
    """Return the provider that a payment came from; *manual* for all other sources.

    Raises:
        Missing: the installation lacks what the provider needs now.
    """
    return by_name(source if source in REGISTRY else Manual.name)


def _newest_first(secrets: str) -> tuple[str, ...]:
    # Several, so that a secret can be replaced while deliveries are still signed with the old one.
    return tuple(secret.strip() for secret in secrets.split(",") if secret.strip())
