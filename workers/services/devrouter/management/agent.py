"""Carry out the management requests that arrive at ``$management``, and answer them.

The agent copies quirks of Dispatch that a driver must handle on the real router:

* answers are settled;
* an UPDATE of ``router.config.*`` is never answered;
* CREATE takes the name of an entity from the properties, not from the body;
* a QUERY for an unknown column is refused;
* numbers have the AMQP types of Dispatch (``columns``).

Clients have no permission for this address, because the auth service never grants it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog
from proton import Message, MessageException

from workers.services.devrouter import forwarding
from workers.services.devrouter.forwarding import Inbound
from workers.services.devrouter.management import columns, rows
from workers.services.devrouter.management.entities import Entities, Rejected

if TYPE_CHECKING:
    from workers.services.devrouter.links import Producer
    from workers.services.devrouter.router import Router

logger = structlog.get_logger(__name__)

PREFIX = "org.apache.qpid.dispatch."


@dataclass(frozen=True)
class Answer:
    """One answer of management: the status code (as in HTTP), its text, and the body."""

    status: int
    description: str = "OK"
    body: Any = field(default_factory=dict)

    def message(self, request: Message) -> Message:
        """Return this answer as an AMQP message to the reply address of ``request``."""
        # AMQP management (OASIS draft): the correlation id of the request, or else its message id.
        correlation = request.correlation_id if request.correlation_id is not None else request.id
        return Message(
            address=request.reply_to,
            correlation_id=correlation,
            properties={"statusCode": self.status, "statusDescription": self.description},
            body=self.body,
        )


class Agent:
    """The ``Sink`` of messages to ``$management``: carries out each request and answers it."""

    has_path = True

    def __init__(self, router: "Router", entities: Entities) -> None:
        self._router = router
        self._entities = entities
        self._operations: dict[str, Callable[[Mapping[str, Any], Any], Answer | None]] = {
            "QUERY": self._query,
            "CREATE": self._create,
            "READ": self._read,
            "UPDATE": self._update,
            "DELETE": self._delete,
        }

    def accept(self, inbound: Inbound) -> None:
        request = Message()
        try:
            request.decode(inbound.payload)
        except MessageException:
            inbound.conclude(forwarding.RELEASED)
            return
        inbound.conclude(forwarding.ACCEPTED)
        answer = self._answer(request)
        if answer is not None and request.reply_to:
            self._router.send_to(request.reply_to, answer.message(request))

    def leave(self, producer: "Producer") -> None:
        """Do nothing: no state is kept for a producer."""

    def _answer(self, request: Message) -> Answer | None:
        properties: Mapping[str, Any] = request.properties or {}
        operation = self._operations.get(str(properties.get("operation")))
        if operation is None:
            return Answer(501, f"Not Implemented: {properties.get('operation')}")
        try:
            return operation(properties, request.body)
        except Rejected as error:
            return Answer(error.status, str(error))

    def _query(self, properties: Mapping[str, Any], body: Any) -> Answer:
        kind = _kind(properties.get("entityType"))
        found = self._rows(kind)
        wanted = (body or {}).get("attributeNames") if isinstance(body, Mapping) else None
        known = list(found[0]) if found else []
        unknown = sorted(set(wanted or ()) - columns.known(kind))
        if unknown:
            raise Rejected(400, f"Unknown attributes {unknown} for type {PREFIX}{kind}.")
        names = [name for name in wanted if name in known] if wanted and found else known
        begin, count = int(properties.get("offset", 0)), properties.get("count")
        end = begin + int(count) if count is not None else None
        results = [[row[name] for name in names] for row in found[begin:end]]
        return Answer(200, body={"attributeNames": names or list(wanted or []), "results": results})

    def _create(self, properties: Mapping[str, Any], body: Any) -> Answer:
        kind = _kind(properties.get("type"))
        attributes = dict(body) if isinstance(body, Mapping) else {}
        name = properties.get("name")
        made = self._entities.create(kind, str(name) if name else "", attributes)
        return Answer(201, "Created", self._row(kind, "name", made))

    def _read(self, properties: Mapping[str, Any], _: Any) -> Answer:
        return Answer(200, body=self._find(properties))

    def _update(self, properties: Mapping[str, Any], body: Any) -> Answer | None:
        kind = _kind(properties.get("type"))
        if kind.startswith("router.config."):
            return None  # as in Dispatch: no answer at all
        if kind != "connection":
            raise Rejected(501, "Not Implemented")
        row = self._find(properties)
        if not isinstance(body, Mapping) or body.get("adminStatus") != "deleted":
            raise Rejected(400, "Bad Request: only adminStatus may be updated, to 'deleted'")
        # As in Dispatch, the connection is aborted without an AMQP close.
        self._router.connections[str(row["identity"])].wire.abort()
        return Answer(200, body={**row, "adminStatus": "deleted"})

    def _delete(self, properties: Mapping[str, Any], _: Any) -> Answer:
        row = self._find(properties)
        self._entities.delete(_kind(properties.get("type")), str(row["name"]))
        return Answer(204, "No Content")

    def _find(self, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        kind = _kind(properties.get("type"))
        for key in ("identity", "name"):
            if properties.get(key) is not None:
                return self._row(kind, key, str(properties[key]))
        raise Rejected(400, "Bad Request: no name or identity")

    def _row(self, kind: str, key: str, value: str) -> Mapping[str, Any]:
        for row in self._rows(kind):
            if str(row.get(key)) == value:
                return row
        raise Rejected(404, "Not Found")

    def _rows(self, kind: str) -> list[dict[str, Any]]:
        build = rows.BUILDERS.get(kind)
        if build is None:
            raise Rejected(400, f"Bad Request: no such entity type {kind}")
        return [
            columns.typed({**row, "type": PREFIX + kind})
            for row in build(rows.Rows(self._router, self._entities))
        ]


def _kind(name: Any) -> str:
    return str(name or "").removeprefix(PREFIX)
