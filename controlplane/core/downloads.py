"""Answers requests with files that are made for them, in the API and in the portal."""

import weakref
from typing import IO

from django.http import FileResponse, HttpResponse


def attached(file: IO[bytes], name: str, media_type: str) -> FileResponse:
    """Return a response that browsers save as ``name`` and that caches must not store.

    ``file`` is sent from its present position. It is closed at the end, also if nobody reads the
    response.
    """
    answer = FileResponse(
        file,
        as_attachment=True,
        filename=name,
        content_type=media_type,
        headers={"Cache-Control": "no-store"},
    )
    # A server closes only the response that it sends, not one that was replaced.
    weakref.finalize(answer, file.close)
    return answer


def attachment(content: str | bytes, media_type: str, filename: str) -> HttpResponse:
    """Return a response that browsers save as ``filename`` and that caches must not store.

    Not stored, because the content belongs to one tenant.
    """
    return HttpResponse(
        content,
        content_type=media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{filename}"',
            "Cache-Control": "no-store",
        },
    )
