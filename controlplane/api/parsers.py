"""Reads the body of a request: JSON, of bounded size and depth."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import parsers
from rest_framework.exceptions import ParseError

from controlplane.core.errors import Invalid


class BodyTooLarge(Invalid):
    """The body of a request is larger than ``DATA_UPLOAD_MAX_MEMORY_SIZE`` bytes."""

    status = 413
    code = "request.too_large"


class BoundedJSONParser(parsers.JSONParser):
    """DRF's JSON parser, with bounds on the size and the depth of a body."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the JSON body in ``stream`` as Python values.

        The size is that of Content-Length; it is not checked if ``parser_context`` has no request.

        Raises:
            BodyTooLarge: the body is over ``DATA_UPLOAD_MAX_MEMORY_SIZE`` bytes.
            ParseError: the body is not JSON, or is nested too deeply.
        """
        context = dict(parser_context or {})
        request = context.get("request")
        length = int(request.META.get("CONTENT_LENGTH") or 0) if request is not None else 0
        # Django checks this limit in ``request.body``, but DRF reads the stream directly.
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if length > limit:
            raise BodyTooLarge(f"The body has {length} bytes; send at most {limit}.")
        try:
            return super().parse(stream, media_type, context)
        # The decoder calls itself once for each level, so a small body can exhaust the stack.
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
