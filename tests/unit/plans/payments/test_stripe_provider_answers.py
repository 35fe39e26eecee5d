"""What errors of Stripe's library mean for a refund."""

from typing import Any

import pytest
import stripe

from plans.payments.port import ProviderAway, ProviderRefuses
from plans.payments.stripe_provider import Stripe


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (stripe.IdempotencyError("the key is in use"), ProviderAway),
        (stripe.StripeError("the key is in use", http_status=409), ProviderAway),
        (stripe.StripeError("no such payment", http_status=404), ProviderRefuses),
    ],
)
def test_a_request_that_stripe_still_carries_out_is_not_refused(
    error: stripe.StripeError, meaning: type[Exception]
) -> None:
    def call(_: stripe.StripeClient) -> Any:
        raise error

    with pytest.raises(meaning):
        Stripe("sk_test_123", ())._called(call)
