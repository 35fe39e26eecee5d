"""Deliveries of the provider *webhook* with a wrong time are refused before anything else."""

from datetime import UTC, datetime

import pytest

from plans.payments.port import SignatureWrong
from plans.payments.signed_webhook import SignedWebhook

NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "timestamp", ["", "-1", "²", "0", "999999999999", "1" * 13, str(int(NOW.timestamp()) + 301)]
)
def test_a_time_that_is_none_or_not_near_is_refused(timestamp: str) -> None:
    headers = {"webhook-id": "evt-1", "webhook-timestamp": timestamp}

    with pytest.raises(SignatureWrong, match=r"webhook-timestamp|signed over 5 minutes ago"):
        SignedWebhook("https://pay.example", ["whsec_" + "a" * 32]).verified(b"{}", headers, NOW)
