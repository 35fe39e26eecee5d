"""Every kind of failure comes as problem+json with a stable code, and never with a traceback."""

import ast
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.api import error_codes
from controlplane.core import errors
from tenants import queries
from tenants.actions import messaging_users
from tenants.models import AddressSpace, Tenant
from tests.suites.api.conftest import Cast, problem
from tests.support.source_tree import ROOT


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "options"])
@pytest.mark.parametrize("path", ["/api/v1/", "/api/v1/nowhere", "/api/v1/tenants/a/b/c/d"])
def test_unknown_path_is_404_by_any_method(method: str, path: str) -> None:
    answer = getattr(Client(enforce_csrf_checks=True), method)(path)

    assert problem(answer, 404, "missing")["instance"] == path


@pytest.mark.parametrize("method", ["patch", "options", "delete"])
def test_method_that_is_not_offered_is_405_and_says_which_are(
    cast: Cast, owner: APIClient, method: str
) -> None:
    answer = getattr(owner, method)(cast.path("/address-spaces"))

    problem(answer, 405, "request.method_not_allowed")
    assert answer["Allow"] == "GET, POST, HEAD"


@pytest.mark.parametrize(
    "body", ["{", "nonsense", '{"a": NaN}', b"\xff\xfe", '{"a":' * 100_000, "9" * 10_000]
)
def test_body_that_is_not_json_is_400(cast: Cast, owner: APIClient, body: bytes | str) -> None:
    answer = owner.post(cast.path("/address-spaces"), body, content_type="application/json")

    problem(answer, 400, "request.malformed")


@pytest.mark.parametrize("body", ["[]", "null", '"text"', "1", "true"])
def test_json_that_is_not_an_object_is_422(cast: Cast, owner: APIClient, body: str) -> None:
    answer = owner.post(cast.path("/address-spaces"), body, content_type="application/json")

    problem(answer, 422, "request.invalid")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x"]
)
def test_other_media_types_are_415(cast: Cast, owner: APIClient, kind: str) -> None:
    answer = owner.post(cast.path("/address-spaces"), "{}", content_type=kind)

    problem(answer, 415, "request.media_type_unsupported")


def test_large_body_is_413_before_it_is_read(
    cast: Cast, owner: APIClient, settings: Settings
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    answer = owner.post(cast.path("/address-spaces"), " " * 101, content_type="application/json")

    problem(answer, 413, "request.too_large")


def test_accept_header_decides_nothing(cast: Cast, owner: APIClient) -> None:
    answer = owner.get(cast.path(), HTTP_ACCEPT="text/html")

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize("value", ["x\x00", "\ud800", "x" * 64, 5 * [1], {"a": 1}, None, True])
def test_illegal_name_is_422_and_names_the_field(
    cast: Cast, owner: APIClient, value: object
) -> None:
    body = {"name": value, "type": "brokered", "plan": "brokered-small"}

    answer = owner.post(
        cast.path("/address-spaces"), json.dumps(body), content_type="application/json"
    )

    assert answer.status_code == 422
    assert list(answer.json()["fields"]) == ["name"]


def test_nested_fields_are_named_by_their_path(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    grants = [{"addresses": ["a"], "operations": ["send", "fly"]}, {"addresses": []}]

    answer = owner.post(
        cast.path("/address-spaces/main/users"),
        {"name": "u", "password": "long-enough", "permissions": grants},
    )

    assert set(problem(answer, 422, "request.invalid")["fields"]) == {
        "permissions.0.operations.1",
        "permissions.1.addresses",
        "permissions.1.operations",
    }


@pytest.mark.parametrize("name", ["%00", "a%00b", "%ff", "%ed%a0%80", "..%2f..", "a" * 5000, "☃"])
def test_odd_names_in_a_path_are_404(
    cast: Cast, owner: APIClient, space: AddressSpace, name: str
) -> None:
    for path in (
        "/address-spaces/{}",
        "/address-spaces/main/addresses/{}",
        "/address-spaces/main/users/{}",
        "/members/{}",
        "/operations/{}",
        "/invoices/{}",
    ):
        answer = owner.get(cast.path(path.format(name)))

        assert answer.status_code == 404, (path, answer.content)
        assert answer["Content-Type"] == "application/problem+json"


def test_unexpected_error_is_one_neutral_sentence_with_an_incident(
    cast: Cast,
    owner: APIClient,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(queries, "list_spaces", lambda tenant: 1 / 0)

    answer = owner.get(cast.path("/address-spaces"))

    body = problem(answer, 500, "internal")
    incident = body["incident"]
    assert incident.startswith("inc_")
    assert incident in body["detail"]
    assert "ZeroDivision" not in answer.content.decode()
    logged = capsys.readouterr().out
    assert incident in logged
    assert "ZeroDivisionError" in logged


def test_log_of_an_unexpected_error_holds_no_secret(
    cast: Cast,
    owner: APIClient,
    space: AddressSpace,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(messaging_users, "create", lambda **wish: 1 / 0)

    owner.post(
        cast.path("/address-spaces/main/users"),
        {"name": "u", "password": "do-not-log-me", "permissions": []},
    )

    logged = "".join(capfd.readouterr())
    assert "ZeroDivisionError" in logged
    assert "do-not-log-me" not in logged
    assert "wps_" not in logged


def test_database_that_is_away_is_503(
    cast: Cast, owner: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(tenant: Tenant) -> None:
        raise OperationalError("connection refused: secret host")

    monkeypatch.setattr(queries, "list_spaces", fail)

    answer = owner.get(cast.path("/address-spaces"))

    body = problem(answer, 503, "database.unavailable")
    assert answer["Retry-After"] == "5"
    assert "secret host" not in body["detail"]


def test_unavailable_says_when_to_try_again(
    cast: Cast, owner: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(tenant: Tenant) -> None:
        raise errors.Unavailable("The broker is away.", retry_after_seconds=7)

    monkeypatch.setattr(queries, "list_spaces", fail)

    answer = owner.get(cast.path("/address-spaces"))

    problem(answer, 503, "unavailable")
    assert answer["Retry-After"] == "7"


def test_quota_tells_resource_limit_used_and_asked(
    cast: Cast, owner: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    make_spaces(cast.tenant, 200)

    answer = owner.post(
        cast.path("/address-spaces"), {"name": "x", "type": "brokered", "plan": "brokered-small"}
    )

    fields = problem(answer, 403, "quota_exceeded")
    assert {"resource", "limit", "used", "asked", "raised_by"} < set(fields)
    assert fields["fields"] == {}
    assert (fields["resource"], fields["used"], fields["asked"]) == ("spaces", 200, 1)


def test_every_code_raised_below_the_api_is_listed_with_its_status() -> None:
    listed = {entry.code: entry.status for entry in error_codes.CODES}

    missing = {
        (code, status)
        for code, status in _raised()
        if listed.get(code) is None or (status is not None and listed[code] != status)
    }

    assert missing == set()


def test_codes_are_listed_once_and_in_order() -> None:
    codes = [entry.code for entry in error_codes.CODES]

    assert codes == sorted(set(codes))


def test_list_of_codes_is_served(client: Client) -> None:
    items = client.get("/api/v1/problems").json()["items"]

    assert {"code": "missing", "status": 404, "title": "Not found"} in items


_KINDS = {
    kind.__name__: kind.status
    for kind in (
        errors.Invalid,
        errors.Denied,
        errors.Missing,
        errors.Conflict,
        errors.QuotaExceeded,
        errors.Unavailable,
    )
}


def _raised() -> Iterator[tuple[str, int | None]]:
    """Yield (code, status) of every error in the layers that the API calls."""
    files = [
        path
        for folder in ("controlplane/api", "controlplane/core", "tenants", "plans")
        for path in (ROOT / folder).rglob("*.py")
        if "migrations" not in path.parts
    ]
    for path in files:
        tree = ast.parse(path.read_text())
        names = dict(_constants(tree.body))
        for node in ast.walk(tree):
            yield from _of_class(node)
            yield from _of_call(node, names)


def _constants(statements: list[ast.stmt]) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of assignments of plain values."""
    for statement in statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            for target in statement.targets:
                yield getattr(target, "id", ""), statement.value.value


def _of_class(node: ast.AST) -> Iterator[tuple[str, int | None]]:
    if not isinstance(node, ast.ClassDef):
        return
    values = dict(_constants(node.body))
    kinds = [kind for base in node.bases if (kind := _KINDS.get(getattr(base, "id", "")))]
    if kinds and "code" in values:
        yield values["code"], values.get("status", kinds[0])


def _of_call(node: ast.AST, names: dict[str, Any]) -> Iterator[tuple[str, int | None]]:
    if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") in _KINDS):
        return
    for keyword in node.keywords:
        if keyword.arg == "code" and (code := _text(keyword.value, names)):
            yield code, _KINDS[getattr(node.func, "id", "")]


def _text(value: ast.expr, names: dict[str, Any]) -> str:
    """Return a code written as text or as an f-string of constants; empty for any other."""
    if isinstance(value, ast.Constant):
        return str(value.value)
    parts: list[Any] = [
        part.value if isinstance(part, ast.Constant) else names.get(getattr(part.value, "id", ""))
        for part in getattr(value, "values", [None])
        if part is not None
    ]
    return "".join(parts) if parts and None not in parts else ""
