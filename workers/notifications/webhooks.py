"""Send an event as a webhook by the Standard Webhooks scheme.

The headers are ``webhook-id`` (the event's id, the same in every attempt), ``webhook-timestamp``
(seconds since 1970) and ``webhook-signature``: one signature for each valid secret.
"""

import http.client
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from standardwebhooks import Webhook

from controlplane.core import outbound, secrets
from controlplane.core.outbound import TargetRefused
from tenants.notifications import rendering
from tenants.notifications.deliveries import Outcome
from tenants.notifications.models import Channel, Delivery, Event

_SECONDS = 10.0  # in which the receiver must answer
_GONE = 410  # status of HTTP: the receiver wants no more


def send(delivery: Delivery, now: datetime) -> Outcome:
    """Send the webhook of a delivery to its channel; return how it went.

    Any status from 200 to 299 is a success. Redirects are not followed.
    """
    channel = delivery.channel
    assert channel is not None
    body = rendering.webhook_body(delivery.event)
    started = time.monotonic()
    try:
        target = outbound.resolve(secrets.decrypt(channel.target_encrypted))
        headers = signed_headers(channel, delivery.event, body, now)
        answer = outbound.post(target, body.encode(), headers, _SECONDS)
    except TargetRefused as refused:
        return Outcome(_passed(started), refused.message)
    except (OSError, http.client.HTTPException) as failed:
        return Outcome(_passed(started), f"No answer: {failed or type(failed).__name__}")
    error = "" if 200 <= answer.status < 300 else f"The receiver answered {answer.status}."
    return Outcome(
        _passed(started),
        error,
        answer.status,
        answer.text,
        answer.retry_after_seconds,
        is_gone=answer.status == _GONE,
        is_final=answer.status == _GONE,
    )


def signed_headers(channel: Channel, event: Event, body: str, now: datetime) -> Mapping[str, str]:
    """Return the headers of a webhook with ``body``, signed at ``now``.

    While a former secret is valid it signs too, so that a receiver may change its secret later.
    """
    encrypted = [channel.secret_encrypted]
    if channel.former_secret_until is not None and now < channel.former_secret_until:
        encrypted.append(channel.former_secret_encrypted)
    at = now.astimezone(UTC)
    signatures = [Webhook(secrets.decrypt(text)).sign(event.pk, at, body) for text in encrypted]
    return {
        "Content-Type": "application/json",
        "User-Agent": "Waypost-Webhooks/1",
        "webhook-id": event.pk,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def _passed(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
