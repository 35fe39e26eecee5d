"""Chooses the parser and the renderer of a request: JSON, whatever ``Accept`` says."""

from collections.abc import Iterable

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class JsonOnly(BaseContentNegotiation):
    """DRF's content negotiation, which ignores ``Accept``: each resource has one representation."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """Return the parser for the request's Content-Type; None, which DRF answers with 415."""
        # Without parameters such as the character set: JSON is always UTF-8.
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return the first of ``renderers``, which is JSON in this API, and its media type."""
        first = next(iter(renderers))
        return first, str(first.media_type)
