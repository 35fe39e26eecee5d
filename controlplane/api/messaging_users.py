"""/tenants/{tenant}/address-spaces/{space}/users: messaging users, as which clients log in."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import (
    ChoiceOf,
    OperationSerializer,
    ReconciledSerializer,
    StrictSerializer,
    for_caller,
)
from controlplane.api.views import TenantView, accepted
from controlplane.core.phases import Phase
from tenants import queries
from tenants.actions import messaging_users
from tenants.models import AddressSpace, MessagingUser
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={"name": ("name",), "created_at": ("created_at", "id"), "phase": ("phase", "name")},
    default="name",
    filters=(
        listing.choice("phase", "Users in this phase.", Phase.values),
        listing.search("Part of the name.", "name"),
    ),
)


class GrantSerializer(StrictSerializer):
    """Operations that a user may perform on addresses, which are names or patterns.

    In a pattern `*` is one level of a name, and `#` any number of levels at its end. In brokered
    spaces a client may also subscribe to a filter of topics, written in the same way, if a single
    pattern of its user with `recv` covers the filter.
    """

    addresses = serializers.ListField(
        child=serializers.CharField(max_length=255), min_length=1, max_length=100
    )
    operations = serializers.ListField(child=ChoiceOf(["send", "recv"]), min_length=1, max_length=2)


class MessagingUserCreateSerializer(StrictSerializer):
    """A messaging user to create. Only verifiers of the password are stored."""

    name = serializers.CharField(max_length=63)
    # Not trimmed, because a password may begin or end with a space.
    password = serializers.CharField(max_length=200, trim_whitespace=False, write_only=True)
    permissions = GrantSerializer(many=True, max_length=100)  # type: ignore[call-arg]  # of the list


class MessagingUserChangeSerializer(StrictSerializer):
    """All permissions of a messaging user, and a new password.

    A null or absent password keeps the present one.
    """

    password = serializers.CharField(
        max_length=200,
        trim_whitespace=False,
        required=False,
        allow_null=True,
        default=None,
        write_only=True,
    )
    permissions = GrantSerializer(many=True, max_length=100)  # type: ignore[call-arg]  # of the list


class UserReadingSerializer(serializers.Serializer[queries.UserReading]):
    """What the listed open connections of one messaging user add up to.

    Rates are messages per second between the last two readings; null if none is known.
    """

    connections = serializers.IntegerField()
    links = serializers.IntegerField(help_text="Open senders and receivers.")
    sent_per_second = serializers.FloatField(allow_null=True)
    received_per_second = serializers.FloatField(allow_null=True)


class MessagingUserSerializer(ReconciledSerializer):
    """A messaging user, as which clients log in to the space; the password is never shown."""

    id = serializers.CharField()
    name = serializers.CharField()
    permissions = GrantSerializer(many=True)
    live = UserReadingSerializer(help_text="What its open connections add up to, as last read.")


class MessagingUsersView(TenantView):
    """Lists the messaging users of a space (GET) and creates one (POST)."""

    needs = {"GET": Permission.VIEW, "POST": Permission.MANAGE_MESSAGING_USERS}

    @schema.describe(
        "List messaging users",
        response=schema.page_of(MessagingUserSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str, space: str) -> Response:
        """Return a page of the space's messaging users, also of those being revoked."""
        space_row = queries.get_space(self.tenant, space)
        page = _LISTING.page(request, queries.list_users(space_row))
        _attach(space_row, page.rows)
        return Response(pagination.body(page, MessagingUserSerializer, for_caller(request)))

    @schema.describe(
        "Create a messaging user",
        request=MessagingUserCreateSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, space: str) -> Response:
        """Begin to create the user. The operation succeeds when clients can log in as this user.

        They can then log in at every broker and router of the space.
        """
        space_row = queries.get_space(self.tenant, space)
        serializer = MessagingUserCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = plain_values(serializer)
        _, operation = messaging_users.create(space=space_row, by=self.actor, **values)
        return accepted(operation, self.tenant)


class MessagingUserView(TenantView):
    """Shows one messaging user of a space (GET), changes it (PUT), and revokes it (DELETE)."""

    needs = {
        "GET": Permission.VIEW,
        "PUT": Permission.MANAGE_MESSAGING_USERS,
        "DELETE": Permission.MANAGE_MESSAGING_USERS,
    }
    ends_access = frozenset({"DELETE"})

    @schema.describe("Get a messaging user", response=MessagingUserSerializer)
    def get(self, request: Request, tenant: str, space: str, user: str) -> Response:
        """Return the messaging user of this name. The ETag identifies its desired state."""
        row = queries.get_user(queries.get_space(self.tenant, space), user)
        headers = etags.headers(row)
        _attach(row.space, [row])
        return Response(
            MessagingUserSerializer(row, context=for_caller(self.request)).data, headers=headers
        )

    @schema.describe(
        "Change a messaging user",
        request=MessagingUserChangeSerializer,
        response=OperationSerializer,
        status=202,
        parameters=[schema.MUST_MATCH],
    )
    def put(self, request: Request, tenant: str, space: str, user: str) -> Response:
        """Begin to replace all permissions of the user, and the password if one is given."""
        row = queries.get_user(queries.get_space(self.tenant, space), user)
        serializer = MessagingUserChangeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        with etags.guarded(request, row) as current:
            values = plain_values(serializer)
            _, operation = messaging_users.update(user=current, by=self.actor, **values)
        return accepted(operation, self.tenant)

    @schema.describe(
        "Revoke a messaging user",
        response=OperationSerializer,
        status=202,
        parameters=[schema.IF_MATCH],
    )
    def delete(self, request: Request, tenant: str, space: str, user: str) -> Response:
        """Begin to revoke the user: its logins are refused, and its connections are closed."""
        row = queries.get_user(queries.get_space(self.tenant, space), user)
        with etags.guarded(request, row) as current:
            operation = messaging_users.revoke(user=current, by=self.actor)
        return accepted(operation, self.tenant)


def plain_values(serializer: serializers.BaseSerializer[Any]) -> dict[str, Any]:
    """Return the values of a validated ``serializer`` that has the field ``permissions``.

    The permissions become plain dictionaries, which a JSON column can store.
    """
    values = dict(serializer.validated_data)
    return {**values, "permissions": [dict(grant) for grant in values["permissions"]]}


def _attach(space: AddressSpace, users: Sequence[MessagingUser]) -> None:
    """Set ``live`` of each user, which the serializer reads, by one query."""
    readings = queries.users_readings(space, [user.name for user in users])
    for user in users:
        user.live = readings.get(user.name, queries.UserReading())  # type: ignore[attr-defined]
