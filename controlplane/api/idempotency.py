"""``Idempotency-Key`` on POST: a repeated request gets the stored answer and changes nothing.

Decorate the ``post`` of a view with ``idempotent``. If it calls another system that must not act
before the change is committed, decorate the part before that call, as ``staff_payments`` does. An
error is not stored: it changed nothing, so a repeated request runs again.
``controlplane.core.idempotency`` stores answers for 24 hours.
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

from controlplane.api.instants import Renderer
from controlplane.core import idempotency, network
from controlplane.core.errors import Invalid

_STORED_HEADERS = ("Location", "ETag")  # of an answer, beside its body and status
# Members of an answer that only the first answer shows: a stored one holds null instead.
_SECRETS = frozenset({"token", "secret"})
Post = Callable[..., Response]


class KeyInvalid(Invalid):
    """The header ``Idempotency-Key`` is empty, over 255 characters long or not printable ASCII."""

    status = 400
    code = "idempotency_key.invalid"


def idempotent(post: Post) -> Post:
    """Decorate the method ``post`` of a view, so that a repeated request gets the stored answer.

    ``post`` runs in a transaction, in which its answer is stored. If ``post`` raises, both are
    rolled back. A repeated answer has the header ``Idempotent-Replayed: true``. A request without
    ``Idempotency-Key`` runs as if undecorated.

    The decorated method raises:
        KeyInvalid: the header is empty, too long or not printable ASCII.
        KeyReused: the caller used the key for another request in the last 24 hours: another path
            or another body.
    """

    @functools.wraps(post)
    def wrapper(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        text = request.headers.get("Idempotency-Key")
        if text is None:
            return post(view, request, *args, **kwargs)
        key = key_of(request, text)
        with transaction.atomic():
            stored = idempotency.find(key, timezone.now())
            if stored is not None:
                headers = {**stored.headers, "Idempotent-Replayed": "true"}
                return Response(stored.body, status=stored.status, headers=headers)
            # An exception rolls back the change and the lock on the key: nothing is stored.
            response = post(view, request, *args, **kwargs)
            idempotency.keep(key, answer_of(response))
            return response

    return wrapper


def key_of(request: Request, text: str) -> idempotency.Key:
    """Return the key of ``request``, under which its answer is stored.

    ``text`` is the value of the header ``Idempotency-Key``. The key identifies the caller (without
    a login, by network address), the text, and a hash of path and body.

    Raises:
        KeyInvalid: ``text`` is empty, too long or not printable ASCII.
    """
    if not (1 <= len(text) <= 255 and text.isascii() and text.isprintable()):
        raise KeyInvalid("Send an Idempotency-Key of 1 to 255 printable ASCII characters.")
    caller = getattr(request.user, "pk", None) or f"anonymous-{network.address(request)}"
    # Each caller has its own keys: two callers may choose the same text.
    scope = hashlib.sha256(str(caller).encode()).hexdigest()
    # The path too: one key for two resources is a mistake that must not pass silently.
    body = request.path + json.dumps(request.data, sort_keys=True)
    # A keyed hash: a body may hold a password, which could be guessed from a plain hash.
    request_hash = salted_hmac("waypost.idempotency", body, algorithm="sha256").hexdigest()
    return idempotency.Key(scope, text, request_hash)


def answer_of(response: Response) -> idempotency.Answer:
    """Return the part of ``response`` to store: status, JSON body, ``Location`` and ``ETag``.

    Null replaces a new token or secret: a person who gets hold of a key must not get the token.
    """
    # Rendered, so that dates and the like are stored as the client received them.
    # An answer without a body, such as 204, renders as nothing.
    body = json.loads(Renderer().render(response.data) or "null")
    if isinstance(body, dict):
        body |= dict.fromkeys(_SECRETS & body.keys())
    headers = {name: response[name] for name in _STORED_HEADERS if name in response}
    return idempotency.Answer(response.status_code, body, headers)
