"""/tenants/{tenant}/address-spaces/{space}/events: the changes of a space as they happen."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from controlplane.api import schema
from controlplane.api.views import TenantView
from controlplane.core import event_streams
from controlplane.core.event_streams import EventStreamResponse
from tenants import queries
from tenants.permissions import Permission


class SpaceEventsView(TenantView):
    """Opens a stream of server-sent events about the changes of one space (GET)."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("Watch a space", response={(200, "text/event-stream"): OpenApiTypes.ANY})
    def get(self, request: Request, tenant: str, space: str) -> HttpResponse:
        """Stream the changes of the space as server-sent events.

        Read the space when the stream is open, and again at each event. Events: `open` once;
        `space` with phase and generations; `addresses`, `users` and `operations` when one of them
        has changed; `missed` after changes may have been lost; `end` when you may no longer read
        the space. Connect again when the stream ends, which it does after an hour at the latest.
        Too many open streams are refused (429).
        """
        row = queries.get_space(self.tenant, space)
        # Before the response begins: an open stream has no status any more. The web server sends
        # this request again while the stream is open, with a mark that ``require_free`` knows. So a
        # caller who loses the permission loses the stream.
        event_streams.require_free(request, self.tenant.pk)
        return EventStreamResponse(self.tenant.pk, row.pk)
