"""A token reads the operations that it started, also without the permission ``view``."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from rest_framework.test import APIClient

from controlplane.core.models import Operation
from tenants.models import Address, AddressSpace, ApiToken
from tenants.permissions import OF_MESSAGES
from tests.suites.api.conftest import GRANT, Cast, bearer, problem

_BODIES: Mapping[str, Mapping[str, Any]] = {
    "browse": {},
    "send": {"body": "x"},
    "purge": {},
    "delete": {"messages": ["broker-0:1"]},
    "move": {"messages": None, "to": "old"},
    "resend": {"messages": None},
}


@pytest.fixture
def spaces(cast: Cast, queue: Address, make_spaces: Callable[..., list[AddressSpace]]) -> Cast:
    """The tenant has the space ``main`` with the queues ``orders/new`` and ``old``, and another."""
    make_spaces(cast.tenant, 1)
    body = {"type": "queue", "plan": "brokered-small-queue"}
    path = cast.path("/address-spaces/main/addresses/old")
    assert cast.call("owner").put(path, body, headers={"If-None-Match": "*"}).status_code == 202
    return cast


def token(cast: Cast, *, name: str = "ci", **scope: Any) -> APIClient:
    body = {"name": name, "role": "developer", **scope}
    return bearer(cast.call("owner").post(cast.path("/tokens"), body).json()["token"])


def resent(cast: Cast, caller: APIClient) -> str:
    """Begin to resend as ``caller``; return where to poll the operation."""
    path = cast.path("/address-spaces/main/messages/resend")
    answer = caller.post(path, {"address": "orders/new", "messages": None})
    assert answer.status_code == 202, answer.content
    return str(answer["Location"])


@pytest.mark.parametrize("spaces_of_token", [[], ["main"]])
@pytest.mark.parametrize("kind", _BODIES)
def test_a_token_of_one_permission_polls_what_it_started(
    spaces: Cast, kind: str, spaces_of_token: list[str]
) -> None:
    own = token(spaces, permissions=[str(OF_MESSAGES[kind])], spaces=spaces_of_token)
    path = spaces.path(f"/address-spaces/main/messages/{kind}")
    started = own.post(path, {"address": "orders/new", **_BODIES[kind]})

    polled = own.get(started["Location"])

    assert (started.status_code, polled.status_code) == (202, 200)
    assert polled.json()["id"] == started.json()["id"]


def test_a_token_that_only_manages_polls_what_it_started(spaces: Cast) -> None:
    own = token(spaces, permissions=["manage_messaging"])
    main, new = spaces.path("/address-spaces/main"), {"If-None-Match": "*"}
    queue = {"type": "queue", "plan": "brokered-small-queue"}
    space = {"name": "next", "type": "brokered", "plan": "brokered-small"}
    started = [
        own.post(spaces.path("/address-spaces"), space),
        own.put(f"{main}/addresses/a", queue, headers=new),
        own.delete(f"{main}/addresses/a"),
        own.post(
            f"{main}/users", {"name": "u", "permissions": GRANT, "password": "p7-Kd92-mQx1-Lz04"}
        ),
        own.delete(f"{main}/users/u"),
        own.delete(main),
    ]

    assert [answer.status_code for answer in started] == [202] * len(started)
    assert [own.get(answer["Location"]).status_code for answer in started] == [200] * len(started)


def test_nobody_else_gains_anything(spaces: Cast) -> None:
    own, other = (token(spaces, name=name, permissions=["resend_messages"]) for name in "ab")
    # Two tokens may look the same in a list.
    ApiToken.objects.update(prefix="wpt_same1")
    location = resent(spaces, own)
    viewer = token(spaces, name="viewer", permissions=["view"])
    elsewhere = token(spaces, name="elsewhere", spaces=["s00000"])
    foreign = spaces.call("outsider").post(
        f"/api/v1/tenants/{spaces.other.slug}/tokens", {"name": "ci", "role": "owner"}
    )

    assert viewer.get(location).status_code == 200
    problem(other.get(location), 403, "api_token.out_of_scope")
    problem(elsewhere.get(location), 404, "operation.missing")
    problem(bearer(foreign.json()["token"]).get(location), 404, "missing")
    problem(spaces.call("outsider").get(location), 404, "missing")
    problem(own.get(spaces.path("/operations")), 403, "api_token.out_of_scope")
    problem(own.get(spaces.path("/operations/op_none")), 403, "api_token.out_of_scope")
    problem(own.get(spaces.path("/address-spaces/main")), 403, "api_token.out_of_scope")
    problem(own.get(spaces.path("/address-spaces/main/events")), 403, "api_token.out_of_scope")


def test_an_operation_of_a_person_belongs_to_no_token(spaces: Cast) -> None:
    location = resent(spaces, spaces.call("developer"))

    problem(
        token(spaces, permissions=["resend_messages"]).get(location), 403, "api_token.out_of_scope"
    )


def test_a_token_loses_its_operation_with_its_scope_and_its_end(spaces: Cast) -> None:
    own = token(spaces, permissions=["resend_messages"])
    location = resent(spaces, own)
    rows = ApiToken.objects.filter(pk=Operation.objects.get(kind="messages.resend").token_id)

    rows.update(spaces=["s00000"])
    problem(own.get(location), 403, "api_token.out_of_scope")
    rows.update(spaces=["main"])
    assert own.get(location).status_code == 200
    spaces.call("owner").delete(spaces.path(f"/tokens/{rows.get().pk}"))

    problem(own.get(location), 401, "credentials.invalid")


def test_a_refusal_names_the_missing_permission(spaces: Cast) -> None:
    path = spaces.path("/address-spaces/main/messages/purge")
    limited = token(spaces, permissions=["resend_messages", "view"])

    by_scope = problem(limited.post(path, {"address": "orders/new"}), 403, "api_token.out_of_scope")
    by_role = problem(spaces.call("viewer").post(path, {"address": "orders/new"}), 403, "denied")

    assert by_scope["detail"] == (
        "This token lacks the permission purge_messages. It is limited to: resend_messages, view. "
        "Create another one for this."
    )
    assert "it lacks the permission purge_messages" in by_role["detail"]
