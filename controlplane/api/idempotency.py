"""``Idempotency-Key`` on POST: a repeated request gets the first one's answer and does nothing.

Wrap a view's ``post`` with ``idempotent``. Refusals are not kept: nothing was done, so a repetition
may as well be tried. The rows and their lifetime: ``controlplane.core.idempotency``.
"""

import functools
import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from controlplane.core import idempotency, network
from controlplane.core.errors import Invalid

_KEPT_HEADERS = ("Location", "ETag")
Post = Callable[..., Response]


class KeyInvalid(Invalid):
    """The header is empty, too long or not printable ASCII."""

    code = "idempotency_key.invalid"


def idempotent(post: Post) -> Post:
    """Return ``post`` wrapped: with the header it runs in one transaction with its kept answer."""

    @functools.wraps(post)
    def wrapper(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        text = request.headers.get("Idempotency-Key")
        if text is None:
            return post(view, request, *args, **kwargs)
        key = _key(request, text)
        with transaction.atomic():
            kept = idempotency.find(key, timezone.now())
            if kept is not None:
                return _replay(kept)
            response = post(view, request, *args, **kwargs)
            idempotency.keep(key, _answer(response))
            return response

    return wrapper


def _key(request: Request, text: str) -> idempotency.Key:
    if not (1 <= len(text) <= 255 and text.isascii() and text.isprintable()):
        raise KeyInvalid("Send an Idempotency-Key of 1 to 255 printable ASCII characters.")
    caller = getattr(request.user, "pk", None) or f"anonymous-{network.address(request)}"
    scope = hashlib.sha256(str(caller).encode()).hexdigest()
    body = request.path + json.dumps(request.data, sort_keys=True)
    # Keyed, because a body may hold a password that a plain hash would let someone guess.
    request_hash = salted_hmac("waypost.idempotency", body, algorithm="sha256").hexdigest()
    return idempotency.Key(scope, text, request_hash)


def _answer(response: Response) -> idempotency.Answer:
    body = json.loads(json.dumps(response.data, cls=JSONEncoder))
    headers = {name: response[name] for name in _KEPT_HEADERS if name in response}
    return idempotency.Answer(response.status_code, body, headers)


def _replay(kept: idempotency.Answer) -> Response:
    headers = {**kept.headers, "Idempotent-Replayed": "true"}
    return Response(kept.body, status=kept.status, headers=headers)
