"""Takes the webhooks of payment providers, at ``/payment-events/<provider>``.

There is no login: a delivery's signature proves who sent it. The view is no part of the REST API,
because each provider decides the form of its deliveries.
"""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from controlplane.core import network, throttling
from controlplane.core.errors import WaypostError
from plans.payments import events

_LARGEST = 256 * 1024  # bytes; the largest events of Stripe have some tens of thousands


@csrf_exempt  # no browser sends these, and the signature says who does
@require_POST
def receive(request: HttpRequest, provider: str) -> HttpResponse:
    """Store and apply the event of a delivery; answer 200 also if the event was known already.

    The view refuses a delivery without a valid signature, one over the rate limit (429) and one
    that is too large (413). After any status other than 2xx, the provider delivers the event again.
    """
    try:
        who = network.address(request)
        found = throttling.count("payment-events", settings.PAYMENT_EVENT_RATE, who)
        throttling.require(found, "Too many deliveries.")
        if int(request.META.get("CONTENT_LENGTH") or 0) > _LARGEST:
            return _answer(413, "request.too_large", f"Send at most {_LARGEST} bytes.")
        headers = {name.lower(): value for name, value in request.headers.items()}
        row = events.receive(provider, request.body, headers, timezone.now())
    except WaypostError as error:
        return _answer(error.status, error.error_code, error.message)
    return JsonResponse({"state": row.state})


def _answer(status: int, code: str, message: str) -> HttpResponse:
    body = {"status": status, "code": code, "detail": message}
    return JsonResponse(body, status=status, content_type="application/problem+json")
