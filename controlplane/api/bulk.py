"""/tenants/{tenant}/address-spaces/{space}/bulk: many changes of one space in one request.

Each item is checked and begun by itself, in the order of the request. Only a deletion of an address
goes before the deletions of addresses that its settings name. An item that is refused does not stop
the others. The answer has one result for each item, in the order of the request.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.db import transaction
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import schema
from controlplane.api.addresses import AddressCreateSerializer, create_address
from controlplane.api.idempotency import idempotent
from controlplane.api.problem import Problem
from controlplane.api.serializers import OperationSerializer, StrictSerializer
from controlplane.api.views import TenantView
from controlplane.core import address_order
from controlplane.core.errors import WaypostError
from controlplane.core.models import Operation
from tenants import queries
from tenants.actions import addresses, messaging_users
from tenants.permissions import Permission

MOST_CREATED = 100  # addresses in one request
MOST_DELETED = 500  # addresses, or messaging users to revoke, in one request


class BulkAddressesSerializer(StrictSerializer):
    """Addresses to create, in this order: a topic stands before its subscriptions."""

    items = serializers.ListField(  # each is checked by itself, so that one does not stop the rest
        child=serializers.DictField(), min_length=1, max_length=MOST_CREATED
    )


class BulkNamesSerializer(StrictSerializer):
    """Names of addresses to delete, or of messaging users to revoke."""

    names = serializers.ListField(
        child=serializers.CharField(max_length=255, trim_whitespace=False),
        min_length=1,
        max_length=MOST_DELETED,
    )


class BulkResultSerializer(serializers.Serializer[Any]):
    """What became of one item: an operation if it was accepted (202), else a problem."""

    name = serializers.CharField(allow_blank=True)
    status = serializers.IntegerField(help_text="As the answer to a single request would have.")
    operation = OperationSerializer(allow_null=True)
    problem = serializers.DictField(allow_null=True, help_text="As in the body of an error.")


class BulkAnswerSerializer(serializers.Serializer[Any]):
    """The results of all items, in the order of the request; `next` is always null."""

    items = BulkResultSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    n_accepted = serializers.IntegerField()
    n_refused = serializers.IntegerField()


class BulkView(TenantView):
    """The base class of views that change many objects of one space."""

    def results(
        self,
        request: Request,
        items: list[tuple[str, Callable[[], Operation]]],
        rank: Callable[[str], int] = lambda _: 0,
    ) -> Response:
        """Begin each of ``items``, pairs of a name and a function; return their results.

        Those whose name has a lower ``rank`` begin first; the results are in the order of
        ``items``. An item that raises a ``WaypostError`` is refused, and nothing of it remains.
        """
        # ``sorted`` is stable: items of one rank begin in the order of the request.
        by_place = {
            place: self._result(request, *items[place])
            for place in sorted(range(len(items)), key=lambda place: rank(items[place][0]))
        }
        found = [by_place[place] for place in range(len(items))]
        n_accepted = sum(result["operation"] is not None for result in found)
        body = {
            "items": found,
            "next": None,
            "n_accepted": n_accepted,
            "n_refused": len(found) - n_accepted,
        }
        return Response(body)

    def _result(
        self, request: Request, name: str, begin: Callable[[], Operation]
    ) -> dict[str, Any]:
        try:
            # With an Idempotency-Key this is a savepoint in the transaction of the request, else a
            # transaction of its own. Either way a refused item leaves nothing behind.
            with transaction.atomic():
                operation = OperationSerializer(begin()).data
        # Any other error, such as a lost database, ends the whole request.
        except (WaypostError, serializers.ValidationError) as error:
            problem = Problem.of(error)
            body = problem.body(request.path)
            return {"name": name, "status": problem.status, "operation": None, "problem": body}
        return {"name": name, "status": 202, "operation": operation, "problem": None}


class CreateAddressesView(BulkView):
    """Begins to create many addresses (POST)."""

    needs = {"POST": Permission.MANAGE_ADDRESSES}

    @schema.describe(
        "Create many addresses",
        request=BulkAddressesSerializer,
        response=BulkAnswerSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to create up to 100 addresses, each as `POST …/addresses` would.

        The answer is 200 also if items were refused: look at `n_refused`.
        """
        row = queries.get_space(self.tenant, space)
        serializer = BulkAddressesSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)

        def begin(item: dict[str, Any]) -> Operation:
            checked = AddressCreateSerializer(data=item)
            checked.is_valid(raise_exception=True)
            values = checked.validated_data
            return create_address(row, values["address"], values, self.actor)

        # A lambda in the loop below would see the last item only.
        def begin_later(item: dict[str, Any]) -> Callable[[], Operation]:
            return lambda: begin(item)

        items = serializer.validated_data["items"]
        # No item is checked yet, and the result of a wrong one has a name too.
        named = [(str(item.get("address", ""))[:255], begin_later(item)) for item in items]
        return self.results(request, named)


class DeleteAddressesView(BulkView):
    """Begins to delete many addresses (POST)."""

    needs = {"POST": Permission.MANAGE_ADDRESSES}

    @schema.describe(
        "Delete many addresses",
        request=BulkNamesSerializer,
        response=BulkAnswerSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to delete up to 500 addresses with their stored messages.

        An address is deleted before those that its settings name, whatever the order of the names.
        """
        row, names = queries.get_space(self.tenant, space), names_of(request)
        chosen = queries.list_addresses(row).filter(address__in=names)
        level = address_order.levels({one.address: asdict(one.settings) for one in chosen})

        def begin(name: str) -> Callable[[], Operation]:
            return lambda: addresses.delete(address=queries.get_address(row, name), by=self.actor)

        items = [(name, begin(name)) for name in names]
        # The setting of an address of a higher level names one of a lower. A name that does not
        # exist has no level: it is refused whenever its turn comes.
        return self.results(request, items, rank=lambda name: -level.get(name, 0))


class RevokeUsersView(BulkView):
    """Begins to revoke many messaging users (POST)."""

    needs = {"POST": Permission.MANAGE_MESSAGING_USERS}
    ends_access = frozenset({"POST"})

    @schema.describe(
        "Revoke many messaging users",
        request=BulkNamesSerializer,
        response=BulkAnswerSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to revoke up to 500 messaging users and to close their connections."""
        row = queries.get_space(self.tenant, space)

        def begin(name: str) -> Callable[[], Operation]:
            return lambda: messaging_users.revoke(user=queries.get_user(row, name), by=self.actor)

        return self.results(request, [(name, begin(name)) for name in names_of(request)])


def names_of(request: Request) -> list[str]:
    """Return the names in the body of the request.

    Raises:
        ValidationError: the body is not as ``BulkNamesSerializer`` says.
    """
    serializer = BulkNamesSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    found: list[str] = serializer.validated_data["names"]
    return found
